"""The explorer's endpoints: what they answer is what the folder says, as JSON and as pages."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from harmonium import ModelFolder
from harmonium.explore import Settings, make_app
from tests.cases.explore import SCRIPT

PAGES = [
    "/",
    "/topics",
    "/topics/0",
    "/items/0",
    "/search",
    "/columns",
    "/columns/0",
    "/columns/2",
    "/table",
    "/table?column:price=50..80&q=dirty&sort=-column:price&n=5",
    "/search?q=dirty",
    "/annotate",
    "/annotate?column.review=clean+quiet",
]


@pytest.fixture(scope="module")
def folder(rooms: ModelFolder) -> ModelFolder:
    return rooms


@pytest.fixture(scope="module")
def client(folder: ModelFolder) -> TestClient:
    return TestClient(make_app(folder))


def got(client: TestClient, address: str) -> Any:
    response = client.get(address)
    assert response.status_code == 200, response.text
    return response.json()


def posted(client: TestClient, address: str, **body: Any) -> Any:
    response = client.post(address, json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_index_says_what_the_folder_holds(client: TestClient, folder: ModelFolder) -> None:
    about = got(client, "/index.json")
    assert about["title"] == "rooms"
    assert about["items"]["n"] == len(folder)
    assert about["asked_by"] == ["review", "tags", "price"]
    assert [entry["by"] for entry in about["colourings"] if entry["group"] == "target"] == ["column:kind"]


def test_map_has_all_items_where_the_folder_has_them(client: TestClient, folder: ModelFolder) -> None:
    places = got(client, "/map.json")
    x, y = np.array(places["x"]) / 65535 * 2 - 1, 1 - np.array(places["y"]) / 65535 * 2
    np.testing.assert_allclose(np.stack([x, y], axis=1), folder.map, atol=1e-4)


def test_values_by_class_tag_number_and_topic(client: TestClient, folder: ModelFolder) -> None:
    offered = {entry["by"]: entry["kind"] for entry in got(client, "/index.json")["colourings"]}
    assert offered.items() >= {"column:kind": "class", "column:tags": "tags", "column:price": "number"}.items()
    assert "column:review" not in offered
    by_class = got(client, "/values.json?by=column:kind")
    assert [by_class["names"][value] for value in by_class["values"]] == folder.items["kind"].tolist()
    tags = got(client, "/values.json?by=column:tags")
    written = ["|".join(sorted(tags["names"][tag] for tag in row)) for row in tags["values"]]
    assert written == folder.items["tags"].tolist()
    prices = got(client, "/values.json?by=column:price")["values"]
    np.testing.assert_allclose(prices, folder.items["price"], rtol=1e-5)
    topic = next(by for by in offered if by.startswith("topic"))
    values = got(client, f"/values.json?by={topic}")["values"]
    np.testing.assert_allclose(values, folder.topic_coordinates[:, int(topic.partition(":")[2])], rtol=1e-5)


def test_search_by_words_columns_and_items(client: TestClient, folder: ModelFolder) -> None:
    expected = folder.search("dirty rude", 5)["row"].tolist()
    by_words = got(client, "/search.json?q=dirty+rude&n=5")
    assert [card["row"] for card in by_words["items"]] == expected
    assert {card["target"]["kind"] for card in by_words["items"]} == {"bad"}
    assert posted(client, "/search.json", query="dirty rude", n=5)["items"] == by_words["items"]
    best = by_words["items"][0]
    assert {word.lower() for word in best["matched"]} == {"dirty", "rude"}
    assert str(folder.passages("dirty rude", expected[:1])[0]) == best["passage"]
    page = client.get("/search?q=dirty+rude&n=5").text
    assert "<mark>dirty</mark>" in page and "<mark>rude</mark>" in page
    by_tag = posted(client, "/search.json", query={"tags": "dear"}, n=4)
    assert {card["target"]["kind"] for card in by_tag["items"]} == {"good"}
    assert got(client, "/search.json?column.tags=dear&n=4")["items"] == by_tag["items"]
    like = got(client, "/search.json?like=5&n=3")["items"]
    assert [card["row"] for card in like] == folder.nearest(5, 3)["row"].tolist()
    assert {card["passage"] for card in like} == {None}  # nothing was typed


def test_predictions_topics_and_annotations_are_those_of_the_folder(client: TestClient, folder: ModelFolder) -> None:
    items = [{"review": "clean quiet view"}, {"tags": "cheap|old", "price": 50}, {"tags": ["new"], "review": None}]
    found = posted(client, "/predict.json", items=items)["predictions"]
    assert [row["prediction"] for row in found] == ["good", "bad", "good"]
    assert found[0]["probability"] == pytest.approx(
        folder.predict({"review": "clean quiet view"})["probability"][0], abs=0.2
    )
    found = posted(client, "/transform.json", items=items)
    assert np.array(found["coordinates"]).shape == (3, folder.model.n_components_)
    assert len(found["map"]["x"]) == len(found["map"]["y"]) == 3
    tags = posted(client, "/annotate.json", items=items[:1], view="tags", top=2)["annotations"][0]
    assert {entry["label"] for entry in tags} == {"dear", "new"}


def test_annotate_describes_an_item_by_what_is_known_of_it(client: TestClient) -> None:
    found = got(client, "/annotate.json?column.review=dirty+rude+noisy")
    assert found["prediction"]["prediction"] == "bad"
    assert {entry["label"] for entry in found["annotations"]["tags"][:2]} == {"cheap", "old"}
    assert "review" not in found["annotations"]
    assert found["notices"] == []  # columns that are left out are meant to be
    assert {card["target"]["kind"] for card in found["similar"]} == {"bad"}
    similar, places = [card["row"] for card in found["similar"]], got(client, "/map.json")
    for axis in "xy":
        near = np.array(places[axis])[similar]
        assert near.min() - 655 <= found["map"][axis][0] <= near.max() + 655  # a hundredth of the map
    page = client.get("/annotate?column.review=dirty+rude+noisy").text
    assert f'data-new="{found["map"]["x"][0]},{found["map"]["y"][0]}"' in page


def test_selection_says_what_is_special(client: TestClient, folder: ModelFolder) -> None:
    good = np.flatnonzero(folder.items["kind"] == "good").tolist()
    found = posted(client, "/selection.json", rows=good)
    assert found["n"] == len(good)
    assert found["target"]["classes"] == [{"name": "good", "share": 1.0}]
    mean = folder.coordinates.mean(axis=0)
    for topic in found["topics"]:
        expected = (folder.coordinates[good].mean(axis=0) - mean) / folder.coordinates.std(axis=0)
        assert topic["ahead"] == pytest.approx(expected[topic["topic"]], rel=1e-4)
    assert {card["row"] for card in found["items"]} <= set(good)


def test_differences_are_correlations_with_being_selected(client: TestClient, folder: ModelFolder) -> None:
    rows = [*range(0, 40, 2), 1, 3, 5]
    chosen = np.isin(np.arange(len(folder)), rows)
    found = posted(client, "/selection.json", rows=rows)["differences"]
    items = folder.items
    kinds = {entry["kind"] for entry in found}
    assert kinds == {"topic", "word", "column"}
    for entry in found:
        if entry["kind"] == "word":
            has = items["review"].str.contains(rf"\b{entry['name']}\b", case=False).to_numpy(dtype=float)
        elif entry["kind"] == "topic":
            has = folder.topic_coordinates[:, int(entry["by"].partition(":")[2])].astype(float)
        elif entry["value"] is None:
            has = items[entry["name"]].to_numpy(dtype=float)
        else:
            has = items[entry["name"]].str.contains(entry["value"], regex=False).to_numpy(dtype=float)
        assert entry["selected"] == pytest.approx(has[chosen].mean(), rel=1e-4)
        assert entry["rest"] == pytest.approx(has[~chosen].mean(), rel=1e-4)
        assert entry["correlation"] == pytest.approx(np.corrcoef(has, chosen)[0, 1], rel=1e-4)
    sizes = [abs(entry["correlation"]) for entry in found]
    assert sizes == sorted(sizes, reverse=True)
    assert posted(client, "/selection.json", rows=list(range(len(folder))))["differences"] == []


def test_table_has_the_rows_that_pandas_finds(client: TestClient, folder: ModelFolder) -> None:
    items = folder.items
    expected = items[items["price"].between(60, 95) & (items["kind"] == "good") & items["review"].str.contains("quiet")]
    expected = expected.sort_values("price", ascending=False)
    asked = "column:price=60..95&column:kind=good&column:review=QUIET&sort=-column:price"
    found = got(client, f"/table.json?{asked}&n=200")
    assert len(expected) == found["total"] > 3
    assert [row["row"] for row in found["rows"]] == expected.index.tolist()
    page = got(client, f"/table.json?{asked}&n=2&offset=2")
    assert [row["row"] for row in page["rows"]] == expected.index[2:4].tolist()
    by_words = got(client, "/table.json?q=cheap+dirty&n=200")["rows"]
    has = items["review"].str.contains("dirty") & items["tags"].str.contains("cheap")
    assert [row["row"] for row in by_words] == np.flatnonzero(has).tolist()
    written = pd.read_csv(io.StringIO(client.get(f"/table.csv?{asked}").text), index_col="row")
    pd.testing.assert_frame_equal(written, expected, check_names=False, check_dtype=False)


def test_a_lasso_holds_the_items_inside_it(client: TestClient, folder: ModelFolder) -> None:
    places = np.array([got(client, "/map.json")[axis] for axis in "xy"])
    left, top = np.median(places, axis=1).astype(int)
    inside = np.flatnonzero((places[0] < left) & (places[1] < top))
    found = got(client, f"/table.json?lasso=-9,-9 {left},-9 {left},{top} -9,{top}&n=200")
    assert [row["row"] for row in found["rows"]] == inside.tolist()
    assert len(inside)


def test_columns_say_what_they_hold_and_go_with(client: TestClient, folder: ModelFolder) -> None:
    items = folder.items
    review, tags, price, kind = got(client, "/columns.json")["columns"]
    assert (review["kind"], review["role"], kind["is_target"]) == ("text", "words", True)
    assert {bar["label"]: bar["n"] for bar in kind["distribution"]["bars"]} == {"bad": 40, "good": 40}
    assert {bar["label"]: bar["n"] for bar in tags["distribution"]["bars"]} == dict.fromkeys(
        ("cheap", "old", "dear", "new"), 40
    )
    assert sum(bar["n"] for bar in price["distribution"]["bars"]) == len(folder)
    assert price["distribution"]["numbers"]["median"] == pytest.approx(items["price"].median())
    page = got(client, "/columns/2.json")
    by_name = {entry["name"]: entry for entry in page["columns"]}
    eta = np.abs(np.corrcoef(items["price"], items["kind"] == "good")[0, 1])  # two classes: |r|
    assert by_name["kind"]["size"] == pytest.approx(eta)
    assert abs(by_name["tags"]["size"]) == pytest.approx(eta)
    topic = page["topics"][0]
    r = np.corrcoef(items["price"], folder.topic_coordinates[:, topic["topic"]])[0, 1]
    assert topic["size"] == pytest.approx(r, rel=1e-4)
    assert got(client, f"/topics/{topic['topic']}.json")["columns"]


def test_pictures_are_those_of_the_folder(client: TestClient, folder: ModelFolder) -> None:
    response = client.get("/pictures/2.png")
    assert (response.headers["content-type"], response.content) == ("image/png", folder.thumbnails[2])
    assert client.get("/pictures/3.png").status_code == 404
    assert client.get("/pictures/99999.png").status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_a_json_twin_and_escapes_content(client: TestClient, page: str) -> None:
    response = client.get(page)
    assert response.status_code == 200
    assert SCRIPT not in response.text
    assert 'style="' not in response.text  # which the policy would keep from working
    path, _, query = page.partition("?")
    twin = f"{'/index' if path == '/' else path}.json" + (f"?{query}" if query else "")
    assert f'href="{twin.replace("&", "&amp;")}"' in response.text
    assert got(client, twin)


def test_a_review_with_a_script_is_shown_as_text(client: TestClient) -> None:
    page = client.get("/items/0").text
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(" in page
    asked = client.get("/search", params={"q": f'"><script>{SCRIPT}'})
    assert "<script>" not in asked.text.replace('<script type="module"', "")
    assert got(client, "/items/0.json")["values"]["review"].startswith(SCRIPT)


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/topics/99.json", 404, "from 0 to 3"),
        ("/topics/x.json", 404, "whole number"),
        ("/items/80.json", 404, "from 0 to 79"),
        ("/items/-1.json", 404, "whole number"),
        ("/search.json?n=0&q=dirty", 422, "from 1 to 100"),
        ("/search.json?q=dirty&like=3", 422, "several"),
        ("/search.json?q=dirty&q=rude", 422, "once"),
        ("/search.json?strange=1", 422, "strange"),
        ("/search.json?q=xyzzy", 422, "vocabulary"),
        ("/annotate.json?column.price=dear", 422, "price must be a number"),
        ("/annotate.json?column.price=nan", 422, "up to 1e15"),
        ("/search.json?column.price=1e400", 422, "up to 1e15"),
        ("/values.json?by=column:../secret", 422, "one of"),
        ("/values.json", 422, "must have by"),
        ("/columns/4.json", 404, "from 0 to 3"),
        ("/table.json?column:price=dear", 422, "a range of numbers"),
        ("/table.json?column:kind=middling", 422, "one of 'bad', 'good'"),
        ("/table.json?sort=colour", 422, "sort must be"),
        ("/table.json?lasso=1,2+3,4", 422, "3 to 200 corners"),
        ("/table.csv?n=no", 422, "whole number"),
        ("/nothing.json", 404, "nothing at this address"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(
    client: TestClient, address: str, status: int, words: str
) -> None:
    response = client.get(address)
    assert (response.status_code, words in response.json()["error"]) == (status, True), response.text


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/predict.json", b"not json", 400),
        ("/predict.json", b"[" * 100_000, 400),
        ("/predict.json", b'{"items": [{"price": NaN}]}', 400),
        ("/predict.json", b'{"items": [{"price": 1e999}]}', 422),
        ("/predict.json", b'{"items": [{"price": 1%b}]}' % (b"0" * 400), 422),
        ("/predict.json", b"[]", 422),
        ("/predict.json", b"{}", 422),
        ("/predict.json", b'{"items": []}', 422),
        ("/predict.json", b'{"items": [{}]}', 422),
        ("/predict.json", b'{"items": [{"colour": "red"}]}', 422),
        ("/predict.json", b'{"items": [{"review": {"a": 1}}]}', 422),
        ("/selection.json", b'{"rows": [80]}', 422),
        ("/selection.json", b'{"rows": [true]}', 422),
        ("/search.json", b'{"query": 7}', 422),
        ("/annotate.json", b'{"items": [{"review": "clean"}], "view": "none"}', 422),
    ],
)
def test_bodies_that_cannot_be_read_are_refused(client: TestClient, path: str, body: bytes, status: int) -> None:
    response = client.post(path, content=body)
    assert (response.status_code, "error" in response.json()) == (status, True), response.text


@pytest.mark.parametrize(
    "path",
    [
        "/annotate?column.price=much",
        "/annotate?what=1",
        "/search?column.price=much",
        "/search?n=no",
        "/topics/99",
        "/items/999",
    ],
)
def test_pages_tell_what_cannot_be_answered(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert 400 <= response.status_code < 500 and 'role="alert"' in response.text


def test_halves_of_characters_and_long_texts_are_read(client: TestClient) -> None:
    body = json.dumps({"items": [{"review": "clean \ud800"}, {"review": "dirty " * 50_000}]})
    found = client.post("/predict.json", content=body)
    assert [row["prediction"] for row in found.json()["predictions"]] == ["good", "bad"]


def test_nothing_can_be_written(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for method in ("PUT", "DELETE", "PATCH"):
        for path in paths:
            answer = client.request(method, path.replace("{topic}", "0").replace("{row}", "0").replace("{column}", "0"))
            assert answer.status_code in (404, 405) and "/openapi.json" in answer.json()["error"]


def test_openapi_describes_what_answers(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"]
            if method == "get":
                needed = [p for p in operation["parameters"] if p["required"] and p["in"] == "query"]
                address = path.replace("{topic}", "0").replace("{row}", "0").replace("{column}", "0")
                answer = client.get(address, params={p["name"]: p["schema"]["enum"][0] for p in needed})
                assert answer.status_code == 200
                required = operation["responses"]["200"]["content"]["application/json"]["schema"]["required"]
                assert set(required) <= set(answer.json())


def test_a_service_has_no_pages(folder: ModelFolder) -> None:
    service = TestClient(make_app(folder, Settings(pages=False)))
    assert service.get("/topics").status_code == 404
    assert service.get("/topics.json").status_code == 200
    assert service.get("/healthz").json() == {"status": "ok"}


def test_requests_are_counted_over_processes(folder: ModelFolder, tmp_path: Path) -> None:
    both = [TestClient(make_app(folder, Settings(metrics_folder=tmp_path))) for _ in range(2)]
    for client, number in zip(both, (2, 3), strict=True):
        for _ in range(number):
            client.get("/topics.json")
    client.get("/topics/99.json")
    text = both[0].get("/metrics").text
    assert 'harmonium_requests_total{endpoint="/topics.json",status="2xx"} 5' in text
    assert 'harmonium_requests_total{endpoint="/topics/{topic}.json",status="4xx"} 1' in text
    assert 'harmonium_request_seconds_count{endpoint="/topics.json"} 5' in text
