"""Shapes as plain lists and dictionaries, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pgt.data.shapes.base import AbstractShape, set_fields
from pgt.data.shapes.combine import Complement, Difference, Intersection, Union
from pgt.data.shapes.formula import Formula
from pgt.data.shapes.moving import Moving
from pgt.data.shapes.placed import Placed
from pgt.data.shapes.plane import Disk, Ellipse, Rectangle
from pgt.data.shapes.polygon import Polygon
from pgt.data.shapes.solid import Ball, Box, Cylinder
from pgt.data.shapes.surface import Surface
from pgt.ground.errors import InputError

KINDS: dict[str, type[AbstractShape]] = {
    kind.__name__: kind
    for kind in (
        Disk, Ellipse, Rectangle, Polygon, Ball, Box, Cylinder, Formula, Surface,
        Union, Intersection, Difference, Complement, Placed, Moving,
    )
}  # fmt: skip


def shape_to_dict(shape: AbstractShape) -> dict[str, Any]:
    """For JSON.

    >>> shape_to_dict(Disk(radius=2.0))
    {'kind': 'Disk', 'centre': [0.0, 0.0], 'radius': 2.0, 'name': None}
    """
    names = [field.name for field in fields(shape)]  # pyright: ignore[reportArgumentType]
    return {"kind": type(shape).__name__} | {name: _plain(getattr(shape, name)) for name in names}


def shape_from_dict(data: Mapping) -> AbstractShape:
    """The inverse of `shape_to_dict`.

    >>> shape_from_dict(shape_to_dict(-Disk())) == -Disk()
    True
    """
    kind = KINDS.get(str(data.get("kind")))
    names = {field.name for field in fields(kind)} if kind else set()  # pyright: ignore[reportArgumentType]
    if kind is None or set(data) != {"kind", *names}:
        raise InputError(f"no shape is written {dict(data)!r}; the kinds are {', '.join(KINDS)}.")
    shape = object.__new__(kind)
    set_fields(shape, **{name: _read(data[name], kind, name) for name in names})
    return shape


def _plain(value):
    if isinstance(value, AbstractShape):
        return shape_to_dict(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _read(value, kind: type, name: str):
    if kind is Surface and isinstance(value, list):
        return np.array(value, float if name == "corners" else np.int64)
    if isinstance(value, Mapping):
        return shape_from_dict(value)
    return tuple(_read(item, kind, name) for item in value) if isinstance(value, list) else value
