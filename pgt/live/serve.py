"""Starting the server: where it listens, what is said of it, the browser."""

import importlib.util
import socket
import threading
import webbrowser
from collections.abc import Callable

from pgt.ground.errors import InputError
from pgt.live.guard import is_loopback
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
    """A socket that is bound already, so that the address is known and free."""
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
    """What it means to be reachable from elsewhere."""
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
    bound.listen()  # who comes early waits
    say(address)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    uvicorn.Server(config).run(sockets=[bound])
