"""The API of the studio, as part of ``gradraker serve``: access, types, and refused parameters."""

import base64
from typing import Any

import numpy as np
import pytest
import requests

from gradraker import NodeRegressor
from gradraker.attributes.reading import read_attributes_file
from gradraker.io.readers import read_edges, read_values
from studio_service import StudioService, Watched

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def service(tmp_path_factory: Any) -> Any:
    journal = tmp_path_factory.mktemp("journal") / "live.db"
    with StudioService("--demo", "--journal", journal, command="serve") as running:
        yield running


def test_service_serves_the_page_and_its_files(service: Any) -> None:
    page = service.ask("studio")
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert "http" not in page.text
    assert service.ask("studio/main.js").headers["content-type"].startswith("text/javascript")
    assert service.ask("studio/studio.css").status_code == 200
    assert service.ask("studio/../pyproject.toml").status_code == 404
    assert 'href="studio"' in service.ask("").text


def test_demo_of_a_service_has_the_map_and_the_unit(service: Any) -> None:
    graph = service.wait_until_ready().ask("studio/api/graph").json()
    assert graph["coordinates"] == ["east", "north"]
    assert graph["unit"] == "°C"


@pytest.mark.parametrize(
    "path",
    [
        "node?node=nobody",
        "node",
        "graph?kind=everything",
        "graph?kind=around&node=nobody",
        "graph?kind=community&community=-1",
        "columns?which=secrets",
        "search?text=",
        "sigma2/split?d=0",
        "sigma2/split?d=1000000",
        "sigma2/curve?eta=1",
        "sigma2/curve?eta=nan",
        "sigma2/rules?e=1000",
        "replay?seed=-1",
        "snapshot?d=x",
    ],
)
def test_wrong_parameters_are_refused(service: Any, path: str) -> None:
    answer = service.ask(f"studio/api/{path}")
    assert answer.status_code == 422
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"node": "Davos"},
        {"node": "Davos", "links": {}},
        {"node": "Davos", "links": {"nobody": 1.0}},
        {"node": "Davos", "links": {"Arosa": "much"}},
        {"node": "Davos", "links": {"Arosa": 1e300}},
        {"node": "Davos", "links": {"Arosa": 1.0}, "more": 1},
    ],
)
def test_wrong_links_are_refused(service: Any, body: Any) -> None:
    address = f"{service.url}/studio/api/imagine"
    assert requests.post(address, json=body, timeout=60).status_code == 422


def test_stream_of_the_service_needs_its_token(service: Any) -> None:
    address = f"{service.url}/studio/api/stream"
    assert requests.post(address, json={"on": True}, timeout=60).status_code == 401


def test_requests_of_other_sites_are_refused(service: Any) -> None:
    body: dict[str, Any] = {"node": "Davos", "links": {"Arosa": 1.0}}
    headers = {"Origin": "https://example.org"}
    answer = requests.post(
        f"{service.url}/studio/api/imagine", json=body, headers=headers, timeout=60
    )
    assert answer.status_code == 403
    host = requests.get(
        f"{service.url}/studio/api/graph", headers={"Host": "evil.example"}, timeout=60
    )
    assert host.status_code == 421


def test_search_finds_names(service: Any) -> None:
    assert service.ask("studio/api/search?text=DAV").json() == {"nodes": ["Davos"]}


@pytest.mark.browser
def test_page_of_a_service_asks_for_the_token_before_changes(service: Any, look: Any) -> None:
    page = look(service, "node=Davos&view=graph")
    page.wait_for_selector("#token")
    assert page.locator("#new-value").count() == 0
    page.fill("#token", "what the service printed")
    page.wait_for_timeout(2500)  # values arrive meanwhile, and leave the field alone
    assert page.input_value("#token") == "what the service printed"
    page.click("#use-token")
    page.wait_for_selector("#new-value")


@pytest.mark.browser
def test_an_answer_on_its_way_leaves_the_field_alone_in_which_the_user_types(
    service: Any, look: Any
) -> None:
    page = look(service, "node=Davos&view=graph")
    page.wait_for_selector("#token")
    held: list[Any] = []
    is_typed = False

    def hold(route: Any) -> None:
        if is_typed:
            route.continue_()
        else:
            held.append(route)

    page.route("**/studio/api/node*", hold)
    while not held:  # until a value arrives, and the page asks for the weights again
        page.wait_for_timeout(50)
    page.fill("#token", "what the service printed")
    is_typed = True
    with page.expect_response("**/studio/api/node*"):
        for route in held:
            route.continue_()
    page.wait_for_timeout(300)
    assert page.input_value("#token") == "what the service printed"
    assert page.get_attribute("#panel", "data-state") is None
    page.focus("#search")  # the field is left, and the panel is refreshed
    page.wait_for_selector("#panel[data-state]")
    page.wait_for_function("document.querySelector('#token').value === ''")


def test_attributes_are_learned_and_their_coordinates_drawn(files: Any, tmp_path: Any) -> None:
    edges, values = files
    table = tmp_path / "attributes.csv"
    rows = [f"node {i:02d},{i},{i % 5},{'a' if i % 2 else 'b'}" for i in range(40)]
    table.write_text("node,lon,lat,kind\n" + "\n".join(rows) + "\n", encoding="utf-8")
    words = ("--edges", edges, "--values", values, "--attributes", table, "--undirected")
    with StudioService(*words) as service:
        graph = service.ask("studio/api/graph").json()
        assert graph["coordinates"] == ["lon", "lat"]
        x = np.frombuffer(base64.b64decode(graph["x"]), "<f4")
        order = [int(name.split()[1]) for name in graph["names"]]
        assert (np.diff(x[np.argsort(order)]) > 0.0).all()
        attributes = read_attributes_file(table)
        model = NodeRegressor().fit(
            read_edges(edges), read_values(values), attributes=attributes, directed=False
        )
        shown = np.frombuffer(base64.b64decode(graph["columns"]["prediction"]), "<f8")
        expected = model.predict(graph["names"])
        np.testing.assert_allclose(shown, expected, atol=1e-8)
        assert service.ask("studio/api/replay").json()["arrivals"]
    # A service draws them as well, also after a restart, when it reads no files.
    for _ in range(2):
        with StudioService(*words, "--journal", tmp_path / "a.db", command="serve") as service:
            assert service.ask("studio/api/graph").json()["coordinates"] == ["lon", "lat"]


@pytest.mark.browser
def test_a_service_that_starts_empty_shows_its_graph_once_it_has_one(
    tmp_path: Any, chromium: Any
) -> None:
    words = ("--journal", tmp_path / "live.db", "--token", "a long token")
    with StudioService(*words, command="serve") as service:
        watched = Watched(chromium.new_context(), service.url)
        watched.page.goto(f"{service.url}/studio")
        watched.page.wait_for_selector("text=the service has no graph yet")
        changes = [
            {"op": "put_edge", "source": "a", "target": "b", "weight": 1},
            {"op": "put_value", "node": "a", "value": 2.0},
        ]
        headers = {"Authorization": "Bearer a long token"}
        sent: Any = {"changes": changes}
        answer = requests.post(f"{service.url}/changes", json=sent, headers=headers, timeout=60)
        assert answer.status_code == 200
        watched.page.wait_for_selector("#facts:has-text('2 nodes, 1 known')", timeout=60_000)
        watched.close()


def test_page_asks_for_the_token_where_everything_needs_it(
    files: Any, chromium: Any, tmp_path: Any
) -> None:
    edges, values = files
    token = ("--token", "a long token", "--token-for", "all")
    words = ("--edges", edges, "--values", values, "--journal", tmp_path / "live.db", *token)
    with StudioService(*words, command="serve") as service:
        page = chromium.new_context().new_page()
        page.goto(f"{service.url}/studio#node=node+03")
        page.fill("#token", "a wrong token")
        page.click("#use-token")
        page.wait_for_selector("#status:has-text('token is wrong')")
        page.fill("#token", "a long token")
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-ready]")
        page.wait_for_selector("#sum")
        page.fill("#new-value", "7")
        page.click("#give")
        page.wait_for_selector("#moves:has-text('predictions moved')")  # events come as well
        page.goto(f"{service.url}/")  # the same tab knows the token
        page.wait_for_selector("#learned td:has-text('7')")
        page.context.close()


def test_a_wrong_token_for_changes_can_be_corrected(files: Any, chromium: Any, ring: Any) -> None:
    page = chromium.new_context().new_page()
    page.goto(f"{ring.url}/studio#node=node+03&token=wrong")
    page.wait_for_selector("#sum")
    page.fill("#new-value", "7")
    page.click("#give")
    page.fill("#token", ring.token)
    page.click("#use-token")
    assert page.is_visible("#give")
    page.context.close()
