"""The server of the live page: where it listens, and which requests it answers."""

import importlib.util
import socket
import threading
import webbrowser
from collections.abc import Callable
from ipaddress import ip_address

from pgt.core.errors import InputError
from pgt.live.session import Session

NEEDED = ("starlette", "uvicorn")


def check_packages() -> None:
    """One sentence where the packages of the page are not installed."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise InputError(
            f"the live page needs {' and '.join(missing)}: "
            "pip install 'physics-guided-transformer[live]'"
        )


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, so that its address is known and reserved."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        bound = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(f"--host {host}: this machine knows no such name or address.") from None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise InputError(
            f"cannot listen at {host}, port {port} ({error.strerror or error}); name another with "
            "--port, or 0 for any that is free."
        ) from None
    return bound


def address_of(bound: socket.socket, host: str) -> str:
    """The address to open on this machine."""
    name = "localhost" if host in ("0.0.0.0", "::") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{bound.getsockname()[1]}/"


def warning_of(host: str) -> str | None:
    """A warning if other machines can reach the server."""
    if is_loopback(host):
        return None
    return (
        f"listening at {host}: everyone who can reach this machine can open the page, see its "
        "readings and keep it busy. There is no password."
    )


def serve(
    session: Session,
    bound: socket.socket,
    host: str,
    say: Callable[[str], None],
    open_browser: bool = True,
) -> None:
    """Serve until the process is stopped."""
    import uvicorn

    from pgt.live.app import live_app

    app = live_app(session, host)
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off", ws="none")
    address = address_of(bound, host)
    bound.listen()  # early connections wait
    say(address)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    uvicorn.Server(config).run(sockets=[bound])


# ------------------------------------------------------------------------------- who may ask


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
