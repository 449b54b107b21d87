"""Conversion of shapes to plain lists and dictionaries for JSON, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pgt.core.errors import InputError
from pgt.geometry.formula import Formula
from pgt.geometry.placement import Placed
from pgt.geometry.polygon import Polygon
from pgt.geometry.set_operations import Complement, Difference, Intersection, Union
from pgt.geometry.shape import AbstractShape, set_fields
from pgt.geometry.simple_shapes import Ball, Box, Cylinder, Disk, Ellipse, Rectangle
from pgt.geometry.surface import Surface

KINDS: dict[str, type[AbstractShape]] = {
    kind.__name__: kind
    for kind in (
        Disk, Ellipse, Rectangle, Polygon, Ball, Box, Cylinder, Formula, Surface,
        Union, Intersection, Difference, Complement, Placed,
    )
}  # fmt: skip


def shape_to_dict(shape: AbstractShape) -> dict[str, Any]:
    """The shape as plain data, for JSON.

    >>> shape_to_dict(Disk(radius=2.0))
    {'kind': 'Disk', 'centre': [0.0, 0.0], 'radius': 2.0, 'name': None}
    """
    names = [field.name for field in fields(shape)]  # pyright: ignore[reportArgumentType]
    return {"kind": type(shape).__name__} | {name: _plain(getattr(shape, name)) for name in names}


def shape_from_dict(data: Mapping) -> AbstractShape:
    """The shape that `shape_to_dict` wrote.

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
