"""A policy: an agent as it was at one moment, for any number of threads to choose with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

from . import _arrays as arrays
from ._native import ffi, lib
from ._requests import Requests, Takes
from .decision import Decision
from .errors import InputError, failure, need

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NULL = ffi.NULL
_destroy = lib.sa_decision_destroy  # a function of C: Python code in a finalizer would swallow Ctrl-C


class Estimates(NamedTuple):
    """Every arm's estimate, width and optimistic score, (N), or (N, K) for agents that tell positions apart."""

    estimate: NDArray[np.float64]
    width: NDArray[np.float64]
    score: NDArray[np.float64]


class _Chooser:
    """Workspace of one call."""

    __slots__ = ("handle",)

    def __init__(self) -> None:
        self.handle = ffi.gc(need(lib.sa_chooser_new()), lib.sa_chooser_destroy)


class Policy:
    """The agent as it was when `agent.policy()` was called. It never changes, and stays when the agent is gone.

    Any number of threads can choose with it at the same time, while another thread goes on learning with the agent.

    >>> import numpy as np, superarm
    >>> agent = superarm.Agent("cn-ucb", dim=3, random_state=1)
    >>> policy = agent.policy()
    >>> decision = policy.select(np.eye(3), slate=2)      # the agent does not know of it
    >>> decision.id is None
    True
    >>> agent.record(decision)                            # now it waits for its feedback
    >>> agent.update(decision, [1.0, 0.0])
    >>> policy.estimate(np.eye(3)).width.shape
    (3,)
    """

    def __init__(self, handle: Any, name: str, dim: int, slate: int, takes: Takes, oracle: Any) -> None:
        self._handle = ffi.gc(handle, lib.sa_policy_release)
        self._name = name
        self._dim = dim
        self._slate = slate
        self._takes = takes
        self._oracle = oracle  # of the caller's own: kept alive
        self._requests = Requests()
        self._choosers: List[_Chooser] = []

    def _take(self) -> _Chooser:
        try:
            return self._choosers.pop()
        except IndexError:
            return _Chooser()

    def select(self, contexts: Any = None, slate: Optional[int] = None, *, draw: Optional[int] = None, **asked: Any) -> Decision:
        """Chooses a slate, as `Agent.select` does with the same arguments, and changes nothing. The decision has no id until
        `agent.record(decision)`. `draw`, below 2**48, is what its random draws depend on; unless given, those of the agent's next
        decision when the policy was taken, so give one to each decision of an algorithm that samples."""
        request, chooser = self._requests.take(), self._take()
        try:
            asked = {"contexts": contexts, "slate": self._slate if slate is None else slate, **asked}
            request.fill(self._takes, self._dim, draw=draw, **asked)
            out = ffi.new("sa_decision **")
            status = lib.sa_policy_select(self._handle, chooser.handle, request.handle, out)
            if status:
                raise (self._oracle.take_error() if self._oracle else None) or failure(status)
            handle = ffi.gc(out[0], _destroy)
            return Decision(self._name, handle, request.ids(handle), asked=asked)
        finally:
            self._choosers.append(chooser)
            self._requests.give(request)

    def estimate(self, contexts: Any = None, slate: Optional[int] = None, **asked: Any) -> Estimates:
        """Every arm's estimate, exact width and optimistic score, without a decision. `slate` matters to scores: a bonus
        grows with the arms for each place; and to agents that tell positions apart."""
        request, chooser = self._requests.take(), self._take()
        try:
            count = self._slate if slate is None else slate
            arms = request.fill(self._takes, self._dim, contexts, count, **asked)
            shape = (arms, count) if self._takes.positions else (arms,)
            found = [arrays.empty(shape) for _ in range(3)]
            status = lib.sa_policy_estimate(self._handle, chooser.handle, request.handle, *map(arrays.double_pointer, found))
            if status:
                raise failure(status)
            return Estimates(*found)
        finally:
            self._choosers.append(chooser)
            self._requests.give(request)

    def propensities(self, contexts: Any, arms: Any, **asked: Any) -> Tuple[float, Any, Any]:
        """How likely the policy is to choose this slate, `arms` (K) of the request in the order of positions: of the ordered slate, of
        its first k arms (K), and of arm k at position k (K). NaN where it is not known.

        >>> import numpy as np, superarm
        >>> policy = superarm.Agent("cn-ucb", dim=3, floor=0.3).policy()
        >>> joint, prefix, position = policy.propensities(np.eye(3), [2, 0])
        >>> bool(joint == prefix[-1] and 0.1 * 0.15 <= round(joint, 12) <= 0.8 * 0.85)
        True
        """
        slate = arrays.check_shape(arrays.indices(arms, "arms"), "arms", (None,), "one axis")
        request, chooser = self._requests.take(), self._take()
        try:
            request.fill(self._takes, self._dim, contexts, len(slate), **asked)
            joint, prefix, position = arrays.empty((1,)), arrays.empty(slate.shape), arrays.empty(slate.shape)
            status = lib.sa_policy_propensities(self._handle, chooser.handle, request.handle, arrays.size_pointer(slate), len(slate),
                                                *map(arrays.double_pointer, (joint, prefix, position)), ffi.NULL, ffi.NULL)
            if status:
                raise failure(status)
            return float(joint[0]), prefix, position
        finally:
            self._choosers.append(chooser)
            self._requests.give(request)

    def __reduce__(self) -> Any:
        raise InputError("a policy cannot be pickled: save the agent, and take a policy of what is loaded")

    def __repr__(self) -> str:
        return f"Policy(dim={self._dim})"
