import json

import jax
import numpy as np
import pytest

from pgt.data import Domain
from pgt.ground.errors import InputError


def test_axes_are_kept_in_canonical_order():
    domain = Domain(t=(0, 2), y=(-1, 3), x=(0, 1), periodic=("y",), units={"t": "s"})
    assert domain.axes == ("x", "y", "t")
    np.testing.assert_array_equal(domain.lower, [0, -1, 0])
    np.testing.assert_array_equal(domain.upper, [1, 3, 2])
    np.testing.assert_array_equal(domain.extent, [1, 4, 2])
    assert domain.lower.dtype == np.float64
    assert domain.spatial_axes == ("x", "y")
    assert (domain.has_time, domain.dimension, domain.index("t")) == (True, 3, 2)
    assert domain.bounds("y") == (-1.0, 3.0)
    assert domain.units == {"t": "s"}
    assert (
        repr(domain) == "Domain(x=(0, 1), y=(-1, 3), t=(0, 2), periodic=('y',), units={'t': 's'})"
    )


def test_survives_json_and_is_hashable():
    domain = Domain(x=(0, 0.1), t=(0, 1), periodic="x", units={"x": "m"})
    again = Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert hash(again) == hash(domain)
    assert domain != Domain(x=(0, 0.1), t=(0, 1))
    with pytest.raises(AttributeError):
        domain.axes = ("x",)


def test_is_static_under_jit():
    scale = jax.jit(lambda value, domain: value * domain.extent[0], static_argnums=1)
    assert scale(1.0, Domain(x=(0, 2))) == 2.0


def test_contains_tolerates_rounding_only():
    domain = Domain(x=(0, 1), t=(0, 10))
    points = [[0, 0], [1 + 1e-12, 10], [1.001, 5], [0.5, -1], [np.nan, 1]]
    np.testing.assert_array_equal(domain.contains(points), [True, True, False, False, False])
    with pytest.raises(InputError, match=r"\(n, 2\)"):
        domain.contains(np.zeros(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no axes"),
        ({"q": (0, 1)}, "unknown axis 'q'"),
        ({"x": (1, 1)}, "below"),
        ({"x": (0, np.inf)}, "finite"),
        ({"x": (np.nan, 1)}, "finite"),
        ({"x": (0, 1, 2)}, "two numbers"),
        ({"x": ("a", 1)}, "two numbers"),
        ({"x": (0, 1), "t": (0, 1), "periodic": ("t",)}, "time cannot be periodic"),
        ({"x": (0, 1), "periodic": ("y",)}, "`periodic` names 'y'"),
        ({"x": (0, 1), "units": {"y": "m"}}, "`units` names 'y'"),
    ],
)
def test_errors_name_the_culprit(arguments, message):
    with pytest.raises(InputError, match=message):
        Domain(**arguments)


def test_unknown_axis_and_bad_dictionary():
    with pytest.raises(InputError, match="'z' is not in the domain"):
        Domain(x=(0, 1)).bounds("z")
    with pytest.raises(InputError, match="bounds"):
        Domain.from_dict({"x": [0, 1]})
