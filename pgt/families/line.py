"""Families over one axis of space and time."""

from typing import ClassVar

import equinox as eqx
import numpy as np

from pgt.data.domain import Domain
from pgt.families.family import Nodes, nodes_of
from pgt.families.solved import AbstractSolved


class AbstractLine(AbstractSolved):
    """One field u of x and t, both from 0 to 1; `periodic` has x where the line is a ring.

    >>> import pgt
    >>> isinstance(pgt.families.get("wave"), AbstractLine)
    True
    """

    fields: ClassVar[tuple[str, ...]] = ("u",)
    periodic: eqx.AbstractClassVar[tuple[str, ...]]
    nodes: Nodes = eqx.field(static=True, default=64, kw_only=True)
    times: Nodes = eqx.field(static=True, default=65, kw_only=True)

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), t=(0, 1), periodic=self.periodic)

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, t=self.times)
