"""The contents of an object by leaves: two objects with equal leaves are the same.

A `repr` does not suffice: arrays print as their shapes and functions as their addresses.
"""

import dataclasses
import functools
import hashlib
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# Packages whose code is determined by their version, so that functions are identified by name.
_KNOWN = ("pgt", "jax", "jaxlib", "optax", "equinox", "numpy", "jaxtyping", "builtins")
# Longer texts are represented by their digest.
_MAX_SHOWN_LENGTH = 60
_MAX_DEPTH = 60
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

Leaf = tuple[str, str]  # the path of a leaf and its content


def contents(thing: Any) -> dict[str, str]:
    """The content of every leaf of `thing` by path, down to the bytes of arrays and code of functions.

    >>> contents({"steps": 3, "rates": (0.5, None)})
    {'': 'dict', 'steps': '3', 'rates': 'tuple', 'rates.0': '0.5', 'rates.1': 'None'}
    >>> contents(np.zeros(3)) == contents(np.zeros(4)) or contents(np.zeros(2)) == contents(np.ones(2))
    False
    """
    return dict(_leaves(thing, "", ()))


def digest(content: bytes) -> str:
    """A short hash of some bytes."""
    return hashlib.sha256(content).hexdigest()[:16]


def _leaves(thing: Any, path: str, above: tuple[int, ...]) -> Iterator[Leaf]:
    if id(thing) in above or len(above) > _MAX_DEPTH:
        yield path, "the same as above"
        return
    description, parts = _taken_apart(thing)
    yield path, description
    for name, part in parts.items():
        yield from _leaves(part, f"{path}.{name}".lstrip("."), (*above, id(thing)))


def _taken_apart(thing: Any) -> tuple[str, Mapping[str, Any]]:
    """The description of the thing itself, and its parts by name."""
    if thing is None or isinstance(thing, bool | int | float | complex):
        return repr(thing), {}
    if isinstance(thing, str):
        return _short(thing), {}
    if isinstance(thing, bytes):
        return f"bytes {digest(thing)}", {}
    if isinstance(thing, jax.Array | np.ndarray | np.generic):
        return _array(thing)
    if isinstance(thing, types.ModuleType):
        return thing.__name__, {}
    if isinstance(thing, type):
        return _full_name(thing), _methods(thing)
    if isinstance(thing, Mapping):
        return type(thing).__name__, {str(key): value for key, value in thing.items()}
    if isinstance(thing, set | frozenset):
        return " ".join(sorted(map(repr, thing))), {}
    if isinstance(thing, list | tuple) and not hasattr(thing, "_fields"):
        return type(thing).__name__, {str(k): part for k, part in enumerate(thing)}
    return _of_function(thing) if callable(thing) and not _is_record(thing) else _of_object(thing)


def _short(text: str) -> str:
    if len(text) <= _MAX_SHOWN_LENGTH:
        return text
    return f"{text[:_MAX_SHOWN_LENGTH]}… {digest(text.encode())}"


def _array(array) -> tuple[str, Mapping[str, Any]]:
    if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    value = np.asarray(array)
    if value.dtype == object:
        return f"objects {value.shape}", {str(k): part for k, part in enumerate(value.flat)}
    if value.ndim == 0:
        return f"{value.item()!r}", {"dtype": value.dtype.name}
    return f"{value.dtype}{list(value.shape)} {digest(np.ascontiguousarray(value).tobytes())}", {}


def _is_record(thing: Any) -> bool:
    return dataclasses.is_dataclass(thing) or hasattr(thing, "_fields")


def _of_object(thing: Any) -> tuple[str, Mapping[str, Any]]:
    """The class of an instance and its fields; for classes of the user also the methods."""
    cls, fields = type(thing), {}
    if dataclasses.is_dataclass(thing):
        fields = {f.name: getattr(thing, f.name, None) for f in dataclasses.fields(thing)}
    elif hasattr(thing, "_fields"):
        fields = {name: getattr(thing, name) for name in thing._fields}
    elif hasattr(thing, "__dict__"):
        fields = vars(thing)
    else:
        return f"{cls.__name__} {_short(_ADDRESS.sub('', repr(thing)))}", {}
    code = {"class": cls} if _methods(cls) else {}
    return cls.__name__, {**fields, **code}


def _of_function(thing: Any) -> tuple[str, Mapping[str, Any]]:
    """The name or code of a function, and the values that it uses from outside."""
    if isinstance(thing, functools.partial):
        given = {str(k): part for k, part in enumerate(thing.args)} | thing.keywords
        return "partial", {"of": thing.func, **given}
    if isinstance(thing, types.MethodType):
        return "method", {"of": thing.__func__, "self": thing.__self__}
    function = inspect.unwrap(thing)
    if not isinstance(function, types.FunctionType):
        name = getattr(function, "__qualname__", None)
        return (f"{function.__module__}.{name}", {}) if name else _of_object(function)
    defaults = {**dict(enumerate(function.__defaults__ or ())), **(function.__kwdefaults__ or {})}
    used = {f"default {name}": value for name, value in defaults.items()}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    used |= {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    if _is_known(function):
        return _full_name(function), used
    return f"{function.__qualname__} {digest(_code(function.__code__))}", used | _globals(function)


def _globals(function: types.FunctionType) -> dict[str, Any]:
    """The values that a function of the user uses from its module."""
    found = function.__globals__
    return {name: found[name] for name in _names(function.__code__) if name in found}


def _names(code: types.CodeType) -> dict[str, None]:
    """The names that a function and those inside it use."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return dict.fromkeys([*code.co_names, *(name for c in inner for name in _names(c))])


def _is_filled(cell) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:  # not yet
        return False
    return True


def _code(code: types.CodeType) -> bytes:
    """The instructions and constants of a function and of those inside it."""
    constants = [
        _code(c) if isinstance(c, types.CodeType) else _taken_apart(c)[0].encode()
        for c in code.co_consts
        if not (isinstance(c, str) and c == (code.co_consts[:1] or (None,))[0])  # the docstring
    ]
    return b"\0".join([code.co_code, " ".join(code.co_names).encode(), *constants])


def _methods(cls: type) -> dict[str, Any]:
    """The methods of the classes of the user; with other methods an instance is another thing."""
    own = [base for base in reversed(cls.__mro__) if not _is_known(base)]
    found = {name: value for base in own for name, value in vars(base).items()}
    functions = {name: _inside(value) for name, value in found.items()}
    return {
        name: function
        for name, function in functions.items()
        if isinstance(function, types.FunctionType)
        and (not name.startswith("__") or name == "__call__")
    }


def _inside(value: Any) -> Any:
    """The function inside a property, a method or a wrapper."""
    for name in ("fget", "__func__", "method", "__wrapped__"):
        value = getattr(value, name, value)
    return value


def _is_known(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).partition(".")[0] in _KNOWN


def _full_name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
