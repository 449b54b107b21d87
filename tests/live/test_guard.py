"""Who may ask."""

import socket

import pytest

from pgt.live.guard import is_loopback, refusal

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
