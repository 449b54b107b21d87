"""The families by name."""

from pgt.families.family import AbstractFamily
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.parser import suggestion
from pgt.ground.registry import parts


def names() -> tuple[str, ...]:
    """The names of all families, those of installed packages among them.

    >>> "heat" in names()
    True
    """
    return tuple(parts("family"))


@checked
def get(name: str, **settings) -> AbstractFamily:
    """The family of that name; settings such as `nodes` or the range of a coefficient are its arguments.

    >>> get("heat", diffusivity=(0.01, 0.02)).ranges
    {'diffusivity': (0.01, 0.02)}
    """
    known = parts("family")
    if name not in known:
        listed = ", ".join(known)
        raise InputError(
            f"there is no family {name!r}; they are {listed}.{suggestion(name, known)}"
        )
    return known[name](**settings)


def as_family(given: AbstractFamily | str) -> AbstractFamily:
    """A family, or the one of that name."""
    return get(given) if isinstance(given, str) else given
