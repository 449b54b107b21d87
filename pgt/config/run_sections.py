"""The tables of a run file that no class of the library describes: [observations], [domain], [output]."""

import datetime
import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from pgt.config.schema import (
    Array,
    AsFound,
    Axes,
    Bounds,
    Files,
    Names,
    NotNegative,
    Number,
    Numbers,
    Section,
    Text,
    did_you_mean,
    wrong,
)
from pgt.core.dialect import Dates, Mark, Separator
from pgt.core.notation import AXES, CARTESIAN

LARGEST_GRID = 10**8  # points

Noise = Annotated[
    Annotated[NotNegative, Tag("<number|column>")] | Annotated[AsFound, Tag("<text>")],
    Discriminator(lambda value: "<text>" if isinstance(value, str) else "<number|column>"),
]


File = Annotated[
    Annotated[AsFound, Tag("<text|array>")] | Annotated[Files, Tag("<array>")],
    Discriminator(lambda value: "<array>" if isinstance(value, list) else "<text|array>"),
]


class DialectSection(Section):
    """How a table of readings is written, where that does not show."""

    separator: Separator | None = None
    decimal: Mark | None = None
    dates: Dates | None = None
    missing: Annotated[tuple[Number, ...], Array] | None = None
    sheet: AsFound | None = None
    valid: AsFound | None = None


class ObservationsSection(Section):
    """Which files hold the readings, and which of their columns are what."""

    file: Annotated[File, Field(examples=['file = "sensors.csv"'])]
    coords: Annotated[Axes, Field(min_length=1, examples=['coords = ["x", "t"]'])]
    fields: Annotated[Names, Field(examples=['fields = ["u"]'])]
    columns: dict[str, AsFound] | None = None
    units: dict[str, AsFound] | None = None
    noise: dict[str, Noise] | None = None
    duplicates: Literal["error", "mean"] = "error"
    sensors: AsFound | None = None
    dialect: DialectSection | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files of readings."""
        return (self.file,) if isinstance(self.file, str) else self.file

    @model_validator(mode="after")
    def _check_names(self):
        for index, name in enumerate(self.fields):
            if name in CARTESIAN or name in self.coords:
                wrong(f"'{name}' is the name of a coordinate; rename the field.", "fields", index)
        for key in ("columns", "units", "noise"):
            known = self.fields if key == "noise" else self.coords + self.fields
            for name in getattr(self, key) or ():
                if name not in known:
                    kind = "a field" if key == "noise" else "a coordinate or field"
                    wrong(f"'{name}' is not {kind}{did_you_mean(name, known)}", key, name)
        headings = {name: name for name in self.coords + self.fields} | (self.columns or {})
        for name in self.columns or ():
            if list(headings.values()).count(headings[name]) > 1:
                wrong(f"the column '{headings[name]}' is taken twice.", "columns", name)
        return self


def _is_date(value: Any) -> bool:
    """Whether it is a date, of TOML or as text."""
    is_text = isinstance(value, str) and _ISO.match(value) is not None
    return is_text or isinstance(value, datetime.date)


def _as_text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _check_moment(text: str) -> str:
    try:
        datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        wrong(f'"{text[:40]}" is no date; write it as "2024-03-01" or "2024-03-01T12:00".')
    return text.strip()


_ISO = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
Moment = Annotated[Text, BeforeValidator(_as_text), AfterValidator(_check_moment)]
Moments = Annotated[tuple[Moment, ...], Array, Field(min_length=2, max_length=2)]
TimeBounds = Annotated[
    Annotated[Bounds, Tag("<array|dates>")] | Annotated[Moments, Tag("<dates>")],
    Discriminator(
        lambda pair: (
            "<dates>" if isinstance(pair, list) and any(map(_is_date, pair)) else "<array|dates>"
        )
    ),
]


class DomainSection(Section):
    """The box in space and time in which the field is sought, and the shape in it."""

    r: Bounds | None = None
    θ: Bounds | None = None
    x: Bounds | None = None
    y: Bounds | None = None
    z: Bounds | None = None
    t: TimeBounds | None = None
    periodic: Axes | None = None
    coordinates: Literal["cartesian", "cylindrical", "polar", "axisymmetric", "spherical"] = (
        "cartesian"
    )
    shape: dict[str, Any] | None = None

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The bounds by axis: numbers, or dates as text."""
        bounds = {axis: getattr(self, axis) for axis in AXES}
        return {axis: pair for axis, pair in bounds.items() if pair is not None}

    @model_validator(mode="after")
    def _check_axes(self):
        if not self.axes:
            wrong("no axis has bounds; add for example x = [0, 1] and t = [0, 1]")
        for index, axis in enumerate(self.periodic or ()):
            if axis == "t":
                wrong("time cannot be periodic; remove it here.", "periodic", index)
            if axis not in self.axes:
                wrong(f"'{axis}' has no bounds; add {axis} = [0, 1]", "periodic", index)
        return self


Positions = Annotated[
    Annotated[int, Field(ge=2, le=LARGEST_GRID), Tag("<number|positions>")]
    | Annotated[Numbers, Tag("<array>")],
    Discriminator(lambda value: "<array>" if isinstance(value, list) else "<number|positions>"),
]
Formats = Annotated[tuple[Literal["nc", "csv", "vtk", "png"], ...], Array]


class OutputSection(Section):
    """What is written when the fit is done."""

    grid: dict[str, Positions] = Field(default_factory=dict)
    quantities: Names | None = None
    formats: Formats = ("nc", "png")

    @model_validator(mode="after")
    def _check_size(self):
        counts = [len(p) if isinstance(p, tuple) else p for p in self.grid.values()]
        if math.prod(counts) > LARGEST_GRID:
            wrong(
                f"the grid has {math.prod(counts):g} points; {LARGEST_GRID:g} is the most.", "grid"
            )
        return self
