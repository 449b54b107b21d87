"""A few systems that a network has not seen, and what it says of them."""

import jax
import xarray as xr

from pgt.data.observations import Observations
from pgt.data.synthetic import sample
from pgt.families.card import HELD_OUT, SYSTEMS
from pgt.families.pretrained import Pretrained

READINGS = 64


def examples(
    trained: Pretrained, count: int = 3
) -> list[tuple[xr.Dataset, xr.Dataset, Observations]]:
    """Truth, answer and readings of some systems, drawn with keys that neither training nor card saw.

    >>> import pgt
    >>> truth, answer, readings = examples(pgt.families.shipped("heat"), 1)[0]
    >>> truth.u.shape == answer.u.shape, len(readings)
    (True, 64)
    """
    family, card = trained.family, trained.card
    root = jax.random.key(card.seed + HELD_OUT)
    found = []
    for k in range(count):
        system = family.draw(jax.random.fold_in(root, SYSTEMS + k))
        truth = family.dataset(system)
        readings = sample(truth, n=min(READINGS, card.sensing.most), seed=k)
        known = {name: float(value) for name, value in system.coefficients.items()}
        answer = trained(readings, known).grid(**family.axes)
        fields = list(family.fields)
        found.append((truth[fields], answer[fields], readings))
    return found
