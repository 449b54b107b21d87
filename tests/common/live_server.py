"""A live page that is really served, for as long as a test needs it."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from pgt.live.app import live_app
from pgt.live.server import address_of, listen

SECONDS = 20


@contextmanager
def served(session):
    """The address of the page."""
    bound = listen("127.0.0.1", 0)
    bound.listen()
    config = uvicorn.Config(live_app(session), log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield address_of(bound, "127.0.0.1")
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        bound.close()


def wait_until(true):
    limit = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)
