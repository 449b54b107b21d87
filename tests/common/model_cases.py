"""Every model, ready for the tests that all of them must pass."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from pgt.models.coordinate_networks import PINN, SIREN, WIRE
from pgt.models.deeponet import DeepONet
from pgt.models.features import Features
from pgt.models.field_model import AbstractFieldModel
from pgt.models.fno import FNO
from pgt.models.mesh_solution import Solver
from pgt.models.pgt import PGT
from pgt.models.pinnsformer import PINNsFormer


class ModelCase(NamedTuple):
    """A name and a way to build a small model: `build(scaling, pde, seed)`.

    `reads`: whether `encode` looks at the readings; a coordinate network knows them only as targets.
    """

    name: str
    build: Callable[..., AbstractFieldModel]
    reads: bool = True


def _small_pgt(scaling, pde, seed: int, **options) -> PGT:
    sizes: dict[str, Any] = {
        "width": 8,
        "blocks": 2,
        "heads": 2,
        "decoder_width": 12,
        "decoder_layers": 2,
    }
    return PGT(scaling, pde.kernel(), seed=seed, **(sizes | options))


def _small_fno(scaling, pde, seed: int) -> FNO:
    return FNO(scaling, grid=(10, 8), modes=3, width=8, layers=2, seed=seed)


def _small_deeponet(scaling, pde, seed: int) -> DeepONet:
    return DeepONet(scaling, width=12, layers=3, basis=6, seed=seed)


def _small_pinn(scaling, pde, seed: int) -> PINN:
    return PINN(scaling, width=12, layers=3, seed=seed)


def _small_features(scaling, pde, seed: int) -> Features:
    """With weights by chance, as after a fit: without, its field is the same everywhere."""
    model = Features(scaling, count=12, band=4.0, seed=seed)
    shape = model.network.readout.shape
    readout = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return eqx.tree_at(lambda m: m.network.readout, model, readout)


def _small_solver(scaling, pde, seed: int) -> Solver:
    """With polynomials by chance on one element: before a fit its field is the same everywhere."""
    model, dimension = Solver(scaling), len(scaling.middle)
    # One element knows no seam: on a periodic axis it is constant.
    terms = (1 if wraps else 5 for wraps in scaling.periodic)
    shape = (len(scaling.mean), *(1,) * dimension, *terms)
    pieces = np.random.default_rng(seed).normal(size=shape)
    return model.with_pieces(model.elements.edges, pieces)


def _small_siren(scaling, pde, seed: int) -> SIREN:
    return SIREN(scaling, width=12, layers=3, frequency=8.0, seed=seed)


def _small_wire(scaling, pde, seed: int) -> WIRE:
    return WIRE(scaling, width=10, layers=3, seed=seed)


def _small_pinnsformer(scaling, pde, seed: int) -> PINNsFormer:
    return PINNsFormer(scaling, width=8, hidden=12, output_hidden=12, seed=seed)


# Adding a model means adding a line here; the contract's tests then apply to it.
ALL_MODELS = (
    ModelCase("pgt", _small_pgt),
    ModelCase("pgt_anchors", functools.partial(_small_pgt, anchors=6)),
    ModelCase("pgt_siren", functools.partial(_small_pgt, decoder="siren")),
    ModelCase("pgt_film_mlp", functools.partial(_small_pgt, decoder="film-mlp")),
    ModelCase("pgt_mlp", functools.partial(_small_pgt, decoder="mlp")),
    ModelCase("pgt_uncertain", functools.partial(_small_pgt, variance_head=True)),
    ModelCase("fno", _small_fno),
    ModelCase("deeponet", _small_deeponet),
    ModelCase("pinn", _small_pinn, reads=False),
    ModelCase("features", _small_features, reads=False),
    ModelCase("solver", _small_solver, reads=False),
    ModelCase("siren", _small_siren, reads=False),
    ModelCase("wire", _small_wire, reads=False),
    ModelCase("pinnsformer", _small_pinnsformer, reads=False),
)
