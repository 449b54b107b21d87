"""Who may ask: the page itself, under a name of this machine.

A page of another site can send requests to a server on this machine, and by a name that it lets point
here (DNS rebinding) could even read the answers. Such requests carry a foreign origin or a foreign name.
"""

import socket
from ipaddress import ip_address

LOCAL = "localhost"


def is_loopback(name: str) -> bool:
    """Whether only programs on this machine can reach the name.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    return name == LOCAL or (_is_address(name) and ip_address(name).is_loopback)


def refusal(host: str | None, origin: str | None, bound: str) -> str | None:
    """Why a request with these headers is not answered by a server bound to this name; None if it is.

    >>> refusal("127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1")
    >>> refusal("evil.example:8000", None, "127.0.0.1")
    "this page is not served under the name 'evil.example'; open it as localhost."
    """
    name = _name(host or "")
    if not _is_ours(name, bound):
        shown = LOCAL if is_loopback(bound) else bound
        return f"this page is not served under the name {name[:80]!r}; open it as {shown}."
    ours = tuple(f"{scheme}://{host}".lower() for scheme in ("http", "https"))
    if origin is not None and origin.lower() not in ours:
        return f"requests from {origin[:80]!r} are refused: only the page itself may ask."
    return None


def _is_ours(name: str, bound: str) -> bool:
    if is_loopback(name):
        return True
    if is_loopback(bound):
        return False
    # Opened to others on purpose: they come by an address, which nobody can let point elsewhere.
    return _is_address(name) or name in (bound.lower(), socket.gethostname().lower())


def _name(host: str) -> str:
    """Without the port; `[::1]:80` is an address of version 6."""
    if host.startswith("[") and "]" in host:
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
