"""Saving and loading of PyTrees: arrays as safetensors, structure as JSON; loading never runs code.

`<name>.safetensors` is complete by itself: the structure is in its header, so that a save is atomic and a
crash never mixes two. `<name>.json` is a copy for people to read. A checksum covers the whole file: it is
refused if one bit has changed.
"""

import dataclasses
import hashlib
import json
import math
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy

from pgt.core.errors import InputError
from pgt.core.files import in_one_piece, require_writable
from pgt.core.registry import registered_classes

VERSION = 1
_TRUSTED = ("pgt", "optax", "equinox.nn")  # the packages whose classes a file may name
_MAX_DEPTH = 100
_NATIVE = {"bool", "float16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_AS_BYTES = {"complex64", "complex128", "bfloat16"}  # stored as bytes along an additional last axis


def save(directory: str | os.PathLike, name: str, obj: Any, *, copy: bool = True) -> None:
    """Write `obj` to `<name>.safetensors`, and with `copy` its structure to `<name>.json` for people.

    Each file is replaced atomically.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> save(folder, "state", {"step": 3, "bounds": (0.0, math.inf)})
    >>> load(folder, "state")
    {'step': 3, 'bounds': (0.0, inf)}
    """
    directory = Path(directory)
    structure, arrays = to_files(obj)
    text = json.dumps(structure, allow_nan=False)
    header = {"pgt": text, "sha256": _checksum(text, arrays)}
    require_writable(directory, "name another folder")
    _replace(directory / f"{name}.safetensors", safetensors.numpy.save(arrays, header))
    if copy:
        text = json.dumps(structure, allow_nan=False, indent=1)
        _replace(directory / f"{name}.json", text.encode())


def exists(directory: str | os.PathLike, name: str) -> bool:
    """Whether `save` has written `name` into `directory`."""
    return (Path(directory) / f"{name}.safetensors").is_file()


def load(directory: str | os.PathLike, name: str, classes: Collection[type] = ()) -> Any:
    """The object that `save` wrote; `classes` are your own classes that the file may contain."""
    path = Path(directory) / f"{name}.safetensors"
    if not exists(directory, name):
        raise InputError(f"{path}: no such file; give the folder and name it was saved as.")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        structure = json.loads(header["pgt"])
    except KeyError:
        raise InputError(f"{path}: this safetensors file was not written by pgt.") from None
    except (safetensors.SafetensorError, OSError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: damaged or cut short ({error}); use another copy.") from None
    try:
        _check_format(structure)
        if header.get("sha256") != _checksum(header["pgt"], arrays):
            raise InputError("damaged: its checksum does not match; use another copy.")
        return from_files(structure, arrays, classes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _checksum(structure: str, arrays: Mapping[str, np.ndarray]) -> str:
    """The checksum of the structure as text and of every array with its name, type and shape."""
    code = hashlib.sha256(structure.encode())
    for name in sorted(arrays):
        array = arrays[name]
        code.update(f"{name}\n{array.dtype} {array.shape}\n".encode(errors="surrogatepass"))
        code.update(array.tobytes())
    return code.hexdigest()


def to_files(obj: Any) -> tuple[dict, dict[str, np.ndarray]]:
    """`obj` as a JSON-able structure and the arrays that it names."""
    arrays: dict[str, np.ndarray] = {}
    root = _encode(obj, "", 0, arrays)
    return {"format": "pgt", "version": VERSION, "root": root}, arrays


def from_files(
    structure: Any, arrays: Mapping[str, np.ndarray], classes: Collection[type] = ()
) -> Any:
    """The object that `to_files` took apart."""
    _check_format(structure)
    used: set[str] = set()
    try:
        obj = _decode(structure["root"], 0, _Source(arrays, tuple(classes), used))
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"the structure is damaged ({type(error).__name__}: {error}).") from None
    if used != set(arrays):
        raise InputError(f"arrays that do not belong here: {sorted(set(arrays) - used)}.")
    return obj


def _check_format(structure: Any) -> None:
    if not isinstance(structure, dict) or structure.get("format") != "pgt":
        raise InputError("the structure was not written by pgt.")
    version = structure.get("version")
    if version != VERSION:
        raise InputError(
            f"format version {version!r}; this pgt reads version {VERSION}. "
            "Load it with the pgt that wrote it, or install the latest one."
        )


def _encode(obj, path: str, depth: int, arrays) -> Any:
    if depth > _MAX_DEPTH:
        raise InputError(f"cannot save {path[:50]}…: nested too deeply, or it contains itself.")
    if obj is None or type(obj) in (bool, int, str):
        return obj
    if type(obj) is float:
        return obj if math.isfinite(obj) else {"is": "float", "value": repr(obj)}
    if isinstance(obj, jax.Array | np.ndarray | np.generic):
        return _encode_array(obj, path, arrays)

    def inner(value, step):
        return _encode(value, path + step, depth + 1, arrays)

    if type(obj) is list:
        return [inner(v, f"[{k}]") for k, v in enumerate(obj)]
    if type(obj) is tuple:
        return {"is": "tuple", "items": [inner(v, f"[{k}]") for k, v in enumerate(obj)]}
    if type(obj) is dict:
        if any(type(key) is not str for key in obj):
            raise InputError(f"cannot save {path or 'the dict'}: the keys of a dict must be text.")
        return {"is": "dict", "items": {k: inner(v, f"[{k!r}]") for k, v in obj.items()}}
    if not _is_record(type(obj)):
        _refuse(obj, path)
    cls = type(obj)
    module, name = _stored_name(cls)
    if _is_trusted(module):
        _find_class(module, name, ())  # raises now if the class could not be loaded again
    fields = {field: inner(getattr(obj, field), f".{field}") for field in _field_names(cls)}
    return {"is": "object", "module": module, "class": name, "fields": fields}


def _encode_array(obj, path, arrays):
    node: dict[str, Any] = {"is": "array", "kind": "numpy", "key": path.lstrip(".") or "value"}
    if isinstance(obj, jax.core.Tracer):
        raise InputError(f"cannot save {node['key']} while JAX traces it: save outside jit.")
    if isinstance(obj, jax.Array) and jnp.issubdtype(obj.dtype, jax.dtypes.prng_key):
        node |= {"kind": "key", "implementation": str(jax.random.key_impl(obj))}
        obj = jax.random.key_data(obj)
    elif isinstance(obj, jax.Array):
        # A weak type decides how a number is promoted, so that resuming needs it.
        node |= {"kind": "jax"} | ({"weak": True} if obj.weak_type and obj.ndim == 0 else {})
    elif isinstance(obj, np.generic):
        node["kind"] = "scalar"
    elif type(obj) is not np.ndarray:
        _refuse(obj, path)
    value = np.array(obj, dtype=obj.dtype.newbyteorder("="), order="C")
    if value.dtype.name in _AS_BYTES:
        node["dtype"] = value.dtype.name
        value = np.frombuffer(value.tobytes(), np.uint8).reshape(*value.shape, value.itemsize)
    elif value.dtype.name not in _NATIVE:
        raise InputError(
            f"cannot save {node['key']}: arrays of {value.dtype} are not supported; "
            "convert it to numbers first."
        )
    arrays[node["key"]] = value
    return node


def _refuse(obj, path):
    if callable(obj) and not isinstance(obj, type):
        remedy = "give a function as text, such as 'sin(pi*x)', or make it an eqx.Module class."
    else:
        remedy = (
            "stored are numbers, text, arrays, tuples, lists, dicts and eqx.Module, dataclass and "
            "NamedTuple instances (of your own class with `classes=[...]` on loading)."
        )
    kind = ".".join(_stored_name(type(obj)))
    raise InputError(f"cannot save {path.lstrip('.') or 'the object'}, a {kind}: {remedy}")


def _replace(path: Path, content: bytes) -> None:
    """Replace the file `path` by `content` atomically."""
    with in_one_piece(path) as temporary:
        temporary.write_bytes(content)


@dataclasses.dataclass(frozen=True)
class _Source:
    arrays: Mapping[str, np.ndarray]
    classes: tuple[type, ...]
    used: set[str]


def _decode(node, depth: int, source: _Source) -> Any:
    if depth > _MAX_DEPTH:
        raise InputError(f"the structure is nested deeper than {_MAX_DEPTH} levels.")
    if node is None or type(node) in (bool, int, float, str):
        return node
    if type(node) is list:
        return [_decode(item, depth + 1, source) for item in node]
    kind = node["is"]
    if kind == "float":
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[node["value"]]
    if kind == "tuple":
        return tuple(_decode(item, depth + 1, source) for item in node["items"])
    if kind == "dict":
        return {key: _decode(item, depth + 1, source) for key, item in node["items"].items()}
    if kind == "array":
        return _decode_array(node, source)
    if kind == "object":
        fields = node["fields"].items()
        cls = _find_class(node["module"], node["class"], source.classes)
        return _build(cls, {name: _decode(item, depth + 1, source) for name, item in fields})
    raise InputError(f"the structure is damaged: unknown kind {kind!r}.")


def _decode_array(node, source: _Source):
    key, kind = node["key"], node["kind"]
    if key not in source.arrays:
        raise InputError(f"the array {key!r} is missing; structure and arrays do not match.")
    source.used.add(key)
    value = source.arrays[key]
    if "dtype" in node:
        if node["dtype"] not in _AS_BYTES:
            raise InputError(f"the array {key!r} has the unknown type {node['dtype']!r}.")
        value = np.frombuffer(value.tobytes(), jnp.dtype(node["dtype"])).reshape(value.shape[:-1])
    if kind == "key":
        return jax.random.wrap_key_data(jnp.asarray(value), impl=node["implementation"])
    if kind == "scalar":
        return value[()]
    if kind == "numpy":
        return value
    converted = jnp.asarray(value.item() if node.get("weak") else value)
    # Without 64-bit mode JAX would round float64 to float32: rather stay numpy than lose digits.
    return converted if converted.dtype == value.dtype else value


def _find_class(module: str, name: str, classes: tuple[type, ...]) -> type:
    """The class of that name among `classes` and the trusted packages already imported."""
    if not _is_trusted(module):
        # By name alone: a module is called __main__ where it is run, and otherwise where it is imported.
        own = [cls for cls in classes if _is_record(cls) and cls.__qualname__ == name]
        own += [cls for cls in registered_classes() if _stored_name(cls) == (module, name)]
        if not own:
            raise InputError(
                f"the file contains a {module}.{name}, which is not a class of pgt. If it is your "
                f"own, pass it on loading, classes=[{name.rpartition('.')[2]}], or register it by "
                "pgt.extend.register."
            )
        return own[0]
    imported = tuple(sys.modules)
    places = [key for key in imported if _of_pgt(key)] if module == "pgt" else [module]
    for place in places:
        # A plain dictionary look-up: no import, no attribute hook of a module.
        found = vars(sys.modules[place]).get(name) if place in sys.modules else None
        if isinstance(found, type) and _is_record(found) and _stored_name(found) == (module, name):
            return found
    raise InputError(f"{module}.{name} is not a class that this version of pgt can store.")


def _stored_name(cls) -> tuple[str, str]:
    """The module and the name of a class in a file.

    The module of a class of pgt is just "pgt", because no two of them have the same name; so a file can
    be loaded after the class has moved to another module.
    """
    return "pgt" if _of_pgt(cls.__module__) else cls.__module__, cls.__qualname__


def _of_pgt(module: str) -> bool:
    return f"{module}.".startswith("pgt.")


def _is_trusted(module: str) -> bool:
    return f"{module}.".startswith(tuple(f"{package}." for package in _TRUSTED))


def _is_record(cls) -> bool:
    is_named_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return issubclass(cls, eqx.Module) or dataclasses.is_dataclass(cls) or is_named_tuple


def _field_names(cls) -> tuple[str, ...]:
    if issubclass(cls, tuple):
        return getattr(cls, "_fields")  # noqa: B009
    return tuple(field.name for field in dataclasses.fields(cls))


def _defaults(cls) -> dict[str, Any]:
    """The fields with a plain default, which an older file may lack."""
    if issubclass(cls, tuple):
        return {}
    found = {field.name: field.default for field in dataclasses.fields(cls)}
    return {name: value for name, value in found.items() if value is not dataclasses.MISSING}


def _build(cls, fields: dict[str, Any]):
    """An instance with these fields, made without running any of the class's own code."""
    names = _field_names(cls)
    fields = _defaults(cls) | fields
    if set(fields) != set(names):
        different = ", ".join(sorted(set(fields) ^ set(names)))
        raise InputError(
            f"the fields of {cls.__qualname__} have changed since it was written ({different})."
        )
    if issubclass(cls, tuple):
        return tuple.__new__(cls, [fields[name] for name in names])
    obj = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(obj, name, value)
    return obj
