"""[observations], [domain], [[conditions]] and [output]."""

import math
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from pgt.config.schema import (
    Array,
    Axes,
    Axis,
    Bounds,
    Names,
    NotNegative,
    Number,
    Numbers,
    Section,
    Text,
    Value,
    by_name,
    did_you_mean,
    wrong,
)

LARGEST_GRID = 10**8  # points

Noise = Annotated[
    Annotated[NotNegative, Tag("<sigma>")] | Annotated[Text, Tag("<column>")],
    Discriminator(lambda value: "<column>" if isinstance(value, str) else "<sigma>"),
]


class ObservationsSection(Section):
    """Which file holds the readings, and which of its columns are what."""

    file: Annotated[Text, Field(examples=['file = "sensors.csv"'])]
    coords: Annotated[Axes, Field(min_length=1, examples=['coords = ["x", "t"]'])]
    fields: Annotated[Names, Field(examples=['fields = ["u"]'])]
    columns: dict[str, Text] | None = None
    units: dict[str, Text] | None = None
    noise: dict[str, Noise] | None = None

    @model_validator(mode="after")
    def _check_names(self):
        for index, name in enumerate(self.fields):
            if name in get_args(Axis):
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


class DomainSection(Section):
    """The box in space and time in which the field is sought."""

    x: Bounds | None = None
    y: Bounds | None = None
    z: Bounds | None = None
    t: Bounds | None = None
    periodic: Axes | None = None

    @property
    def axes(self) -> dict[str, tuple[float, ...]]:
        """The bounds by axis."""
        bounds = {"x": self.x, "y": self.y, "z": self.z, "t": self.t}
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


class ValueSection(Section):
    """A condition in which every key that is not named below is a field with its value."""

    model_config = ConfigDict(extra="allow")
    chosen_by: ClassVar[str] = "kind"
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, data):
        fields = [name for name in data if name not in cls.model_fields]
        if not fields:
            wrong('the field and its value are missing; add for example u = 0 or u = "sin(pi*x)"')
        for name in fields:
            if not name.isidentifier() or name == "self":
                wrong(f"'{name}' cannot be the name of a field.", name)
        return data


class InitialSection(ValueSection):
    builds: ClassVar[str] = "Initial"

    kind: Literal["initial"]


Side = Literal["lower", "upper", "both"]


class DirichletSection(ValueSection):
    builds: ClassVar[str] = "Dirichlet"

    kind: Literal["dirichlet"]
    axis: Axis | None = None
    side: Side | None = None


class NeumannSection(ValueSection):
    builds: ClassVar[str] = "Neumann"

    kind: Literal["neumann"]
    axis: Axis | None = None
    side: Side | None = None


class PeriodicSection(Section):
    builds: ClassVar[str] = "Periodic"
    chosen_by: ClassVar[str] = "kind"

    kind: Literal["periodic"]
    axis: Annotated[Axis, Field(examples=['axis = "x"'])]
    fields: Names | None = None
    order: Annotated[int, Field(ge=0, le=3)] | None = None


class GaugeSection(Section):
    builds: ClassVar[str] = "Gauge"
    chosen_by: ClassVar[str] = "kind"

    kind: Literal["gauge"]
    field: Annotated[Text, Field(examples=['field = "p"'])]
    at: dict[str, Number] | None = None
    value: Value | None = None


Kind = Literal["initial", "dirichlet", "neumann", "periodic", "gauge"]


class NoSuchCondition(Section):
    model_config = ConfigDict(extra="ignore")

    kind: Annotated[Kind, Field(examples=['kind = "initial"'])]


Condition = Annotated[
    Annotated[InitialSection, Tag("<initial>")]
    | Annotated[DirichletSection, Tag("<dirichlet>")]
    | Annotated[NeumannSection, Tag("<neumann>")]
    | Annotated[PeriodicSection, Tag("<periodic>")]
    | Annotated[GaugeSection, Tag("<gauge>")]
    | Annotated[NoSuchCondition, Tag("<none>")],
    by_name("kind", get_args(Kind)),
]

Positions = Annotated[
    Annotated[int, Field(ge=1, le=LARGEST_GRID), Tag("<count>")]
    | Annotated[Numbers, Tag("<positions>")],
    Discriminator(lambda value: "<positions>" if isinstance(value, list) else "<count>"),
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
