"""Who competes: every method of the tables, how to build it, and what its authors recommend."""

from collections.abc import Callable
from dataclasses import dataclass

from pgt.core.errors import InputError
from pgt.kernels import AdvectionDiffusionKernel, HeatKernel, LearnableStrength, NoKernel
from pgt.models.coordinate_networks import PINN, SIREN, WIRE
from pgt.models.deeponet import DeepONet
from pgt.models.features import Features
from pgt.models.field_model import AbstractFieldModel
from pgt.models.fno import FNO
from pgt.models.pgt import PGT
from pgt.models.pinnsformer import PINNsFormer
from pgt.nn.scaling import Scaling
from pgt_bench.problems import DIFFUSIVITY, VISCOSITY, Setup

FEW = 300  # readings; beyond this the kernels' study gathers them with anchors
HEADS = 4
DRIFT = 1.0  # mean velocity of the wake along x, of the free stream


@dataclass(frozen=True)
class Method:
    """`build(setup, sizes, recipe, seed)`; `rate` is the authors' learning rate for Adam. What is not
    `trained` is solved in closed form: it has neither recipe nor steps."""

    label: str
    build: Callable[[Setup, dict, str, int], AbstractFieldModel]
    rate: float = 1e-3
    physics: bool = True
    trained: bool = True


REFERENCES = {"rbf": "RBF (scipy)", "gp": "Gaussian process (scikit-learn)"}


def scaling_of(setup: Setup) -> Scaling:
    return Scaling.fit(setup.observations.aligned(setup.pde.fields), setup.domain)


def _plain(model, family: str):
    """A model whose authors recommend nothing but sizes."""

    def build(setup: Setup, sizes: dict, recipe: str, seed: int):
        return model(scaling_of(setup), **sizes[family], seed=seed)

    return build


def _waves(model, family: str, **authors):
    """SIREN and WIRE: their frequency is the authors' own in their recipe, one for fields in ours."""

    def build(setup: Setup, sizes: dict, recipe: str, seed: int):
        options = sizes[family] | (authors if recipe == "authors" else {})
        return model(scaling_of(setup), **options, seed=seed)

    return build


def _sines(setup: Setup, sizes: dict, recipe: str, seed: int):
    """As many as suit the problem: what the library uses of itself for a linear equation."""
    return Features(scaling_of(setup), seed=seed)


def _pgt(anchors: bool | None = True, kernel=None, **options):
    """`anchors` None: only where there are many readings."""

    def build(setup: Setup, sizes: dict, recipe: str, seed: int):
        many = len(setup.observations) > FEW if anchors is None else anchors
        chosen = setup.pde.kernel() if kernel is None else kernel(setup)
        sizes = sizes["pgt"] | {"anchors": sizes["anchors"] if many else 0} | options
        return PGT(scaling_of(setup), chosen, **sizes, seed=seed)

    return build


def _without(setup: Setup):
    return NoKernel()


def _learnable(setup: Setup):
    return LearnableStrength(setup.pde.kernel(), HEADS)


def _drifting(setup: Setup):
    if setup.domain.axes != ("x", "y", "t"):
        raise InputError(
            "the drifting kernel is for the wake; nothing drifts in the heat equation."
        )
    return AdvectionDiffusionKernel(velocity=(DRIFT, 0.0), diffusivity=VISCOSITY)


def _both_ways(setup: Setup):
    return HeatKernel(DIFFUSIVITY, causal=False)


METHODS = {
    "pgt": Method("PGT, exact attention", _pgt(False)),
    "pgt-anchors": Method("PGT, anchors", _pgt()),
    "pinn": Method("PINN", _plain(PINN, "pinn")),
    "siren": Method("SIREN, data only", _waves(SIREN, "siren", frequency=30.0), 3e-3, False),
    "siren-pde": Method("SIREN + PDE", _waves(SIREN, "siren", frequency=30.0), 3e-3),
    "wire": Method("WIRE, data only", _waves(WIRE, "wire", frequency=4.0, spread=4.0), 5e-3, False),
    "wire-pde": Method("WIRE + PDE", _waves(WIRE, "wire", frequency=4.0, spread=4.0), 5e-3),
    "fno": Method("FNO", _plain(FNO, "fno")),
    "deeponet": Method("PI-DeepONet", _plain(DeepONet, "deeponet")),
    "pinnsformer": Method("PINNsFormer", _plain(PINNsFormer, "pinnsformer")),
    "features": Method("Features (sines, one solve)", _sines, trained=False),
    # Table 3: one thing taken away at a time.
    "no-pde": Method("No PDE loss", _pgt(), physics=False),
    "no-bias": Method("No attention bias", _pgt(kernel=_without)),
    "no-physics": Method("No physics (data only)", _pgt(kernel=_without), physics=False),
    "decoder-siren": Method("SIREN, no FiLM", _pgt(decoder="siren")),
    "decoder-film-mlp": Method("FiLM-MLP", _pgt(decoder="film-mlp")),
    "decoder-mlp": Method("Plain MLP", _pgt(decoder="mlp")),
    # Table 4.
    "pgt-uw": Method("PGT-UW", _pgt(variance_head=True)),
    # Where does Γ help?
    "gamma-none": Method("none", _pgt(None, _without)),
    "gamma-heat": Method("heat, as in the paper", _pgt(None)),
    "gamma-learnable": Method("heat, learnable strength", _pgt(None, _learnable)),
    "gamma-drift": Method("advection–diffusion", _pgt(None, _drifting)),
    "gamma-both-ways": Method("heat, non-causal", _pgt(None, _both_ways)),
}
