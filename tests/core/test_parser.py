"""Trees from text: what is refused, where the caret points, and that nothing else escapes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgt.core.errors import InputError
from pgt.core.parser import (
    MAX_LENGTH,
    Binary,
    Call,
    Name,
    Number,
    Vector,
    from_book_notation,
    parse,
    parse_equation,
)


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text(alphabet="xyu_t0123456789.eE+-*/^()= ,sincolap\n", max_size=80),
    )
)
def test_garbage_only_ever_raises_input_error(text):
    for parser in (parse, parse_equation):
        try:
            parser(text)
        except InputError:
            continue


def test_deep_brackets_and_endless_texts_are_refused():
    for hostile in ("(" * 5000, "-" * 5000 + "1", "sin(" * 2000, "2^" * 3000 + "2"):
        with pytest.raises(InputError, match="nested more than"):
            parse(hostile)
    with pytest.raises(InputError, match="too long"):
        parse("1" * (MAX_LENGTH + 1))


@pytest.mark.parametrize(
    ("text", "message", "caret"),
    [
        ("2 * ", "end of the text", 4),
        ("2 * (x + 1", r"expected `\)`", 10),
        ("x + @", "Cannot read the character '@'", 4),
        ("x y", "expected an operator", 2),
        ("sine(x)", "Did you mean 'sin'", 0),
        ("u(x)", "Write `\\*` for a product", 0),
        ("sin x", "expected `\\(` after the function name 'sin'", 4),
        ("exp*x", "function name 'exp'; a coefficient needs another name", 3),
        ("1e999", "too large", 0),
        ("x = 1", "Found '='", 2),
        ("lap(u)", "Unknown function 'lap'", 0),
        ("", "end of the text", 0),
    ],
)
def test_errors_point_at_the_place(text, message, caret):
    with pytest.raises(InputError, match=message) as caught:
        parse(text)
    *_, shown, marker = str(caught.value).split("\n")
    assert shown == "    " + text
    assert marker.index("^") == 4 + caret


@pytest.mark.parametrize(
    ("text", "message"),
    [("u_t", "expected `=`"), ("u_t == 0", "Found '=='"), ("a = b = c", "Found '='")],
)
def test_equations_need_exactly_one_equals_sign(text, message):
    with pytest.raises(InputError, match=message):
        parse_equation(text)


def test_equations_know_vector_calculus_and_formulas_do_not():
    assert parse_equation("lap(u) = 0") == Binary("-", Call("lap", Name("u")), Number(0.0))
    both = Vector((Name("u"), Name("v")))
    assert parse_equation("div((u, v)) = 0") == Binary("-", Call("div", both), Number(0.0))
    for text in ("lap(u)", "(u, v)", "sin(u, v)"):
        with pytest.raises(InputError):
            parse(text)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("dT/dt = alpha*d2T/dx2", "T_t = alpha*T_xx"),
        ("∂u/∂t + u·∂u/∂x = ν·∂²u/∂x²", "u_t + u*u_x = ν*u_xx"),
        ("d^2u/dx^2 + d^2u/dy^2 = f", "u_xx + u_yy = f"),
        ("∂²u/∂x∂y − d4w / dx4 = 0", "u_xy - w_xxxx = 0"),
        ("d2u/dx dy = 0", "u_xy = 0"),
        ("u_t = a × ∇²u", "u_t = a * lap(u)"),
        ("u_t = ∇^2(u) + laplacian(u^2)", "u_t = lap(u) + lap(u^2)"),
        ("u_t = ∇·(k*grad(u)) − x²", "u_t = div(k*grad(u)) - x^2"),
    ],
)
def test_what_books_write(written, plain):
    assert from_book_notation(written) == plain
    parse_equation(written)


@pytest.mark.parametrize(
    ("text", "hint"), [("u' = -u", "u_t, u_xx"), ("a = 1; b = 2", "of its own")]
)
def test_signs_that_are_not_read_have_a_hint(text, hint):
    with pytest.raises(InputError, match=hint):
        parse_equation(text)


def test_formulas_know_functions_of_two_and_equations_do_not():
    assert parse("atan2(y, x)") == Binary("atan2", Name("y"), Name("x"))
    least = Binary("min", Binary("min", Name("x"), Name("y")), Number(3.0))
    assert parse("min(x, y, 3)") == least
    for text in ("max(x)", "atan2(x, y, 1)", "min", "max(x, )", "atan2(y x)"):
        with pytest.raises(InputError):
            parse(text)
    with pytest.raises(InputError, match="Unknown function 'max'"):
        parse_equation("u_t = max(u, 0)")
