"""The server's routes: files, answers, and one sentence for everything that goes wrong."""

import asyncio
import re

import httpx
import live_rigs
import pytest

from pgt.live import app as module
from pgt.live.app import FILES, live_app
from pgt.live.session import Session
from pgt.live.stream import Stream

HERE = "http://127.0.0.1:8010"
PLACES = [[0.1, 0.2], [0.3, 0.7], [0.5, 0.4], [0.2, 0.9]]


class Client:
    """Asks an application without a server."""

    def __init__(self, session):
        self.transport = httpx.ASGITransport(live_app(session))

    async def _ask(self, method, path, **how):
        async with httpx.AsyncClient(transport=self.transport, base_url=HERE) as client:
            return await client.request(method, path, **how)

    def get(self, path, **how):
        return asyncio.run(self._ask("GET", path, **how))

    def post(self, path, **how):
        return asyncio.run(self._ask("POST", path, **how))


@pytest.fixture(scope="module")
def rod():
    return Client(Session(live_rigs.rod()))


def test_files_are_served_with_a_strict_policy(rod):
    for path, (_, _, kind) in FILES.items():
        found = rod.get(path)
        assert found.status_code == 200
        assert found.headers["content-type"].startswith(kind)
        assert "default-src 'none'" in found.headers["content-security-policy"]
        assert found.headers["x-content-type-options"] == "nosniff"


def test_nothing_is_fetched_from_elsewhere(rod):
    for path in FILES:
        addresses = re.findall(r"https?://[^\s'\"]+", rod.get(path).text)
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a name, not a place


def test_there_is_nothing_else(rod):
    for path in ("/app.py", "/../pyproject.toml", "/favicon.ico", "/%2e%2e/app.py"):
        assert rod.get(path).status_code == 404
    assert rod.get("/answer").status_code == 405


def test_an_answer(rod):
    found = rod.post("/answer", json={"sensors": PLACES, "noise": 0.1})
    assert found.status_code == 200
    assert found.json()["readings"] == 4
    assert rod.get("/setup").json()["fields"] == ["u"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b'{"sensors": [[NaN, 0]]}', "not a pair of finite numbers"),
        (b'{"sensors": [0.5]}', "not a pair of finite numbers"),
        (b'{"coefficients": {"mass": 1}}', "there is no 'mass'"),
        (b'{"sensors": [' + b"[0,0]," * 10**6 + b"[0,0]]}", "send fewer sensors"),
        (b'{"sensors": [' + b"[0,0]," * 1500 + b"[0,0]]}", "1501 are too many"),
        (b"{}", "put at least one sensor"),
    ],
)
def test_bad_wishes_are_answered_with_a_sentence(rod, content, said):
    found = rod.post("/answer", content=content, headers={"content-type": "application/json"})
    assert found.status_code == 400
    assert said in found.json()["trouble"]
    assert "Traceback" not in found.text


def test_too_much_is_not_read_to_the_end(rod, monkeypatch):
    monkeypatch.setattr(module, "MAX_READ_BYTES", 300_000)
    found = rod.post("/answer", content=b"1" * 10**6, headers={"content-type": "application/json"})
    assert found.status_code == 400


def test_only_json_is_taken(rod):
    assert rod.post("/answer", data={"sensors": "1"}).status_code == 400
    assert "send JSON" in rod.post("/answer", content=b"{}").json()["trouble"]


def test_a_model_that_fails_is_one_sentence():
    session = Session(live_rigs.rod())
    session.rig.answer = lambda *_: 1 / 0
    found = Client(session).post("/answer", json={"sensors": PLACES})
    assert found.status_code == 500
    assert found.json() == {"trouble": "the model failed: ZeroDivisionError: division by zero"}


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}],
)
def test_others_are_refused(rod, headers):
    for found in (
        rod.post("/answer", json={"sensors": PLACES}, headers=headers),
        rod.get("/setup", headers=headers),
        rod.get("/", headers=headers),
    ):
        assert found.status_code == 403
        assert set(found.json()) == {"trouble"}
    own = {"origin": HERE}
    assert rod.post("/answer", json={"sensors": PLACES}, headers=own).status_code == 200


def test_the_state_of_a_stream(rod, monkeypatch):
    assert rod.get("/stream").status_code == 404
    monkeypatch.setattr(module, "MAX_WAIT_SECONDS", 0.01)
    rig = live_rigs.rod()
    stream = Stream(rig)
    page = Client(Session(rig, stream))
    assert page.get("/stream").json()["lines"] == 0
    stream.read([b"x,t,u\n", b"0.5,0.5,1\n", b"0.5,0.5,one\n"])
    state = page.get("/stream?seen=3").json()
    assert (state["readings"], state["bad"], state["ended"]) == (1, 1, True)
    assert state["named"] == ["line 3: u = 'one' is not a finite number"]
    assert page.post("/answer", json={}).json()["readings"] == 1
    for seen in ("x", "1.5", "9" * 50, "²"):
        assert page.get("/stream", params={"seen": seen}).status_code == 400
