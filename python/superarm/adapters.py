"""Agents in the shape that other packages expect. Neither of them is imported."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np

from . import _arrays as arrays
from ._options import reads
from .agent import Agent
from .decision import Decision
from .errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Contextual(str):
    """Equal to "contextual", as Open Bandit Pipeline called it once, and to PolicyType.CONTEXTUAL, as it does now."""

    def __eq__(self, other: object) -> bool:
        return str(getattr(other, "name", other)).lower() == "contextual"

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class OpenBanditPolicy:
    """A contextual policy of Open Bandit Pipeline: `select_action`, `update_params`, `len_list`.

    There, a round has one context, (1, dim), shared by all actions; here, an arm has features of its own: the context followed by the
    action's row of `action_context`, (n_actions, any), which tells actions apart by one-hot rows unless given. Feedback for a slate
    that this policy chose answers its decision; feedback for any other action, as logs have it, teaches just as well.

    >>> import numpy as np
    >>> from superarm.adapters import OpenBanditPolicy
    >>> policy = OpenBanditPolicy(dim=3, n_actions=10, len_list=3, algorithm="cn-ucb", random_state=1)
    >>> context = np.array([[0.1, 0.2, 0.3]])
    >>> actions = policy.select_action(context)
    >>> policy.update_params(action=actions[0], reward=1.0, context=context)
    >>> len(actions), policy.n_trial
    (3, 1)
    """

    def __init__(self, dim: int, n_actions: int, len_list: int = 1, batch_size: int = 1, random_state: Optional[int] = 1, *,
                 algorithm: str = "cn-ucb", action_context: Any = None, policy_name: Optional[str] = None, **options: Any) -> None:
        self.dim = arrays.whole(dim, "dim")
        self.n_actions = arrays.whole(n_actions, "n_actions")
        self.len_list = arrays.whole(len_list, "len_list")
        self.batch_size = arrays.whole(batch_size, "batch_size")
        if not 1 <= self.len_list <= self.n_actions:
            raise InputError(f"len_list {len_list} is not from 1 to n_actions, {n_actions}")
        self.random_state = random_state
        self.algorithm = algorithm
        self.policy_name = policy_name or f"superarm_{algorithm}"
        rows = np.eye(self.n_actions) if action_context is None else action_context
        self.action_context = arrays.check_shape(arrays.doubles(rows, "action_context"), "action_context", (self.n_actions, None),
                                                 f"({self.n_actions}, any)")
        self._options = options
        self.initialize()

    @property
    def policy_type(self) -> str:
        return _Contextual("contextual")

    def initialize(self) -> None:
        """Forgets everything."""
        self.agent = Agent(self.algorithm, dim=self.dim + self.action_context.shape[1], slate=self.len_list,
                           random_state=self.random_state, **self._options)
        self.n_trial = 0
        self.action_counts = np.zeros(self.n_actions, dtype=int)
        self._waiting: "OrderedDict[bytes, Tuple[Decision, List[int]]]" = OrderedDict()  # context: decision, arms without feedback
        self._batch: List[Tuple[int, float, Any]] = []

    def _context(self, context: Any) -> Any:
        row = arrays.doubles(context, "context").reshape(-1)
        return arrays.check_shape(row, "context", (self.dim,), f"(1, {self.dim})")

    def _features(self, context: Any) -> Any:
        return np.hstack([np.tile(context, (self.n_actions, 1)), self.action_context])

    def select_action(self, context: Any) -> NDArray[np.intp]:
        """(len_list) actions for a context, (1, dim)."""
        row = self._context(context)
        decision = self.agent.select(self._features(row), slate=self.len_list)
        self._waiting[row.tobytes()] = decision, decision.arms.tolist()
        if len(self._waiting) > 1000:
            self._waiting.popitem(last=False)
        return decision.arms

    def update_params(self, action: int, reward: float, context: Any) -> None:
        """What came of an action in a context, (1, dim). Learnt when `batch_size` of them are there."""
        if not 0 <= arrays.whole(action, "action") < self.n_actions:
            raise InputError(f"action {action}: there are {self.n_actions} actions, counted from 0")
        if not np.isfinite(float(reward)):
            raise InputError(f"reward {reward}: a finite number is wanted")
        self._batch.append((int(action), float(reward), self._context(context)))
        self.n_trial += 1
        self.action_counts[action] += 1
        if len(self._batch) >= self.batch_size:
            batch, self._batch = self._batch, []
            for entry in batch:
                self._learn(*entry)

    def _learn(self, action: int, reward: float, row: Any) -> None:
        found = self._waiting.get(row.tobytes())
        if found and action in found[1]:
            decision, unanswered = found
            self.agent.update(decision, np.where(decision.arms == action, reward, 0.0), observed=decision.arms == action)
            unanswered.remove(action)
        else:  # a decision between this arm and no other
            self.agent.update(self.agent.select(self._features(row)[action:action + 1], slate=1), [reward])


class SlateRegressor:
    """A scikit-learn style estimator: `partial_fit(X, y)` learns the scores y of arms with features X, `predict(X)` estimates them.

    `agent_` is the agent behind it, for choosing slates with what was learnt. Any option of an agent may be given. Unless they are,
    train is "manual", and each `partial_fit` trains once; normalize is "none", so that a row's prediction does not depend on the
    others: scale features as for any estimator; and companion is False, because it believes the network only as far as earlier
    predictions have proved right, and before the first `fit` there were none.

    >>> import numpy as np
    >>> from superarm.adapters import SlateRegressor
    >>> X = np.random.default_rng(1).normal(size=(50, 3))
    >>> model = SlateRegressor("comblin-ucb").partial_fit(X, X @ [1.0, 2.0, 3.0])
    >>> bool(5.5 < model.predict([[1, 1, 1]])[0] < 6)
    True
    >>> model.agent_.select(X, slate=4).arms.shape
    (4,)
    """

    _estimator_type = "regressor"

    def __init__(self, algorithm: str = "cn-ucb", *, preset: str = "tuned", random_state: Optional[int] = 1, **options: Any) -> None:
        self._params: Dict[str, Any] = {"algorithm": algorithm, "preset": preset, "random_state": random_state, **options}

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """What the estimator was made with."""
        return dict(self._params)

    def set_params(self, **params: Any) -> "SlateRegressor":
        """Changes what the next `fit` uses."""
        self._params.update(params)
        return self

    def fit(self, X: Any, y: Any) -> "SlateRegressor":
        """Forgets everything, then learns."""
        self.__dict__.pop("agent_", None)
        return self.partial_fit(X, y)

    def _defaults(self) -> Dict[str, Any]:
        """Those of the defaults that the algorithm reads."""
        algorithm = self._params.get("algorithm", "cn-ucb")
        defaults = {"train": "manual", "normalize": "none", "companion": False}
        return {name: value for name, value in defaults.items() if reads(algorithm, name)}

    def partial_fit(self, X: Any, y: Any) -> "SlateRegressor":
        """Learns from rows X, (n, features), with scores y, (n): a slate of them all, answered at once."""
        rows = arrays.check_shape(arrays.reals(X, "X"), "X", (None, None), "(n, features)")
        scores = arrays.check_shape(arrays.doubles(y, "y"), "y", (len(rows),), f"({len(rows)},)")
        if not np.all(np.isfinite(scores)):
            raise InputError("y: there are scores that are not finite")
        agent: Optional[Agent] = self.__dict__.get("agent_")
        if agent is None:
            agent = Agent(**{**self._defaults(), "dim": rows.shape[1], **self._params})
        decision = agent.select(rows, slate=len(rows))
        agent.update(decision, scores[decision.arms])
        agent.train()
        self.agent_, self.n_features_in_ = agent, agent.dim
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The model's mean for rows X, (n, features). The agent does not notice: a policy of it is asked."""
        if "agent_" not in self.__dict__:
            raise InputError("the estimator has not been fitted: call fit or partial_fit first")
        return self.agent_.policy().estimate(X, slate=1).estimate

    def score(self, X: Any, y: Any) -> float:
        """R^2 of the predictions."""
        scores = arrays.doubles(y, "y")
        return float(1 - np.sum((scores - self.predict(X)) ** 2) / np.sum((scores - scores.mean()) ** 2))

    def __repr__(self) -> str:
        return f"SlateRegressor({', '.join(f'{name}={value!r}' for name, value in self._params.items())})"
