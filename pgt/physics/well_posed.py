r"""Whether an equation can be followed forward in time.

A wave of number k along an axis grows in $ u_t = a\, \partial^{2m} u $ at the rate $ (-1)^m a\, k^{2m} $:
where that is positive, the shorter a wave the faster it grows, and no field of any use is left. A sign
was mistaken. Only a single field's derivatives with constant coefficients are looked at.
"""

from collections.abc import Iterator

from pgt.core.errors import warn_of
from pgt.physics.affine import Affine
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE


def warn_of_growth(pde: AbstractPDE) -> None:
    """Warn where an equation in words is ill-posed forward in time, with the line to write instead."""
    if isinstance(pde, Equation):
        for text, doubt in _doubts(pde):
            warn_of(f"the equation '{text}' {doubt}")


def _doubts(pde: Equation) -> Iterator[tuple[str, str]]:
    space = [axis for axis in pde.coords if axis != "t"]
    for text, form in zip(pde.texts, pde.forms(), strict=True):
        field = _driven(form)
        wrong = [] if field is None else [*_growing(form, field, space)]
        if field is not None and wrong:
            grows = f"with this sign of {field}_{wrong[0]} short waves grow without bound"
            line = _mended(form, field, wrong)
            yield text, f"is ill-posed forward in time: {grows}. Write {line}"


def _driven(form: Affine) -> str | None:
    """The field of which the equation gives the first time derivative, where it is one."""
    timed = [(name, letters) for name, letters in form.derivatives if "t" in letters]
    if len(timed) != 1 or timed[0][1] != "t" or not form.linear.get(timed[0]):
        return None
    return timed[0][0]


def _growing(form: Affine, field: str, space: list[str]) -> Iterator[str]:
    """The derivatives along an axis that let short waves grow: of the highest even order, unless other
    fields or products have one as high."""
    for axis in space:
        orders = [
            len(letters) for name, letters in form.linear
            if name == field and letters and set(letters) == {axis} and len(letters) % 2 == 0
        ]  # fmt: skip
        order = max(orders, default=0)
        rivals = form.others | {d for d in form.linear if d[0] != field}
        if not order or any(len(letters) >= order for _, letters in rivals):
            continue
        rate = -form.linear[field, order * axis] / form.linear[field, "t"]
        if rate * (-1) ** (order // 2) > 0:
            yield order * axis


def _mended(form: Affine, field: str, wrong: list[str]) -> str:
    """The equation with the other sign where it was wrong, as it can be written."""
    first, terms = form.linear[field, "t"], []
    for (name, letters), value in form.linear.items():
        if letters != "t" and value:
            factor = (value if name == field and letters in wrong else -value) / first
            terms.append(f"{factor:.6g}*{name}_{letters}" if letters else f"{factor:.6g}*{name}")
    if form.constant:
        terms.append(f"{-form.constant / first:.6g}")
    line = f"{field}_t = {' + '.join(terms)}".replace("+ -", "- ")
    return f"'{line} + ...', the other terms as they are." if form.varies else f"'{line}'."
