"""Who may ask the explorer, how much and how often, and what browsers may do with its pages."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from starlette.testclient import TestClient

from harmonium import ModelFolder
from harmonium.explore import Settings, make_app, settings_for
from harmonium.explore.server import _address
from harmonium.explore.serving.middleware import RateLimiter
from tests.cases.repository import ROOT


@pytest.fixture(scope="module")
def folder(rooms: ModelFolder) -> ModelFolder:
    return rooms


def test_browsers_run_nothing_that_is_inline(folder: ModelFolder) -> None:
    client = TestClient(make_app(folder))
    for address in ("/", "/index.json", "/nothing", "/static/map.js", "/pictures/0.png"):
        headers = client.get(address).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2Fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/%2Fetc%2Fpasswd",
        "/pictures/..%2F..%2Fmodel.json",
        "/pictures/0.png/../../model.json",
        "/model.json",
        "/static/map.js%00.css",
    ],
)
def test_no_other_file_can_be_reached(folder: ModelFolder, path: str) -> None:
    response = TestClient(make_app(folder)).get(path)
    assert response.status_code == 404
    assert set(response.json()) == {"error"}


def test_long_bodies_and_addresses_are_refused(folder: ModelFolder) -> None:
    client = TestClient(make_app(folder, Settings(most_bytes=1000)))
    assert client.post("/predict.json", content=b" " * 1001).status_code == 413
    assert client.post("/predict.json", content=(b" " * 100 for _ in range(11))).status_code == 413  # without a length
    assert client.post("/predict.json", json={"items": [{"review": "clean"}]}).status_code == 200
    assert client.get("/search.json", params={"q": "x" * 60_000}).status_code == 414


def test_a_client_that_asks_too_often_has_to_wait(folder: ModelFolder) -> None:
    client = TestClient(make_app(folder, Settings(rate=0.5)))
    answers = [client.get("/healthz") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_supplies_grow_again_and_old_clients_are_forgotten() -> None:
    rates = RateLimiter(2.0, 4)
    assert [rates.wait("one", now=10.0) for _ in range(5)] == [0, 0, 0, 0, 1]
    assert rates.wait("other", now=10.0) == 0
    assert [rates.wait("one", now=11.0) for _ in range(3)] == [0, 0, 1]
    for number in range(20_000):
        rates.wait(str(number), now=12.0)
    assert len(rates.clients) == 10_000


def test_a_token_is_asked_for_and_becomes_a_cookie(folder: ModelFolder) -> None:
    client = TestClient(make_app(folder, Settings(token="open-sesame")), follow_redirects=False)
    assert client.get("/").status_code == 401
    assert client.get("/index.json").json().keys() == {"error"}
    assert client.get("/?token=wrong").status_code == 401
    assert client.get("/healthz").status_code == 200
    assert client.get("/", headers={"authorization": "Bearer open-sesame"}).status_code == 200
    assert client.get("/", headers={"authorization": "Bearer open-sesam\u00e9".encode("latin-1")}).status_code == 401
    entered = client.get("/topics?token=open-sesame&x=1")
    assert (entered.status_code, entered.headers["location"]) == (303, "/topics?x=1")
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=Strict" in entered.headers["set-cookie"]
    assert client.get("/topics").status_code == 200  # by the cookie


@pytest.mark.parametrize("token", ["a b;c", 'quote"s\\', "clé", "ключ", "100%25", "a+b/c==", "🗝", " inner "])
def test_a_token_may_have_any_letters(folder: ModelFolder, token: str) -> None:
    client = TestClient(make_app(folder, settings_for("0.0.0.0", token, pages=True, rate=0)), follow_redirects=False)
    for bearer in (token.encode(), quote(token).encode()):
        assert client.get("/", headers={"authorization": b"Bearer " + bearer}).status_code == 200
    assert (
        client.get("/", headers={"authorization": b"Bearer " + token[:-1].strip().encode() + b"x"}).status_code == 401
    )
    entered = client.get("/", params={"token": token})
    assert (entered.status_code, token.strip() in entered.headers["set-cookie"]) == (303, False)
    assert client.get("/topics").status_code == 200


@pytest.mark.parametrize("token", ["", " ", "a\nb", "\x00"])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="A token must have letters"):
        settings_for("0.0.0.0", token, pages=True, rate=0)


def test_a_token_leads_to_no_other_server(folder: ModelFolder) -> None:
    client = TestClient(make_app(folder, Settings(token="t")), follow_redirects=False)
    response = client.get("http://testserver//evil.example/?token=t")
    assert response.headers["location"] == "/evil.example/"


def test_names_of_other_servers_are_refused_on_this_machine(folder: ModelFolder) -> None:
    app = make_app(folder, settings_for("127.0.0.1", None, pages=True, rate=0))
    for name, status in (
        ("localhost", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:80", 200),
        ("[::1].evil", 421),
        ("[::1]evil:80", 421),
        ("localhost:80:evil", 421),
        ("localhost:port", 421),
        ("[::1", 421),
        ("evil.example", 421),
        ("", 421),
    ):
        assert TestClient(app).get("/healthz", headers={"host": name}).status_code == status, name


def test_only_this_machine_goes_without_a_token() -> None:
    assert settings_for("127.0.0.1", None, pages=True, rate=0).token is None
    assert settings_for("::1", None, pages=True, rate=0).token is None
    assert len(settings_for("0.0.0.0", None, pages=True, rate=0).token or "") > 20
    assert settings_for("192.168.0.7", "mine", pages=True, rate=0).token == "mine"
    assert settings_for("0.0.0.0", None, pages=False, rate=0, open_to_all=True).token is None
    # behind a proxy, which asks by the name that it has itself
    assert settings_for("127.0.0.1", None, pages=False, rate=0, open_to_all=True).hosts is None
    assert parse_qs(urlsplit(_address("::1", 80, "a+b/c==")).query) == {"token": ["a+b/c=="]}


def test_faults_show_no_insides(folder: ModelFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = make_app(folder)
    monkeypatch.setattr(ModelFolder, "search", lambda *_: 1 / 0)
    response = TestClient(app, raise_server_exceptions=False).get("/search.json?q=dirty")
    assert response.status_code == 500
    assert "ZeroDivision" not in response.text
    assert str(ROOT) not in response.text
