"""A decision: what was chosen, and why."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional

from . import _arrays as arrays
from ._native import lib

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Decision:
    """What was chosen, and why. It stays valid whatever happens to the agent.

    Arrays are made when they are asked for: `arms` (K), best first, and arm by arm as in it `estimate` (the model's mean),
    `width` (sqrt(g' Z^-1 g / m); NaN without one) and `score` (the optimistic score); `all_estimates`, `all_widths` and
    `all_scores` are (N), or (N, K) for agents that tell positions apart. `id` is None for a decision of a policy that no agent has
    recorded.
    """

    __slots__ = ("id", "_agent", "_handle", "_values", "_asked", "__weakref__")

    def __init__(self, agent: str, handle: Any, values: Optional[Dict[str, Any]] = None, asked: Optional[Dict[str, Any]] = None) -> None:
        self._agent = agent  # whose it is
        self._handle = handle
        self._values: Dict[str, Any] = values or {}
        self._asked = asked  # of a policy's decision: what it was asked with, until an agent records it
        self.id: Optional[int] = values["id"] if values and "id" in values else None if asked else lib.sa_decision_id(handle)

    def _value(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = _READERS[name](self._handle)
        return self._values[name]

    @property
    def arms(self) -> NDArray[np.intp]:
        """(K) indices of the chosen arms, best first or in the oracle's order."""
        return self._value("arms")

    @property
    def ids(self) -> Optional[List[str]]:
        """(K) ids of the chosen items, as in `arms`; None where items have none."""
        found: Optional[List[str]] = self._values.get("ids")
        return found

    @property
    def estimate(self) -> NDArray[np.float64]:
        """(K) the model's mean of each chosen arm."""
        return self._value("estimate")

    @property
    def width(self) -> NDArray[np.float64]:
        """(K) the confidence width of each chosen arm."""
        return self._value("width")

    @property
    def score(self) -> NDArray[np.float64]:
        """(K) the optimistic score of each chosen arm."""
        return self._value("score")

    @property
    def propensity(self) -> float:
        """The probability of the ordered slate under the policy that chose it; NaN unless `select` was asked for it (propensities=True),
        and where it is not known."""
        return float(self._value("propensity"))

    @property
    def prefix_propensities(self) -> NDArray[np.float64]:
        """(K) the probabilities of its first k arms, in order."""
        return self._value("prefix_propensities")

    @property
    def position_propensities(self) -> NDArray[np.float64]:
        """(K) the probabilities of arm k at position k."""
        return self._value("position_propensities")

    @property
    def certificate(self) -> float:
        """c >= 1: the exact widths lie between width / c and width x c. 1 with confidence="exact", NaN where there is no such bound."""
        return float(self._value("certificate"))

    @property
    def gap(self) -> float:
        """0, or where the oracle's search was cut short: the best reward under these scores is at most 1 + gap times that of the slate."""
        return float(self._value("gap"))

    @property
    def event(self) -> int:
        """The id of your own that was given to `select`."""
        return int(self._value("event"))

    @property
    def candidates(self) -> int:
        """N, how many arms there were."""
        return int(self._value("candidates"))

    @property
    def all_estimates(self) -> NDArray[np.float64]:
        """The model's mean of each candidate, (N), or (N, K) by position."""
        return self._value("all_estimates")

    @property
    def all_widths(self) -> NDArray[np.float64]:
        """The width of each candidate; with widths="needed" an upper bound for arms that could not reach the slate."""
        return self._value("all_widths")

    @property
    def all_scores(self) -> NDArray[np.float64]:
        """The optimistic score of each candidate; with widths="needed" an upper bound for arms that could not reach the slate."""
        return self._value("all_scores")

    def __len__(self) -> int:
        return len(self.arms)

    def __iter__(self) -> Iterator[int]:
        """The arms, as Python's numbers."""
        return iter(self.arms.tolist())

    def __repr__(self) -> str:
        return f"Decision(id={self.id}, arms={self.arms.tolist()})" if self.ids is None else f"Decision(id={self.id}, ids={self.ids})"

    def _repr_html_(self) -> str:
        """For notebooks: a row for each arm of the slate."""
        rows = [f"<tr><th>{html.escape(str(self.ids[k] if self.ids is not None else arm))}</th>" +
                "".join(f"<td>{'-' if number != number else f'{number:.4g}'}</td>" for number in (self.estimate[k], self.width[k], self.score[k])) + "</tr>"
                for k, arm in enumerate(self)]
        head = "".join(f"<th>{name}</th>" for name in ("item" if self.ids is not None else "arm", "estimate", "width", "score"))
        return (f"<table><caption>{'decision' if self.id is None else f'decision {self.id}'}: {len(self)} of {self.candidates} arms</caption>"
                f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")

    def __reduce__(self) -> Any:
        return Decision, (self._agent, None, {"id": self.id, "ids": self.ids, **{name: self._value(name) for name in _READERS}})


def _all(pointer: Any, handle: Any) -> Any:
    candidates, positions = lib.sa_decision_candidates(handle), lib.sa_decision_positions(handle)
    values = arrays.from_doubles(pointer, candidates * (positions or 1))
    return values.reshape(candidates, positions) if positions else values


_READERS: Dict[str, Callable[[Any], Any]] = {
    "arms": lambda handle: arrays.from_sizes(lib.sa_decision_arms(handle), lib.sa_decision_slate(handle)),
    "estimate": lambda handle: arrays.from_doubles(lib.sa_decision_estimates(handle), lib.sa_decision_slate(handle)),
    "width": lambda handle: arrays.from_doubles(lib.sa_decision_widths(handle), lib.sa_decision_slate(handle)),
    "score": lambda handle: arrays.from_doubles(lib.sa_decision_scores(handle), lib.sa_decision_slate(handle)),
    "propensity": lambda handle: lib.sa_decision_propensity(handle),
    "prefix_propensities": lambda handle: arrays.from_doubles(lib.sa_decision_prefix_propensities(handle), lib.sa_decision_slate(handle)),
    "position_propensities": lambda handle: arrays.from_doubles(lib.sa_decision_position_propensities(handle), lib.sa_decision_slate(handle)),
    "certificate": lambda handle: lib.sa_decision_certificate(handle),
    "gap": lambda handle: lib.sa_decision_gap(handle),
    "event": lambda handle: lib.sa_decision_event(handle),
    "candidates": lambda handle: lib.sa_decision_candidates(handle),
    "all_estimates": lambda handle: _all(lib.sa_decision_all_estimates(handle), handle),
    "all_widths": lambda handle: _all(lib.sa_decision_all_widths(handle), handle),
    "all_scores": lambda handle: _all(lib.sa_decision_all_scores(handle), handle),
}
