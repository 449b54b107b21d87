"""Observations to field: every model, ready for the tests that all of them must pass."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from pgt.models.base import AbstractFieldModel
from pgt.models.pgt import PGT


class ModelCase(NamedTuple):
    """A name and a way to build a small model: `build(scaling, pde, seed)`."""

    name: str
    build: Callable[..., AbstractFieldModel]


def _small_pgt(scaling, pde, seed: int, **options) -> PGT:
    sizes: dict[str, Any] = {
        "width": 8,
        "blocks": 2,
        "heads": 2,
        "decoder_width": 12,
        "decoder_layers": 2,
    }
    return PGT(scaling, pde.kernel(), seed=seed, **(sizes | options))


# Adding a model means adding a line here; the contract's tests then apply to it.
ALL_MODELS = (
    ModelCase("pgt", _small_pgt),
    ModelCase("pgt_anchors", functools.partial(_small_pgt, anchors=6)),
    ModelCase("pgt_siren", functools.partial(_small_pgt, decoder="siren")),
    ModelCase("pgt_film_mlp", functools.partial(_small_pgt, decoder="film-mlp")),
    ModelCase("pgt_mlp", functools.partial(_small_pgt, decoder="mlp")),
    ModelCase("pgt_uncertain", functools.partial(_small_pgt, variance_head=True)),
)
