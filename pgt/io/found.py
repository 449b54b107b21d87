"""Which columns are meant: found by their headings, one by one or by the places of sensors."""

from collections.abc import Collection, Iterable, Sequence

from pgt.ground.errors import InputError
from pgt.io.columns import absent
from pgt.io.headings import Heading, Places

JOINED = " + "  # of a date and a time of day that are two columns


def texts_of(headings: Iterable[Heading]) -> list[str]:
    return [heading.text for heading in headings if heading.text]


def sensor_hint(name: str, sensors: Collection[str] = ()) -> str:
    """How positions are given, where an axis of space is missing; `sensors` are those with a place."""
    if sensors and name in ("x", "y", "z"):
        return (
            f" The table of sensors has {', '.join(list(sensors)[:5])}: none of them is the name of a "
            "column or of the file, or stands in a column. Write the names alike."
        )
    how = (
        " Where each column or file is one sensor, write its position into the heading, as in T@x=0.1, "
        'or give a table of names and positions: `sensors="positions.csv"`.'
    )
    return how if name in ("x", "y", "z") else ""


def places_of(headings: Sequence[Heading], name: str) -> tuple[int, ...]:
    """The place of a column by its heading, or by the name in its heading; two for "Date + Time"."""
    texts = [heading.text for heading in headings]
    tidy = " ".join(name.split())
    if texts.count(tidy) > 1:
        raise InputError(f"two columns are named {tidy!r}; rename one of them.")
    if tidy in texts:
        return (texts.index(tidy),)
    places = [at for at, h in enumerate(headings) if h.name == tidy and not h.places]
    if len({texts[place] for place in places}) < len(places):
        raise InputError(f"two columns are named {texts[places[0]]!r}; rename one of them.")
    if len(places) > 1:
        listed = " and ".join(repr(texts[place]) for place in places)
        raise InputError(
            f'the columns {listed} are both {name!r}; say which: `columns={{"{name}": '
            f'"{texts[places[0]]}"}}`.'
        )
    if not places and JOINED in name:
        parts = [places_of(headings, part) for part in name.split(JOINED)]
        return tuple(p for part in parts for p in part) if all(parts) else ()
    return tuple(places)


def positions(headings: Sequence[Heading], sensors: dict[str, Places]) -> dict[int, Places]:
    """Where the sensors of columns are."""
    found = {at: h.places for at, h in enumerate(headings) if h.places}
    for at, heading in enumerate(headings):
        for name in (heading.text, heading.name):
            if heading.text and name in sensors:
                found[at] = found.get(at, {}) | sensors[name]
    return found


def by_field_and_place(headings: Sequence[Heading], fields, positions: dict[int, Places], axes):
    """By field and position, the column."""
    found = {}
    for name in fields:
        places = [at for at in positions if matches(headings[at], name)]
        if not places and len(fields) == 1:
            places = list(positions)
        if not places:
            raise absent(name, texts_of(headings))
        found[name] = {}
        for place in places:
            at = _position(headings[place], positions[place], axes)
            if at in found[name]:
                raise InputError(
                    f"the columns {headings[found[name][at]].text!r} and {headings[place].text!r} are "
                    f"both {name!r} at one place; correct a position, or say which columns are meant: "
                    f'`columns={{"{name}": "{headings[found[name][at]].name}*"}}`.'
                )
            found[name][at] = place
    return found


def matches(heading: Heading, name: str) -> bool:
    """Whether a column is of a field: by its name, or by a pattern such as "TC*"."""
    if name in (heading.name, heading.text):
        return True
    start, star, end = name.partition("*")
    return bool(star) and heading.text.startswith(start) and heading.text.endswith(end)


def _position(heading: Heading, places: Places, axes: Sequence[str]) -> tuple[float, ...]:
    for axis in axes:
        if axis not in places:
            raise InputError(
                f"the column {heading.text!r} does not say where its sensor is along {axis!r}; write "
                f"it in the heading, as in {heading.name}@{axis}=0.1, or in a table of sensors."
            )
    return tuple(places[axis][0] for axis in axes)
