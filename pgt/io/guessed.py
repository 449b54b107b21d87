"""What the columns of a table may be, as far as their headings and cells show it."""

from dataclasses import dataclass, field

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
