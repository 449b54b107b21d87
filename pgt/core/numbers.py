"""Numbers as people write them."""

import math

MAX_DIGITS = 12
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3, unit: str = "") -> str:
    """The text of a number with a few significant digits and its unit.

    >>> number(-0.0000123456, unit="m/s"), number(1234.5), number(0.25)
    ('−1.23 × 10⁻⁵ m/s', '1230', '0.25')
    """
    value = float(value)
    if not math.isfinite(value):
        text = "not finite"
    else:
        power = math.floor(math.log10(abs(value))) if value else 0
        if -4 <= power < max(5, digits):
            text = f"{round(value, digits - 1 - power):.{max(digits - 1 - power, 0)}f}"
            text = text.rstrip("0").rstrip(".") if "." in text else text
        else:
            mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
            mantissa = mantissa.rstrip("0").rstrip(".")
            text = f"{mantissa} × 10{superscript(int(exponent))}"
    return " ".join(filter(None, (text.replace("-", "−"), unit)))


def interval(low: float, high: float) -> str:
    """The text of an interval, with enough digits to distinguish numbers inside it.

    >>> interval(0.0, 2 / 3), interval(3456043.9, 3457923.4)
    ('0 to 0.6667', '3456044 to 3457923')
    """
    digits = digits_between(low, high, 4)
    return f"{low:.{digits}g} to {high:.{digits}g}"


def digits_between(low: float, high: float, least: int = 3) -> int:
    """The number of digits that distinguish numbers between two bounds; more where those are far from 0.

    >>> digits_between(0.0, 1.0), digits_between(5412345.0, 5412346.0)
    (3, 9)
    """
    far, apart = max(abs(low), abs(high)), abs(high - low)
    if not (math.isfinite(far) and 0 < apart < math.inf):  # of the largest numbers it overflows
        return least
    return least + min(max(math.floor(math.log10(far / apart)), 0), MAX_DIGITS - least)


def superscript(exponent: int) -> str:
    return str(exponent).translate(RAISED)


def percent(share: float) -> str:
    """The text of a share in percent, with a non-breaking space.

    >>> percent(0.0123), percent(0.5)
    ('1.2\\xa0%', '50\\xa0%')
    """
    return number(100 * share, 2) + "\N{NO-BREAK SPACE}%"


def listed(words) -> str:
    """The words joined by commas and "and".

    >>> listed(["u", "v", "p"])
    'u, v and p'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` round positions between two bounds.

    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * m for m in (1, 2, 5) if size * m >= 0.99 * rough), 10 * size)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    found = [float(f"{k * step:.12g}") for k in range(first, last + 1)]
    return ticks(low, high, count + 1) if len(found) < 3 and count < 9 else found
