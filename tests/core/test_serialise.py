"""What is saved comes back the same, and a file can never do more than hold data."""

import dataclasses
import json
import math
import os
from typing import NamedTuple

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import safetensors.numpy
from hypothesis.extra import numpy as hnp

from pgt.core import files, serialise
from pgt.core.errors import InputError
from pgt.core.serialise import VERSION, from_files, load, save, to_files
from pgt.core.unknown import Unknown
from pgt.training.optimisers import scale_by_soap


class Pair(NamedTuple):
    first: object
    second: object


def same(a, b):
    """Equal in type, dtype, shape and every bit that matters."""
    if isinstance(a, jax.Array) and jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
        return a.dtype == b.dtype and np.array_equal(jax.random.key_data(a), jax.random.key_data(b))
    if isinstance(a, jax.Array | np.ndarray | np.generic):
        kinds = isinstance(a, jax.Array) == isinstance(b, jax.Array)
        kinds = kinds and isinstance(a, np.generic) == isinstance(b, np.generic)
        equal = np.asarray(a).tobytes() == np.asarray(b).tobytes()
        return kinds and a.dtype == b.dtype and a.shape == b.shape and equal
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    return a == b


def round_trip(obj, **options):
    structure, arrays = to_files(obj)
    return from_files(json.loads(json.dumps(structure, allow_nan=False)), arrays, **options)


dtypes = st.sampled_from([np.dtype(code).name for code in "?bBiIlLefdFD"])
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | arrays
    | arrays.filter(lambda a: a.dtype.itemsize <= 4).map(jnp.asarray)
    | arrays.filter(lambda a: a.ndim == 0).map(lambda a: a[()])
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=8,
)


@hypothesis.given(trees)
@hypothesis.settings(max_examples=100)
def test_round_trip(tree):
    assert same(round_trip(tree, classes=[Pair]), tree)


def test_modules_and_optimiser_states(tmp_path):
    model = eqx.nn.MLP(2, 1, 8, 1, activation=None, final_activation=None, key=jax.random.key(0))
    model = (model.layers, eqx.nn.LayerNorm(3), Unknown(2.0, bounds=(0.0, 4.0)))
    trained = eqx.filter(model, eqx.is_inexact_array)
    state = optax.chain(scale_by_soap(), optax.scale_by_adam(), optax.scale(-1.0)).init(trained)
    save(tmp_path, "model", (model, state))
    loaded = load(tmp_path, "model")
    assert same(loaded, (model, state))
    assert jax.tree.structure(loaded) == jax.tree.structure((model, state))
    assert loaded[0][2].raw.weak_type == model[2].raw.weak_type


def test_bfloat16_and_big_endian():
    value = jnp.asarray([1.5, -2.0], jnp.bfloat16)
    assert same(round_trip(value), value)
    np.testing.assert_array_equal(round_trip(np.array([1, 2], ">i4")), [1, 2])


def test_float64_is_never_rounded(tmp_path):
    with jax.enable_x64(True):
        save(tmp_path, "double", jnp.asarray(np.array([1 / 3])))
        assert isinstance(load(tmp_path, "double"), jax.Array)
    with jax.enable_x64(False):
        loaded = load(tmp_path, "double")
    assert isinstance(loaded, np.ndarray)
    assert loaded.dtype == np.float64
    assert loaded[0] == 1 / 3


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda x: x, r"\['model'\]\[1\].*as text"),
        (jnp.sin, r"\['model'\]\[1\].*as text"),
        ({1, 2}, r"\['model'\]\[1\].*builtins\.set.*classes="),
        (1j, r"\['model'\]\[1\].*builtins\.complex"),
        ({1: 2}, r"\['model'\]\[1\].*keys"),
        (np.array(["text"]), r"\['model'\]\[1\].*<U4"),
        (np.array([None]), r"\['model'\]\[1\].*object"),
        (np.ma.array([1.0]), r"\['model'\]\[1\].*MaskedArray"),
    ],
)
def test_what_cannot_be_saved_is_named(value, message):
    with pytest.raises(InputError, match=message):
        to_files({"model": [0, value]})


def hostile(node):
    return {"format": "pgt", "version": VERSION, "root": node}


def named(module, name, fields=()):
    return {"is": "object", "module": module, "class": name, "fields": dict(fields)}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("subprocess", "Popen"),
        ("pgt", "jax"),
        ("pgt", "eqx.Module"),
        ("pgt", "AbstractKernel"),
        ("pgt", "Point"),
        ("pgt", "InputError"),
        ("pgt", "Unknown.__init__"),
        ("pgt", "__builtins__"),
        ("pgt", "Anything"),
        ("pgt.core.unknown", "Unknown"),
        ("pgtx", "Unknown"),
        ("optax._src.base", "optional"),
        ("equinox", "Module"),
        ("equinox.nn", "Linear"),
    ],
)
def test_hostile_classes_are_refused(module, name):
    with pytest.raises(InputError, match=name.split(".")[0]):
        from_files(hostile(named(module, name)), {}, classes=[Pair])


@pytest.mark.parametrize(
    "node",
    [
        {"is": "code", "value": "1"},
        {"no": "kind"},
        {"is": "tuple", "items": 3},
        {"is": "dict", "items": []},
        {"is": "float", "value": "__import__('os')"},
        {"is": "array", "kind": "numpy", "key": "gone", "checksum": 0},
        {"is": "array", "kind": "numpy", "key": ["list"], "checksum": 0},
        named("pgt", "Unknown", {"raw": 1.0, "positive": True}),
        named("pgt", "Unknown", {"raw": 1, "positive": 1, "bounds": 1, "__class__": 1}),
        named(3, 4),
    ],
)
def test_damaged_structures_are_refused(node):
    with pytest.raises(InputError):
        from_files(hostile(node), {})


def test_deep_nesting_is_refused(tmp_path):
    node = []
    for _ in range(500):
        node = [node]
    with pytest.raises(InputError, match="nested"):
        from_files(hostile(node), {})
    text = "[" * 100_000 + "]" * 100_000
    (tmp_path / "deep.safetensors").write_bytes(safetensors.numpy.save({}, {"pgt": text}))
    with pytest.raises(InputError, match="deep"):
        load(tmp_path, "deep")


@pytest.mark.parametrize("version", [0, VERSION + 1, str(VERSION), None])
def test_other_versions_are_refused(version):
    with pytest.raises(InputError, match="version"):
        from_files({"format": "pgt", "version": version, "root": None}, {})


def test_damaged_files_are_named(tmp_path):
    save(tmp_path, "state", {"a": np.arange(1000.0)})
    path = tmp_path / "state.safetensors"
    whole = path.read_bytes()
    for damaged in (b"", whole[:5], whole[:100], whole[:-1], whole[:-8] + b"\x01" * 8, b"{}" * 50):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"state\.safetensors"):
            load(tmp_path, "state")
    with pytest.raises(InputError, match=r"other\.safetensors.*no such file"):
        load(tmp_path, "other")
    path.write_bytes(safetensors.numpy.save({"a": np.ones(2)}))
    with pytest.raises(InputError, match="not written by pgt"):
        load(tmp_path, "state")


def test_missing_and_extra_arrays_are_refused():
    structure, arrays = to_files({"a": np.ones(2), "b": np.ones(3)})
    with pytest.raises(InputError, match=r"'\['b'\]'|\['b'\]"):
        from_files(structure, {"['a']": arrays["['a']"]})
    with pytest.raises(InputError, match="extra"):
        from_files(structure, arrays | {"extra": np.ones(1)})


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_one(tmp_path, monkeypatch, fails):
    save(tmp_path, "state", {"step": 1, "a": np.zeros(3)})

    def broken(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, fails, broken)
        with pytest.raises(OSError, match="disk full"):
            save(tmp_path, "state", {"step": 2, "a": np.ones(4)})
    assert load(tmp_path, "state")["step"] == 1
    assert sorted(os.listdir(tmp_path)) == ["state.json", "state.safetensors"]


def test_a_crash_between_the_two_files_is_harmless(tmp_path, monkeypatch):
    save(tmp_path, "state", {"step": 1, "a": np.zeros(3)})
    replace = serialise._replace

    def crash(path, content):
        if path.suffix == ".json":
            raise KeyboardInterrupt
        replace(path, content)

    monkeypatch.setattr(serialise, "_replace", crash)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, "state", {"step": 2, "other": np.ones(4)})
    assert load(tmp_path, "state")["step"] == 2


def test_own_classes_must_be_passed(tmp_path):
    save(tmp_path, "own", Pair(1, 2))
    with pytest.raises(InputError, match=r"own\.safetensors.*Pair.*classes=\[Pair\]"):
        load(tmp_path, "own")
    assert load(tmp_path, "own", classes=[Pair]) == (1, 2)
