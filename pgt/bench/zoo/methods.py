"""Who competes in the zoo."""

from collections.abc import Callable
from dataclasses import dataclass

from pgt.bench.zoo.answers import (
    Answer,
    Asked,
    by_default,
    by_gaussian_process,
    by_model,
    by_rbf,
    named_model,
    pgt_model,
)
from pgt.ground.errors import InputError

OURS = "ours"


@dataclass(frozen=True)
class Method:
    """`rival`: from elsewhere; the default is compared with the best of these."""

    label: str
    answer: Callable[[Asked], Answer]
    rival: bool = False


METHODS = {
    OURS: Method("pgt, all defaults", by_default),
    "features": Method("Features", by_model(named_model("Features"))),
    "siren": Method("SIREN", by_model(named_model("SIREN"))),
    "pgt": Method("PGT", by_model(pgt_model)),
    "rbf": Method("RBF (scipy)", by_rbf, rival=True),
    "gp": Method("Gaussian process (scikit-learn)", by_gaussian_process, rival=True),
}
RIVALS = tuple(name for name, method in METHODS.items() if method.rival)


def require_methods(names: tuple[str, ...]) -> None:
    """Raise before the first run."""
    for name in names:
        if name not in METHODS:
            raise InputError(
                f"the zoo has no method {name!r}; choose some of {', '.join(METHODS)}."
            )
