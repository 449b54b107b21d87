"""The server's routes: files, the setup, answers, and the state of a stream."""

from collections.abc import Callable
from importlib import resources

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pgt.core.errors import InputError
from pgt.live.server import refusal
from pgt.live.session import Session, read_request

FILES = {  # by path: the package and the name of the file, its type
    "/": ("pgt.live", "page.html", "text/html"),
    "/live.css": ("pgt.live", "live.css", "text/css"),
    "/panel.js": ("pgt.live", "panel.js", "text/javascript"),
    "/live.js": ("pgt.live", "live.js", "text/javascript"),
    "/page.css": ("pgt.report", "page.css", "text/css"),
    "/drawing.js": ("pgt.report", "drawing.js", "text/javascript"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
MAX_REQUEST_BYTES = 200_000  # about a thousand sensors
MAX_READ_BYTES = 100_000_000  # of a request that is too large, so that the sender gets an answer
MAX_WAIT_SECONDS = 1.0  # before the state of a stream without news is sent


class Guarded:
    """Answers requests of the page itself, and no others."""

    def __init__(self, app: ASGIApp, bound: str):
        self.app, self.bound = app, bound

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            reason = refusal(headers.get("host"), headers.get("origin"), self.bound)
            if reason is not None:
                await _trouble(reason, 403)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def live_app(session: Session, bound: str = "127.0.0.1") -> Starlette:
    """The application for a session, on a server that is bound to this name."""
    setup = session.setup()

    async def tell_setup(request: Request) -> Response:
        return _told(setup)

    async def answer(request: Request) -> Response:
        if "application/json" not in request.headers.get("content-type", ""):
            return _trouble("send JSON, with Content-Type: application/json.")
        return await _tried(lambda text: session.answer(read_request(text, session.rig)), request)

    async def stream(request: Request) -> Response:
        seen = request.query_params.get("seen", "-1")
        return await run_in_threadpool(_state, session, seen)

    routes = [Route(path, _file(*where)) for path, where in FILES.items()]
    routes += [
        Route("/setup", tell_setup),
        Route("/answer", answer, methods=["POST"]),
        Route("/stream", stream),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guarded, bound=bound)])


def _file(package: str, name: str, kind: str) -> Callable:
    content = resources.files(package).joinpath(name).read_bytes()

    async def send(request: Request) -> Response:
        return Response(content, media_type=kind, headers=HEADERS)

    return send


async def _tried(work: Callable[[bytes], dict], request: Request) -> Response:
    """The answer, or one sentence; a failure of the model has the status of a server error."""
    try:
        return _told(await run_in_threadpool(work, await _body(request)))
    except InputError as error:
        return _trouble(str(error))
    except ClientDisconnect:
        return _trouble("the page went away.")
    except Exception as error:
        return _trouble(f"the model failed: {type(error).__name__}: {str(error)[:200]}", 500)


async def _body(request: Request) -> bytes:
    """The body of a request of acceptable size."""
    kept, count = bytearray(), 0
    async for part in request.stream():
        count += len(part)
        if count <= MAX_REQUEST_BYTES:
            kept += part
        elif count > MAX_READ_BYTES:
            break
    if count > MAX_REQUEST_BYTES:
        raise InputError(f"more than {MAX_REQUEST_BYTES} bytes are too many: send fewer sensors.")
    return bytes(kept)


def _state(session: Session, seen: str) -> Response:
    if session.stream is None:
        return _trouble("no readings arrive here: start it with --stream.", 404)
    if not seen.removeprefix("-").isdecimal() or len(seen) > 15:
        return _trouble("seen: the number of lines that you know is wanted.")
    return _told(session.stream.state(int(seen), MAX_WAIT_SECONDS))


def _told(content: dict) -> JSONResponse:
    return JSONResponse(content, headers=HEADERS)


def _trouble(sentence: str, status: int = 400) -> JSONResponse:
    return JSONResponse({"trouble": sentence}, status, headers=HEADERS)
