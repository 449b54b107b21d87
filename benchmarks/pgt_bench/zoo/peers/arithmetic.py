"""The residual of an equation as arithmetic that other array libraries can do.

JAX traces the residual once; what it wrote down, a list of sums, products and functions, is then worked
through with the arrays of another library, such as tensors that PyTorch can differentiate.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend import core

from pgt.core.unknown import resolve
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, requested
from pgt.physics.pde import AbstractPDE

FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs")
OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "neg": operator.neg, "pow": operator.pow,
}  # fmt: skip


@dataclass(frozen=True)
class Arithmetic:
    """`asked`: the fields, derivatives and coordinates it needs; `names`: those of the residuals."""

    asked: tuple[str, ...]
    names: tuple[str, ...]
    traced: Any

    @staticmethod
    def of(pde: AbstractPDE) -> "Arithmetic":
        with jax.enable_x64(True):
            pde = resolve(pde)
            asked, names = requested(pde), []

            def residual(*values):
                rows = pde.residual(DerivativeTable(dict(zip(asked, values, strict=True))))
                names[:] = rows
                return list(rows.values())

            traced = jax.make_jaxpr(residual)(*(jnp.zeros(()) for _ in asked))
        return Arithmetic(asked, tuple(names), traced)

    def __call__(self, values: Mapping[str, Any], library: Any) -> dict[str, Any]:
        """The residuals, given what is asked by name; `library` has sin, exp and so on."""
        inputs = [values[name] for name in self.asked]
        rows = _worked(self.traced.jaxpr, self.traced.consts, inputs, library)
        return dict(zip(self.names, rows, strict=True))

    def laplacian_of(self, name: str) -> str | None:
        """The field whose Laplacian is asked for by this name."""
        return name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else None


def _worked(jaxpr, consts, inputs: list, library) -> list:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, map(_number, consts), strict=True))
    known |= dict(zip(jaxpr.invars, inputs, strict=True))

    def value(atom):
        return _number(atom.val) if isinstance(atom, core.Literal) else known[atom]

    for line in jaxpr.eqns:
        arguments = [value(atom) for atom in line.invars]
        if line.primitive.name in ("pjit", "jit"):
            inner = line.params["jaxpr"]
            results = _worked(inner.jaxpr, inner.consts, arguments, library)
        else:
            results = [_operation(line, library)(*arguments)]
        known |= dict(zip(line.outvars, results, strict=True))
    return [value(atom) for atom in jaxpr.outvars]


def _number(value) -> float:
    return float(value)


def _operation(line, library) -> Callable[..., Any]:
    name = line.primitive.name
    if name == "integer_pow":
        return lambda base: base ** line.params["y"]
    if name in ("convert_element_type", "broadcast_in_dim", "copy"):
        return lambda same, *_: same
    if name in OPERATORS:
        return OPERATORS[name]
    if name in FUNCTIONS:
        return getattr(library, name)
    raise NotImplementedError(
        f"the residual holds the operation {name!r}, which has no counterpart."
    )
