"""Where the page listens, and what is said of it."""

import importlib.util
import socket

import httpx
import live_rigs
import live_server
import pytest
import uvicorn

from pgt.ground.errors import InputError
from pgt.live import serve as module
from pgt.live.serve import address_of, check_packages, listen, serve, warning_of
from pgt.live.session import Session


def test_missing_packages_are_named_with_the_line_that_brings_them(monkeypatch):
    check_packages()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError) as caught:
        check_packages()
    assert "starlette and uvicorn: pip install 'physics-guided-transformer[live]'" in str(
        caught.value
    )


def test_a_port_that_is_taken_is_told():
    with listen("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} .* another with --port, or 0"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no.such.name.invalid", "a" * 100, "300.1.1.1"])
def test_a_host_that_is_none_is_told(host):
    with pytest.raises(InputError, match=r"--host .* knows no such name|cannot listen at"):
        listen(host, 0)


@pytest.mark.parametrize(
    ("host", "start"),
    [
        ("127.0.0.1", "http://127.0.0.1:"),
        ("0.0.0.0", "http://localhost:"),
        ("::1", "http://[::1]:"),
    ],
)
def test_the_address_to_open(host, start):
    try:
        bound = listen(host, 0)
    except InputError:
        assert ":" in host  # a machine without version 6
        return
    with bound:
        assert address_of(bound, host) == f"{start}{bound.getsockname()[1]}/"


def test_others_are_warned_of():
    assert warning_of("127.0.0.1") is None
    assert warning_of("localhost") is None
    assert "There is no password" in warning_of("0.0.0.0")


@pytest.mark.parametrize("browser", [True, False])
def test_it_says_where_it_is_and_opens_the_browser(monkeypatch, browser):
    opened, said, ran = [], [], []
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: ran.append(sockets))
    with listen("127.0.0.1", 0) as bound:
        serve(Session(live_rigs.rod()), bound, "127.0.0.1", said.append, open_browser=browser)
        assert said == [address_of(bound, "127.0.0.1")]
        assert ran == [[bound]]
    if browser:
        live_server.wait_until(lambda: opened)
    assert opened == (said if browser else [])


def test_a_served_page_answers_and_refuses():
    with live_server.served(Session(live_rigs.rod())) as address:
        sensors = {"sensors": [[0.1, 0.2], [0.3, 0.7]]}
        assert httpx.post(f"{address}answer", json=sensors).json()["readings"] == 2
        assert httpx.get(address, headers={"host": "evil.example"}).status_code == 403
        many = httpx.post(f"{address}answer", json={"sensors": [[0, 0]] * 10**6}, timeout=60)
        assert many.status_code == 400
        assert "send fewer sensors" in many.json()["trouble"]
        host, port = address.removeprefix("http://").strip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as raw:
            raw.sendall(b"nonsense\r\n\r\n")
            assert b"400" in raw.recv(100)
