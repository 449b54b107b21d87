"""What is doubted of places far from readings, by the error that is to be expected of a field."""

from collections.abc import Iterator, Mapping

from pgt.ground.numbers import percent
from pgt.ground.verdict import Doubt, FieldError

LARGE = 0.2  # of the spread of the readings
MATTERS = 0.05  # of the spread: an error below it is none to warn of
# Of the spread: a part of the domain far from readings is doubtful where it is known worse than that, and
# than twice what is known near them.
UNSURE_PART, APART = 0.1, 2.0


def undetermined_places(errors: Mapping[str, FieldError]) -> Iterator[Doubt]:
    """Readings may be predicted well by their neighbours where whole regions have none."""
    for name, found in errors.items():
        if found.value > LARGE:
            yield _nearly_everywhere(name, found)
        elif found.value > MATTERS and found.inside is not None and found.outside is not None:
            yield from _far_off(name, found.value, found.inside, found.outside)


def _nearly_everywhere(name: str, found: FieldError) -> Doubt:
    where = ""
    if found.inside is not None and found.outside is not None and found.outside > found.inside:
        far_off = percent(found.outside)
        where = f" Near readings it is {percent(found.inside)}, far from them {far_off}."
    return Doubt(
        "undetermined_places",
        f"Readings and equation do not determine {name} everywhere: an error of "
        f"{percent(found.value)} of its spread is to be expected over the domain (100 % is no better "
        f"than a constant).{where} Boundary or initial values, or readings there, would help.",
        {"field": name, "expected": found.value},
        is_grave=True,
    )


def _far_off(name: str, expected: float, inside: float, outside: float) -> Iterator[Doubt]:
    if outside <= max(UNSURE_PART, APART * inside):
        return
    yield Doubt(
        "undetermined_places",
        f"Far from readings {name} is known less well: an error of {percent(outside)} of its spread is "
        f"to be expected there, {percent(inside)} near them. Boundary or initial values, or readings "
        "there, would help.",
        {"field": name, "expected": expected, "far": outside},
    )
