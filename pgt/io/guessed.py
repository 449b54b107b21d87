"""What the columns of a table may be, as far as their headings and cells show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pgt.data.units import conversion
from pgt.ground.errors import InputError
from pgt.io.called import AXES, CALLED, is_called, spelt
from pgt.io.headings import Heading


@dataclass
class Guess:
    """Filled in step by step: coordinates first, then what is left over."""

    coords: dict[str, str] = field(default_factory=dict)  # by axis, the heading; "" for a position
    numeric: list[Heading] = field(default_factory=list)
    sensors: list[Heading] = field(default_factory=list)
    valid: str | None = None  # the heading of a column of zeros and ones
    names: list[str] = field(default_factory=list)  # all headings
    constant: set[str] = field(default_factory=set)  # headings of columns that always say the same
    words: dict[str, str] = field(default_factory=dict)  # by heading, what stands in other columns
    kinds: tuple[str, ...] = ()  # names of columns that stood below each other
    unit: str | None = None  # of what was read, where a column of its own says it


def may_be(axis: str, heading: Heading) -> bool:
    """Whether a column of that name may be the axis: T is a temperature, and so is t in °C."""
    is_warm = heading.unit is not None and conversion(heading.unit, "K") is not None
    return heading.name != "T" and not heading.places and not (axis == "t" and is_warm)


def length_of(heading: Heading) -> str | None:
    """The axis of which a column of lengths is the depth, the position, ...; None: of none.

    >>> length_of(Heading("Soil depth [cm]", "Soil depth", "cm")), length_of(Heading("h [m]", "h", "m"))
    ('z', None)
    """
    words = spelt(heading.name).split()
    is_length = heading.unit is not None and conversion(heading.unit, "m") is not None
    axes = [a for a in AXES[:3] if any(word in CALLED[a] and len(word) > 1 for word in words)]
    return axes[0] if is_length and len(axes) == 1 else None


def check_one_time(headings: Sequence[Heading]) -> None:
    """Refuse t beside time, where there is no other temperature: it may be one."""
    times = [h for h in headings if is_called(h.name, "t") and may_be("t", h)]
    letter = [h for h in times if h.name == "t" and h.unit is None]
    others = [h for h in times if h.name.lower() in ("time", "zeit", "elapsed time", "elapsed")]
    if (
        letter
        and others
        and not any(h.name.lower().startswith("t") for h in headings if h not in times)
    ):
        raise InputError(
            f"'t' and {others[0].text!r} may both be the time; say which it is: "
            f'`columns={{"t": "{others[0].text}"}}`.'
        )
