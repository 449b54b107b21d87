"""Which columns are the fields of an equation, by what loggers call them."""

import itertools
import re
from collections.abc import Container, Mapping, Sequence

from pgt.data.units import conversion
from pgt.ground.errors import InputError
from pgt.io.called import AXES, TEMPERATURES, VALUES, also_called, bare, letters, spelt
from pgt.io.found import matches
from pgt.io.guessed import Guess
from pgt.io.headings import Heading

# What stands beside a quantity, and is not it: how sure it is, its limits, what was asked for, what the
# logger says of itself.
_ASIDE = re.compile(
    r"(?:^|[^a-z])(?:std|stdev|sd|rms|sigma|err|error|unc|uncertainty|min|max|minimum|maximum|set ?point|"
    r"soll|target|limit|alarm|dew ?point|qc|flag|battery|panel|ptemp|internal|cj)(?:[^a-z]|$)"
    r"|^[a-z](?:min|max|std|rms|err|set|amb|ref)$|[±σΔ]",
    re.IGNORECASE,
)
_MEAN = ("mean", "avg", "average")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def of_sensors(headings: Sequence[Heading], measured: Sequence[str]) -> dict[str, str]:
    """By field, the name of its columns, where each is of a sensor."""
    names = list(dict.fromkeys(heading.name for heading in headings))
    own = {n: n if n in names else _alike(n, names, measured) for n in measured}
    if any(own.values()):
        return {name: heading for name, heading in own.items() if heading}
    if measured:
        return {measured[0]: measured[0]}
    if len(names) == 1 and _NAME.fullmatch(names[0]):
        return {names[0]: names[0]}
    return {"T": "T"} if any(_is_warm(heading, "T") for heading in headings) else {"u": "u"}


def _is_warm(heading: Heading, name: str) -> bool:
    """Whether a column may be a temperature, where that is sought."""
    is_spelt = any(word in letters(heading.name) for word in TEMPERATURES[1:])
    return name == "T" and (is_spelt or bool(heading.unit and conversion(heading.unit, "K")))


def _alike(name: str, names: Sequence[str], measured: Sequence[str]) -> str | None:
    """What a field is called instead; of numbered sensors, Temp 1 and Temp 2, how all of them begin."""
    found = [other for other in names if letters(other) in also_called(name, measured)]
    pairs = itertools.takewhile(lambda letter: len({*letter}) == 1, zip(*found, strict=False))
    begin = "".join(letter[0] for letter in pairs).rstrip("0123456789 _-")
    return f"{begin}*" if len(found) > 1 and begin else next(iter(found), None)


def not_used(guess: Guess, own: Mapping[str, str], fields: Sequence[str]) -> list[str]:
    """The names of sensors that are of none of the fields, where some are."""
    wanted = [own.get(name, name) for name in fields]
    is_used = [any(matches(heading, name) for name in wanted) for heading in guess.sensors]
    left = zip(guess.sensors, is_used, strict=True)
    return [] if not any(is_used) else [heading.text for heading, used in left if not used]


def of_columns(
    headings: Sequence[Heading],
    measured: Sequence[str],
    constant: Container[str],
    kinds: Sequence[str] = (),
) -> dict[str, str]:
    """By field, the heading of its column. Of `kinds` that stood in one column, none is guessed."""
    if not measured:
        return {_plain(h.name, n): h.text for n, h in enumerate(headings)}
    found, left = {}, list(headings)
    for name in measured:
        same = [h for h in left if name in (h.name, h.text)]
        same = same or [h for h in left if name == bare(h.name)]
        # Before U, which is the size of a velocity where there is an Ux, too.
        same = same or [h for h in left if letters(h.name) in also_called(name, measured)]
        same = same or [h for h in left if letters(bare(h.name)) in also_called(name, measured)]
        same = same or [h for h in left if h.name.lower() == name.lower()]
        same = same or [h for h in left if letters(h.name) in {name.lower() + m for m in _MEAN}]
        same = same or sorted([h for h in left if _is_warm(h, name)], key=_is_aside)
        if same:
            found[name] = same[0].text
            left.remove(same[0])
    if not found and kinds and len(measured) == 1:  # the temperature among them is the usual u
        warm = [h for h in left if letters(h.name) in TEMPERATURES or _is_warm(h, "T")]
        found = {measured[0]: warm[0].text} if len(warm) == 1 else {}
    if not found and kinds:
        raise InputError(
            f"readings are of {', '.join(map(repr, kinds))}, and none of them is called {measured[0]!r}; "
            f'say which is meant: `columns={{"{measured[0]}": "{kinds[0]}"}}`.'
        )
    if not found:
        # One that is called so; rather none that always says the same, counts hours, or is an error.
        best = min(
            left,
            key=lambda h: (
                spelt(h.name) not in VALUES, h.text in constant, _is_a_time(h), _is_aside(h),
            ),
        )  # fmt: skip
        found[measured[0]] = best.text
    return found


def _is_aside(heading: Heading) -> bool:
    return _ASIDE.search(heading.name) is not None


def _is_a_time(heading: Heading) -> bool:
    return heading.unit is not None and conversion(heading.unit, "s") is not None


def _plain(name: str, number: int) -> str:
    """A name that an equation can use."""
    return name if _NAME.fullmatch(name) and name not in AXES else f"u{number}" if number else "u"
