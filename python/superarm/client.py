"""A client of `superarm serve`. The standard library alone: this file can be copied into a program that has no superarm.

>>> from superarm import Client
>>> shop = Client("http://127.0.0.1:8080")                                                        # doctest: +SKIP
>>> shop.put_agent("home", {"algorithm": "cn-ucb", "dim": 2}, slate=2, default_feedback=0)        # doctest: +SKIP
>>> answer = shop.decide("home", contexts=[[0, 1], [1, 0], [0.5, 0.5]])                           # doctest: +SKIP
>>> shop.feedback("home", answer["event"], [1, 0])                                                # doctest: +SKIP
"""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.parse
import uuid
from typing import Any, Iterable, Iterator

__all__ = ["Client", "ServiceError"]

_AWAY = (429, 502, 503, 504)  # of the service, and of a proxy that does not reach it


class ServiceError(Exception):
    """The service refused: its status, its code ("bad_request", "not_found"...) and its sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def _plain(value: Any) -> Any:
    """Arrays of NumPy, and numbers out of them, as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


class Client:
    """Asks a service for slates and tells it what came of them. Threads may share one client: each gets a connection of its own.

    A request that got no answer, or 429, 502, 503 or 504, is sent again, at most `retries` times. That is safe: decisions have an event, made
    here where none is given, and the service answers the same event once.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", key: str | None = None, *, timeout: float = 10, retries: int = 4) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not an address like http://127.0.0.1:8080")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers = {"Authorization": "Bearer " + key} if key else {}
        self._timeout, self._retries = timeout, retries
        self._own = threading.local()

    # ---- deciding ----

    def decide(self, agent: str, contexts: Any = None, *, items: Any = None, context: Any = None, event: str | None = None,
               slate: int | None = None, exclude: Any = None, problem: Any = None, explain: bool = False, fallback: Any = None,
               pin: dict[str, Any] | None = None, at_most: dict[str, Any] | None = None, at_least: dict[str, Any] | None = None,
               exactly: bool | None = None, user: str | None = None, baseline: Any = None, activate: bool = True, ranking: bool = False, places: Any = None,
               where: dict[str, Any] | None = None) -> dict[str, Any]:
        """{"event", "slate", "propensity", "position_propensities", "model"}: the slate has ids, or indices where items have none.

        `fallback` is the slate to show when the service is away or too busy, after all retries: the answer has it, with "fallback" True
        and the event None, of which `feedback` takes no notice. Without it the error is raised.

        `user` keeps a visitor on one side of the agent's control, `baseline` is the slate that is shown without it; `activate=False`: it may not be
        shown, and is learnt only after `activate`.

        Rules in words: `pin` {"0": "p7"}, `at_most` and `at_least` {"category": 2} or {"category": {"shoes": 1}}, `exactly`, `exclude`.
        With stored items (`put_items`), `items` is a list of ids, or `where` says which, {"category": "shoes", "price": {"max": 30}}, or all are meant.

        `ranking`: with a slate of one arm the answer has all of them in order, each with its probability. `places`: names of the slate's
        places, for `feedback(by="place")`."""
        body = {"event": event or uuid.uuid4().hex, "contexts": contexts, "items": items, "where": where, "context": context, "slate": slate,
                "exclude": exclude, "problem": problem, "explain": explain or None, "pin": pin, "at_most": at_most, "at_least": at_least, "exactly": exactly, "user": user, "baseline": baseline, "activate": None if activate else False,
                "ranking": ranking or None, "places": places}
        try:
            answer: dict[str, Any] = self._json("POST", self._path(agent, "decide"), {name: value for name, value in body.items() if value is not None})
        except (ServiceError, OSError, http.client.HTTPException) as error:
            if fallback is None or (isinstance(error, ServiceError) and error.status not in _AWAY):
                raise
            answer = {"event": None, "slate": list(fallback), "propensity": None, "prefix_propensities": None, "position_propensities": None,
                      "model": None, "fallback": True}
        return answer

    def feedback(self, agent: str, event: str | None, feedback: Any, *, id: str | None = None, by: str | None = None) -> None:
        """What came of a slate: a value by item id, or a list in the order of the slate, None where it was not seen; with the
        agent's rewards a value is {"click": 1}, and with feedback total it is one number. `id` tells two
        pieces of feedback with the same values apart, two clicks say; without it the second is taken for a retry of the first. `by`: "place", where values are by the names of places."""
        if event is None:  # of a fallback: nobody decided it
            return
        body = {"event": event, "feedback": feedback, "id": id or None, "by": by}
        self._json("POST", self._path(agent, "feedback"), {name: value for name, value in body.items() if value is not None})

    def activate(self, agent: str, event: str | None) -> None:
        """A decision that was held (`activate=False`) was shown after all: its wait begins."""
        if event is not None:
            self._json("POST", self._path(agent, "activate/" + urllib.parse.quote(event, safe="")))

    def shown(self, agent: str, slate: Any, contexts: Any = None, *, items: Any = None, context: Any = None, event: str | None = None,
              propensity: float | None = None, **more: Any) -> dict[str, Any]:
        """A slate that somebody else chose and showed; its event then gets feedback, and it is learnt like others."""
        body = {"event": event or uuid.uuid4().hex, "slate": slate, "contexts": contexts, "items": items, "context": context, "propensity": propensity, **more}
        answer: dict[str, Any] = self._json("POST", self._path(agent, "shown"), {name: value for name, value in body.items() if value is not None})
        return answer

    # ---- agents ----

    def put_agent(self, agent: str, options: dict[str, Any], **settings: Any) -> dict[str, Any]:
        """Makes or changes an agent: slate, default_feedback, wait_seconds, aggregate, retention_days, schema, reset. A new one needs
        default_feedback, of arms that get none: 0 where nothing came of them, None where that is not known."""
        answer: dict[str, Any] = self._json("PUT", self._path(agent), {"options": options, **settings})
        return answer

    def agents(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._json("GET", "/v1/agents")["agents"]
        return listed

    def agent(self, agent: str) -> dict[str, Any]:
        """Its settings, counts, version and rates."""
        answer: dict[str, Any] = self._json("GET", self._path(agent))
        return answer

    def delete_agent(self, agent: str) -> None:
        self._json("DELETE", self._path(agent))

    # ---- stored items ----

    def put_items(self, agent: str, items: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Stores these items, and no others: {"version", "items", "added", "changed", "removed", "same"}."""
        return self._lines("PUT", agent, items)

    def patch_items(self, agent: str, items: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Adds items, and changes fields of those that are there: None takes a field away."""
        return self._lines("PATCH", agent, items)

    def delete_items(self, agent: str, item: str | None = None) -> dict[str, Any]:
        """Removes a stored item, or all of them."""
        path = "items" if item is None else "items/" + urllib.parse.quote(item, safe="")
        answer: dict[str, Any] = self._json("DELETE", self._path(agent, path))
        return answer

    def items(self, agent: str) -> Iterator[dict[str, Any]]:
        """The stored items, in the catalogue's order."""
        after = ""
        while True:
            page = [json.loads(line) for line in self._send("GET", self._path(agent, "items?limit=1000" + after)).splitlines()]
            yield from page
            if len(page) < 1000:
                return
            after = "&after=" + urllib.parse.quote(page[-1]["id"], safe="")

    def _lines(self, method: str, agent: str, items: Iterable[dict[str, Any]]) -> dict[str, Any]:
        text = "".join(json.dumps(item) + "\n" for item in items)
        answer: dict[str, Any] = json.loads(self._send(method, self._path(agent, "items"), text.encode(), "application/x-ndjson"))
        return answer

    def model(self, agent: str) -> bytes:
        """The agent as npz: `superarm.Agent.load` reads it from a file."""
        return self._send("GET", self._path(agent, "model"))

    def put_model(self, agent: str, npz: bytes) -> None:
        """A warm start: the agent goes on with what `npz` has learnt."""
        self._send("PUT", self._path(agent, "model"), npz, "application/octet-stream")

    def log(self, agent: str, start: int = 1) -> Iterator[dict[str, Any]]:
        """The decision log, line by line, from journal row `start`; those that still wait, with "final" false, at the end."""
        while True:
            page = [json.loads(line) for line in self._send("GET", self._path(agent, f"log?from={start}&limit=1000")).splitlines()]
            yield from page
            if not page or not page[-1]["final"]:
                return
            start = page[-1]["seq"] + 1

    def history(self, agent: str, start: int | None = None) -> list[dict[str, Any]]:
        """Sums by hour, after two weeks by day, from `start` on (seconds since 1970; 14 days ago unless given)."""
        rows: list[dict[str, Any]] = self._json("GET", self._path(agent, "history" if start is None else f"history?from={start}"))["history"]
        return rows

    def erase(self, agent: str, event: str) -> None:
        """Erases what is kept of an event."""
        self._json("DELETE", self._path(agent, "events/" + urllib.parse.quote(event, safe="")))

    def ready(self) -> bool:
        """Are decisions made and kept?"""
        try:
            self._once("GET", "/readyz", None, "")
            return True
        except (ServiceError, OSError, http.client.HTTPException):
            return False

    # ---- HTTP ----

    @staticmethod
    def _path(agent: str, rest: str = "") -> str:
        return "/v1/agents/" + urllib.parse.quote(agent, safe="") + ("/" + rest if rest else "")

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        raw = self._send(method, path, None if body is None else json.dumps(body, default=_plain, allow_nan=False).encode(), "application/json")
        return json.loads(raw) if raw else None

    def _send(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> bytes:
        for tried in range(self._retries + 1):
            try:
                return self._once(method, path, body, kind)
            except ServiceError as error:
                if error.status not in _AWAY or tried == self._retries:
                    raise
            except (OSError, http.client.HTTPException):
                if tried == self._retries:
                    raise
            time.sleep(min(2.0, 0.05 * 4**tried))
        raise AssertionError("not reached")

    def _once(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._kind(self._host, self._port, timeout=self._timeout)
        try:
            connection.request(method, self._prefix + path, body, {**self._headers, **({"Content-Type": kind} if body is not None else {})})
            answer = connection.getresponse()
            raw: bytes = answer.read()
        except BaseException:
            connection.close()
            self._own.connection = None
            raise
        if answer.status >= 400:
            try:
                error = json.loads(raw)["error"]
            except (ValueError, KeyError, TypeError):
                error = {"code": "error", "message": f"{method} {path} was answered with {answer.status}"}
            raise ServiceError(answer.status, error["code"], error["message"])
        return raw
