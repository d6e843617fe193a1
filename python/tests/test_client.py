"""superarm.Client against a service of its own, and against a server that fails in every way."""
import http.server
import json
import os
import subprocess
import threading
import time

import numpy as np
import pytest

import superarm

PROGRAM = os.environ.get("SUPERARM")


@pytest.fixture
def service(tmp_path):
    if not PROGRAM or subprocess.run([PROGRAM, "serve", "--help"], capture_output=True).returncode:
        if os.environ.get("CI"):
            raise AssertionError("superarm serve is not there, and CI is set")
        pytest.skip("this build has no service")
    port = tmp_path / "port"
    server = subprocess.Popen([PROGRAM, "serve", "--dir", str(tmp_path / "shop"), "--port", "0", "--port-file", str(port), "--quiet"], stdout=subprocess.DEVNULL)
    try:
        give_up = time.monotonic() + 30
        while not port.exists() and time.monotonic() < give_up:
            time.sleep(0.01)
        yield superarm.Client(f"http://127.0.0.1:{port.read_text().strip()}")
    finally:
        server.kill()
        server.wait()


def test_sides_and_slates_of_others(service):
    contexts = [[0, 1], [1, 0], [0.5, 0.5]]
    service.put_agent("sides", {"algorithm": "comblin-ucb", "dim": 2}, slate=2, default_feedback=0, wait_seconds=0, mode="shadow", rewards={"click": 1, "order": 9})
    held = service.decide("sides", contexts, user="u1", baseline=[2, 0], activate=False)
    assert (held["side"], held["slate"], len(held["agent_slate"])) == ("shadow", [2, 0], 2)
    service.feedback("sides", held["event"], [{"click": 1, "order": 1}, None])
    assert service.agent("sides")["counts"]["held"] == 1
    service.activate("sides", held["event"])
    service.activate("sides", None)
    shown = service.shown("sides", [1], contexts, event="a/b", propensity=0.5)
    assert (shown["side"], shown["slate"], shown["propensity"]) == ("shown", [1], 0.5)
    service.feedback("sides", "a/b", {"1": {"click": 1}})
    [row] = service.history("sides")
    assert (row["sums"]["sides"]["shadow"]["reward"], row["sums"]["sides"]["shown"]["reward"]) == (10, 1)
    assert len(service.history("sides", 0)) == 1


def test_an_event_from_decision_to_log(service, tmp_path):
    assert service.ready()
    made = service.put_agent("home", {"algorithm": "cn-ucb", "dim": 3, "hidden": 8}, slate=2, default_feedback=0, wait_seconds=0)
    assert made["model"] == 1
    contexts = np.random.default_rng(1).normal(size=(6, 3))
    answer = service.decide("home", contexts, event="e/1 ü")
    assert answer == service.decide("home", contexts, event="e/1 ü") and len(answer["slate"]) == 2
    service.feedback("home", "e/1 ü", np.array([1.0, 0.0]))
    service.feedback("home", "e/1 ü", [1, 0])
    other = service.decide("home", contexts.tolist(), slate=1, exclude=[0, 1], explain=True)
    assert len(other["slate"]) == len(other["widths"]) == 1 and other["slate"][0] > 1 and len(other["event"]) == 32
    lines = list(service.log("home"))
    assert [line["event"] for line in lines] == ["e/1 ü", other["event"]] and lines[0]["feedback"] == [1, 0]
    assert np.array_equal(np.array(lines[0]["contexts"]), contexts), "numbers come back bit for bit"
    service.erase("home", "e/1 ü")
    with pytest.raises(superarm.ServiceError, match="no event") as caught:
        service.feedback("home", "e/1 ü", [1, 0])
    assert caught.value.status == 404 and caught.value.code == "not_found"
    (tmp_path / "home.npz").write_bytes(service.model("home"))
    assert superarm.Agent.load(tmp_path / "home.npz").counts["observations"] == 2
    service.put_agent("cart", {"algorithm": "cn-ucb", "dim": 3, "hidden": 8}, slate=2, default_feedback=None)
    service.put_model("cart", (tmp_path / "home.npz").read_bytes())
    assert service.agent("cart")["counts"]["observations"] == 2
    service.delete_agent("cart")
    assert [agent["name"] for agent in service.agents()] == ["home"]


def test_wrong_input_is_told(service):
    service.put_agent("home", {"dim": 2, "hidden": 4}, default_feedback=0)
    with pytest.raises(superarm.ServiceError, match="dim is 2"):
        service.decide("home", [[1, 2, 3]])
    with pytest.raises(ValueError):
        service.decide("home", [[float("nan"), 1]])
    with pytest.raises(TypeError, match="no form in JSON"):
        service.decide("home", [object()])
    with pytest.raises(superarm.ServiceError, match="no agent"):
        service.agent("none")
    with pytest.raises(ValueError, match="not an address"):
        superarm.Client("127.0.0.1:8080")


def test_threads_share_a_client(service):
    service.put_agent("home", {"dim": 2, "hidden": 4}, slate=1, default_feedback=0)
    failed = []

    def ask(number):
        try:
            for i in range(20):
                assert service.decide("home", [[0, 1], [1, 0]], event=f"{number}-{i}")["event"] == f"{number}-{i}"
        except Exception as error:
            failed.append(error)
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and service.agent("home")["counts"]["decisions"] == 80


class Failing(http.server.BaseHTTPRequestHandler):
    """Cuts the first request off, is busy for the second, answers the third; and remembers the events."""
    protocol_version = "HTTP/1.1"
    seen: list = []

    def do_POST(self):
        Failing.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["event"])
        if len(Failing.seen) == 1:
            self.close_connection = True
            return
        body = b'{"error": {"code": "unavailable", "message": "not now"}}' if len(Failing.seen) == 2 else b'{"event": "x", "slate": [0]}'
        self.send_response(503 if len(Failing.seen) == 2 else 201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_what_is_not_answered_is_asked_again_for_the_same_event():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = superarm.Client(f"http://127.0.0.1:{server.server_port}")
        assert client.decide("home", [[0, 1]])["slate"] == [0]
        assert len(Failing.seen) == 3 and len(set(Failing.seen)) == 1
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(OSError):
        superarm.Client(f"http://127.0.0.1:{server.server_port}", retries=1).decide("home", [[0, 1]])


class Proxy(http.server.BaseHTTPRequestHandler):
    """Does not reach the service, most of the time; its pages are its own."""
    statuses: list = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(status := Proxy.statuses.pop(0))
        self.end_headers()
        self.wfile.write(b'{"event": "x", "slate": [0]}' if status == 201 else b"<html>Bad Gateway</html>")

    def log_message(self, *_):
        pass


def test_what_a_proxy_says_of_a_service_that_is_away():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        Proxy.statuses = [502, 504, 201, 502, 504, 500]
        assert superarm.Client(f"http://127.0.0.1:{server.server_port}", retries=2).decide("home", [[0, 1]], fallback=[7])["slate"] == [0]
        one = superarm.Client(f"http://127.0.0.1:{server.server_port}", retries=0)
        assert [one.decide("home", [[0, 1]], fallback=[7])["slate"] for _ in range(2)] == [[7], [7]]
        with pytest.raises(superarm.ServiceError, match="500"):
            one.decide("home", [[0, 1]], fallback=[7])
    finally:
        server.shutdown()
        server.server_close()


def test_a_shop_never_shows_an_empty_page(service):
    service.put_agent("home", {"dim": 2, "hidden": 4}, slate=1, default_feedback=0)
    assert "fallback" not in service.decide("home", [[0, 1], [1, 0]], fallback=[1])
    with pytest.raises(superarm.ServiceError, match="dim is 2"):  # what is wrong is told, fallback or not
        service.decide("home", [[1, 2, 3]], fallback=[0])
    away = superarm.Client("http://127.0.0.1:1", retries=1)
    shown = away.decide("home", items=[{"id": "a"}, {"id": "b"}], fallback=("b",))
    assert shown["slate"] == ["b"] and shown["event"] is None and shown["fallback"]
    away.feedback("home", shown["event"], [1])  # nothing is sent


def test_rankings_and_places(service):
    service.put_agent("home", {"dim": 2, "hidden": 4}, slate=1, default_feedback=0, wait_seconds=0)
    answer = service.decide("home", [[0, 1], [1, 0], [0.5, 0.25]], event="e1", ranking=True, places=["hero"])
    assert answer["ranking"][0]["id"] == answer["slate"][0] and sorted(one["id"] for one in answer["ranking"]) == [0, 1, 2] and answer["places"] == ["hero"]
    assert sum(one["probability"] for one in answer["ranking"]) == pytest.approx(1)
    with pytest.raises(superarm.ServiceError, match="no place of event e1"):
        service.feedback("home", "e1", {"side": 1}, by="place")
    service.feedback("home", "e1", {"hero": 0.5}, by="place")
    assert [line["feedback"] for line in service.log("home")] == [[0.5]]


def test_stored_items(service):
    schema = {"item": {"price": "log", "category": "hashed 4"}}
    service.put_agent("shop", {"algorithm": "cn-ucb", "hidden": 4}, schema=schema, slate=2, default_feedback=0)
    items = [{"id": f"p {i}/%", "price": i + 1, "category": "ab"[i % 2]} for i in range(1205)]
    assert service.put_items("shop", items)["added"] == 1205
    assert list(service.items("shop")) == items, "more than a page"
    changed = service.patch_items("shop", [{"id": "p 3/%", "price": 9, "category": None}])
    assert changed["changed"] == 1 and changed["same"] == 1204
    items[3] = {"id": "p 3/%", "price": 9}
    assert sorted(map(str, service.items("shop"))) == sorted(map(str, [{"id": "p 3/%", "price": 9} if i == 3 else item for i, item in enumerate(items)]))
    assert service.delete_items("shop", "p 7/%")["items"] == 1204
    answer = service.decide("shop", items=["p 1/%", "p 2/%", "p 4/%"])
    assert len(answer["slate"]) == 2 and set(answer["slate"]) <= {"p 1/%", "p 2/%", "p 4/%"}
    answer = service.decide("shop", where={"category": "a", "price": {"max": 5}}, at_most={"category": 1})
    assert len(answer["slate"]) == 1 and answer["slate"][0] in ("p 0/%", "p 2/%", "p 4/%")
    assert service.delete_items("shop")["items"] == 0
