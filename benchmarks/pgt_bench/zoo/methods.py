"""Who competes in the zoo."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

from pgt.core.errors import InputError
from pgt_bench.zoo.answers import (
    Answer,
    Asked,
    by_default,
    by_gaussian_process,
    by_model,
    by_rbf,
    named_model,
    pgt_model,
    with_bands,
)

OURS, BANDS = "ours", "bands"


@dataclass(frozen=True)
class Method:
    """`rival`: from elsewhere; the default is compared with the best of these. `needs`: what must be
    installed for it. `competes`: has an answer of its own, to be set beside the others."""

    label: str
    answer: Callable[[Asked], Answer]
    rival: bool = False
    needs: tuple[str, ...] = ()
    competes: bool = True

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages it needs that are not installed."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)


def by_peer(module: str) -> Callable[[Asked], Answer]:
    """Another library, imported when it is first asked."""
    return lambda asked: importlib.import_module(f"pgt_bench.zoo.peers.{module}").answer(asked)


METHODS = {
    OURS: Method("pgt, all defaults", by_default),
    BANDS: Method("pgt, defaults and `Posterior()`", with_bands, competes=False),
    "features": Method("Features", by_model(named_model("Features"))),
    "siren": Method("SIREN", by_model(named_model("SIREN"))),
    "pgt": Method("PGT", by_model(pgt_model)),
    "rbf": Method("RBF (scipy)", by_rbf, True),
    "gp": Method("Gaussian process (scikit-learn)", by_gaussian_process, True, ("sklearn",)),
    "jinns": Method("jinns", by_peer("with_jinns"), True, ("jinns",)),
}
RIVALS = tuple(name for name, method in METHODS.items() if method.rival)


def installed() -> tuple[str, ...]:
    """The methods that can run here."""
    return tuple(name for name, method in METHODS.items() if not method.missing)


def require_methods(names: tuple[str, ...]) -> None:
    """Raise before the first run."""
    for name in names:
        if name not in METHODS:
            raise InputError(
                f"the zoo has no method {name!r}; choose some of {', '.join(METHODS)}."
            )
        if METHODS[name].missing:
            raise InputError(
                f"the method {name!r} needs {', '.join(METHODS[name].missing)}; install them with "
                "`pip install './benchmarks[bench,peers]'` in a clone of the repository."
            )
