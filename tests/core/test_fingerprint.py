"""Two things are the same where every leaf is, by content."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.core.fingerprint import contents

FACTOR = 2.0


def doubled(x):
    """Uses a number of its module."""
    return FACTOR * x


def powers(n):
    return lambda x: x**n


@dataclasses.dataclass(frozen=True)
class Box:
    size: float
    inner: object = None


class Plain:
    def __init__(self, size):
        self.size = size


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0.1, np.nextafter(0.1, 1.0)),
        (True, 1),
        ("a" * 100, "a" * 99 + "b"),
        (np.zeros(3), np.zeros(3, np.float32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.arange(4.0), np.arange(4.0)[::-1]),
        (np.array(["a"], object), np.array(["b"], object)),
        (jnp.float32(1.0), jnp.float32(2.0)),
        (jax.random.key(0), jax.random.key(1)),
        ({"a": 1}, {"b": 1}),
        ({1, 2}, {1, 3}),
        (b"a", b"b"),
        ([1, (2,)], [1, [2]]),
        (Box(1.0), Box(2.0)),
        (Box(1.0, Box(2.0)), Box(1.0, Box(3.0))),
        (Plain(1), Plain(2)),
        (powers(2), powers(3)),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: x, lambda x: -x),
        (functools.partial(doubled, 1), functools.partial(doubled, 2)),
        (jnp.sin, jnp.cos),
        (jax.nn.relu, jax.nn.tanh),
        (int, float),
        (Box, Plain),
    ],
)
def test_what_differs_is_seen(one, other):
    assert contents(one) != contents(other)
    assert contents(one) == contents(one)


def test_a_number_that_a_function_takes_from_its_module_counts(monkeypatch):
    before = contents(doubled)
    monkeypatch.setattr(f"{__name__}.FACTOR", 3.0)
    assert contents(doubled) != before
