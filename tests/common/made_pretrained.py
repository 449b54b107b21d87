"""A network trained over a tiny family for a moment: it answers, though not well."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pgt
from pgt.families.networks import card
from pgt.models.hypernetwork import HyperSirenSizes

# Judged by few systems, and always by as many: for every other number all is compiled once more.
card.LAW_SYSTEMS = card.TRIED = 32
card.LAW_SYSTEMS = card.FIRST

FAMILY = pgt.families.get("heat", nodes=12, times=9)
SIZES = HyperSirenSizes(width=8, blocks=1, heads=2, basis=8, layers=2)
QUICK = pgt.families.Pretraining(
    steps=8,
    batch=4,
    queries=16,
    pool=8,
    reuse=2,
    sensing=pgt.families.Sensing(min_readings=6, max_readings=16),
)


@cache
def with_law(folder: Path | None = None) -> pgt.families.Pretrained:
    """As it is trained: the law of the family, which is better, answers in its place."""
    return pgt.families.pretrain(FAMILY, QUICK, sizes=SIZES, checkpoint=folder, progress=False)


@cache
def trained(folder: Path | None = None) -> pgt.families.Pretrained:
    """One that has to answer by itself."""
    found = with_law(folder)
    return pgt.families.Pretrained(found.network, found.family, replace(found.card, law=None))
