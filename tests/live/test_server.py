"""The server: where it listens, and which requests it answers."""

import importlib.util
import socket

import httpx
import live_rigs
import live_server
import pytest
import uvicorn

from pgt.core.errors import InputError
from pgt.live import server as module
from pgt.live.server import (
    address_of,
    check_packages,
    is_loopback,
    listen,
    refusal,
    serve,
    warning_of,
)
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


HERE = "127.0.0.1"


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.3.2.1", "::1"])
def test_names_of_this_machine(name):
    assert is_loopback(name)


@pytest.mark.parametrize("name", ["0.0.0.0", "::", "192.168.0.7", "localhost.evil.example", ""])
def test_other_names(name):
    assert not is_loopback(name)


@pytest.mark.parametrize("host", ["localhost:80", "LOCALHOST", "127.0.0.1:8010", "[::1]:8010"])
def test_the_page_itself_may_ask(host):
    assert refusal(host, None, HERE) is None
    assert refusal(host, f"http://{host}", HERE) is None


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:8010", "127.0.0.1.evil.example", "192.168.0.7:8010",
     "localhost@evil.example", "[::2]:8010", "[::1", "0.0.0.0:8010"],
)  # fmt: skip
def test_names_that_others_let_point_here(host):
    assert "open it as localhost" in refusal(host, None, HERE)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "http://localhost:9999", "http://localhost", "file://"],
)
def test_other_pages_may_not_ask(origin):
    assert "only the page itself" in refusal("localhost:8010", origin, HERE)


def test_opened_to_others_it_is_known_by_addresses_and_its_own_names():
    for name in ("192.168.0.7:8010", "[fe80::1]:8010", socket.gethostname(), "localhost:1"):
        assert refusal(name, None, "0.0.0.0") is None
    assert "not served under the name 'evil.example'" in refusal("evil.example", None, "0.0.0.0")
    assert refusal("lab.example:1", None, "lab.example") is None
