"""What notebooks show: results, sweeps, decisions and agents as HTML whose numbers are theirs, and a bar of the runs."""

import re
import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest

import superarm

SMALL = {"rounds": 20, "runs": 2, "arms": 6, "dim": 4}


class Cells(HTMLParser):
    """The rows of a table; a tag that is not closed is an error."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += text


def test_decisions():
    agent = superarm.Agent("cn-ucb", hidden=8)
    contexts = np.random.default_rng(1).normal(size=(9, 4))
    agent.update(agent.select(contexts, slate=2), [0.5, 0.1])
    decision = agent.select(contexts, slate=3)
    head, *rows = Cells(decision._repr_html_()).rows
    assert head == ["arm", "estimate", "width", "score"] and "decision 1: 3 of 9 arms" in decision._repr_html_()
    wanted = np.array([decision.arms, decision.estimate, decision.width, decision.score]).T
    np.testing.assert_allclose(np.array(rows, float), wanted, rtol=1e-3)
    assert "<th>decision" not in agent.policy().select(contexts, slate=3)._repr_html_()


def test_items_are_escaped():
    agent = superarm.Agent("comblin-ucb", schema={"item": {"price": "number"}})
    decision = agent.select(items=[{"id": "<b>", "price": 1}, {"id": "&", "price": 2}], slate=2)
    rows = Cells(decision._repr_html_()).rows
    assert rows[0][0] == "item" and {row[0] for row in rows[1:]} == {"<b>", "&"}


def test_agents():
    agent = superarm.Agent("cn-ucb", dim=4, hidden=8)
    agent.update(agent.select(np.eye(4), slate=3), [1, 0, 1])
    agent.select(np.eye(4), slate=1)
    shown = dict(Cells(agent._repr_html_()).rows)
    assert shown["algorithm"] == "cn-ucb" and shown["features of an arm"] == "4" and shown["decisions"] == "2"
    assert shown["observations"] == "3" and shown["waiting for feedback"] == "1" and shown["memory"].endswith(" MB")
    agent.close()
    assert "closed" in agent._repr_html_()


def test_sweeps_have_what_runs_have(tmp_path):
    results = superarm.sweep("h1", "comblin-ucb", grid={"gamma": [0.1, 1, 5]}, out=tmp_path / "swept", **SMALL)
    rows = Cells(results._repr_html_()).rows[1:]
    assert [row[1] for row in rows] == ["2"] * 3
    for row, label in zip(rows, results.labels):
        assert float(row[2]) == pytest.approx(results.expected_regret[label][:, -1].mean(), rel=1e-4)
    apart = results.differences("gamma=1")
    assert set(apart) == {"gamma=0.1", "gamma=5"}
    assert apart["gamma=5"]["mean"] == pytest.approx((results.expected_regret["gamma=5"] - results.expected_regret["gamma=1"])[:, -1].mean())
    assert len(results.to_frame(long=True)) == 3 * 2 * 20
    assert "tabular" in results.latex() and results.report().endswith(".html")
    assert superarm.load(tmp_path / "swept").labels == results.labels


def test_bar_of_runs(monkeypatch):
    """A notebook without tqdm: IPython's display, which is played here."""
    shown = []

    class Display:
        def update(self, what):
            shown.append(what)

    ipython = types.ModuleType("IPython.display")
    ipython.HTML, ipython.display = str, lambda what, display_id: Display()
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    superarm.run("h1", ["random", "best"], **SMALL)
    assert len(shown) >= 2 and shown[-1] == "" and shown[0].startswith("<progress")
    values = [float(re.search(r'value="(\d+)"', bar)[1]) for bar in shown[:-1]]
    assert values == sorted(values) and all(0 <= value <= 100 for value in values) and "4 of 4 runs" in shown[-2]
