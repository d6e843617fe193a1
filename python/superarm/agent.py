"""The agent: asks for nothing but contexts and feedback, and returns slates."""

from __future__ import annotations

import copy
import html
import os
import secrets
import tempfile
import threading
import uuid
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Type, Union

import numpy as np

from . import _arrays as arrays
from ._native import ffi, fields, keep_error, lib, text
from ._options import OF_AGENTS, Default, c_text, check_agents_own, read_option, read_options, set_options
from ._oracles import PROBLEM_NAMES, OracleCall
from ._requests import Request, Requests, Takes, join_dim
from ._turn import Turn
from .decision import Decision
from .errors import InputError, check, failure, need
from .policy import Policy
from .schema import Schema, as_schema

_NULL = ffi.NULL
_SEED: Any = Default(1)
_destroy = lib.sa_decision_destroy  # a function of C: Python code in a finalizer would swallow Ctrl-C


class Agent:
    """An agent that chooses slates and learns from what came of them.

    `algorithm` is one of `superarm.algorithms()`, `dim` the features of an arm (unless given, the first request tells), `preset` "tuned", "paper" or "icml23", `random_state` the seed of all its
    random numbers (None: a new one each time). Any option of `superarm.options()` may follow, with underscores for dashes;
    numbers, True and False, text and lists are fine. `oracle` is a name, or an object of your own with `solve(scores, k)` and
    `alpha`. `schema`, a `Schema`, a dict or the path of a file, is for items with named fields; it has their `dim`.

    >>> import superarm
    >>> agent = superarm.Agent("cn-ts", dim=3, preset="tuned", random_state=1, hidden=20)
    >>> decision = agent.select([[1, 0, 0], [0, 1, 0], [0, 0, 1]], slate=2)
    >>> agent.update(decision, [1.0, 0.0])
    >>> agent.counts["decisions"], agent.options["hidden"]
    (1, 20)

    One agent serves one thread at a time (others wait); agents in different threads run at the same time. An agent closes
    itself when it is dropped, at the end of a `with` block, or with `close()`.
    """

    _name: str
    _dim_lock: Any
    _later: Any  # options of an agent that does not know its dim so far

    def __init__(self, algorithm: str = "cn-ucb", *, dim: Optional[int] = None, preset: Optional[str] = "tuned",
                 random_state: Optional[int] = _SEED, oracle: Any = None, schema: Any = None, **options: Any) -> None:
        if random_state is None:
            random_state = secrets.randbits(62)
        elif random_state is _SEED and options.get("seed") is not None:
            random_state = None
        check_agents_own(options, PROBLEM_NAMES)
        own = oracle is not None and not isinstance(oracle, str)
        handle = ffi.gc(need(lib.sa_options_new(_NULL)), lib.sa_options_destroy)
        given = {"preset": preset, "algorithm": algorithm, "dim": dim, "random_state": random_state,
                 "oracle": None if own else oracle, **options}
        set_options(given, lambda name, value: lib.sa_options_set(handle, name, value), ("random_state",))
        check(lib.sa_options_check_read(handle))
        named = None if schema is None else as_schema(schema)
        self._begin(_create(handle, named), oracle if own else None)
        if dim is None and named is None:
            self._later = handle

    def _take_dim(self, contexts: Any = None, items: Any = None, shared: Any = None, join: Optional[str] = None, **_: Any) -> None:
        """The first request says how many features an arm has: the agent that waited for it is made again, for that many."""
        with self._dim_lock:
            if self._later is None:
                return
            if items is not None:
                parts = np.shape(items)[-1:], np.shape(shared)[-1:] or (0,)
                dim = join_dim("concat" if join is None else join, int(parts[0][0]) if parts[0] else 0, int(parts[1][0]))
            else:
                shape = np.shape(contexts) if contexts is not None else ()
                dim = int(shape[1]) if len(shape) == 2 else 0
            if dim == 0:
                return  # something is wrong with it, which is said where all requests are looked at
            check(lib.sa_options_set(self._later, b"dim", str(dim).encode()))
            old, oracle = self._turn, self.oracle
            self._begin(_create(self._later), oracle, self._name)
            old.close()

    def _begin(self, pointer: Any, oracle: Any, name: Optional[str] = None) -> None:
        handle = ffi.gc(pointer, lib.sa_agent_destroy)
        self._turn = Turn(handle)
        self._later = None
        self._dim_lock = threading.Lock() if name is None else self._dim_lock
        self._name = name or uuid.uuid4().hex  # so that decisions know whose they are
        self._out = ffi.new("sa_decision **")
        self._requests = Requests()
        options = lib.sa_agent_options(handle)
        self._dim = int(read_option(options, "dim"))
        self._slate = int(read_option(options, "slate"))
        self._algorithm = read_option(options, "algorithm")
        feedback = read_option(options, "feedback")
        positions = feedback == "position" or (feedback == "cascade" and read_option(options, "cascade-form") == "unknown")
        self._totals = feedback == "total"
        self._takes = Takes(self._algorithm, read_option(options, "oracle"), feedback, positions)
        self._oracle: Optional[OracleCall] = None
        schema = ffi.cast("sa_schema *", lib.sa_agent_schema(handle))
        if schema != _NULL:
            lib.sa_schema_retain(schema)
            self._takes.schema = Schema._of(schema)
        if oracle is not None:
            self.oracle = oracle

    # ---- choosing and learning ----

    def select(self, contexts: Any = None, slate: Optional[int] = None, *, exclude: Any = None, event: int = 0, expected: Any = None,
               items: Any = None, shared: Any = None, join: Optional[str] = None, context: Optional[Mapping[str, Any]] = None,
               propensities: bool = False, **problem: Any) -> Decision:
        """Chooses a slate of the candidate arms whose features are the rows of `contexts`, (N, dim).

        With a schema: `items` is a list of dicts, or a pandas frame, of named fields, and `context` a dict of those that all of them
        share. Where items have an "id", the decision has `ids`, and `exclude` may be ids, too.

        Instead of contexts, `items` (N, any) are the arms' own features and `shared` (any) what all of them have in common, a user's
        say; they are joined while they are scored: `join` "concat", unless given, "products" or "both" (`superarm.join_dim` has
        their dim).

        `slate` is K; unless given, the option slate. For an oracle that may leave arms out it is the most, and 0 no limit.
        `exclude` has arms that must not be chosen: flags (N), or indices. `event` is an id of your own. `expected` scores, (N) or
        (N, K), are for the algorithm `best` alone. What the oracle looks at goes by the names of `superarm.problem_names()`:
        costs, capacity, groups, discounts...

        With `propensities` the decision has its probabilities, for a log that is to be evaluated; that changes no slate.

        float32 and float64 in C order are used where they are; anything else that NumPy can read is copied.
        """
        if self._later is not None:
            self._take_dim(contexts, items, shared, join)
        request = self._requests.take()
        try:
            request.fill(self._takes, self._dim, contexts, self._slate if slate is None else slate, exclude, event, expected,
                         items, shared, join, context=context, propensities=propensities, **problem)
            with self._turn.lock, self._turn as agent:
                out = self._out  # where Ctrl-C came after the choice, there is a decision that nobody got: used again
                status = lib.sa_agent_select(agent, request.handle, out)
                if status:
                    raise self._failure(status)
                made, out[0] = out[0], _NULL
                return self._decision(request, made)
        finally:
            self._requests.give(request)

    def _decision(self, request: Request, made: Any) -> Decision:
        handle = ffi.gc(made, _destroy)
        return Decision(self._name, handle, request.ids(handle))

    def select_many(self, requests: Iterable[Any], **common: Any) -> List[Decision]:
        """A slate for each of several requests, faster than one by one, with the same ids, slates and numbers as long as no feedback
        would have come in between. A request is contexts, or a dict of what `select` takes; `common` holds for all that do not say
        otherwise. When one cannot be answered, none is. Not with the option count_pending.

        >>> import numpy as np, superarm
        >>> agent = superarm.Agent("cn-ucb", dim=3)
        >>> first, second = agent.select_many([np.eye(3), {"contexts": np.eye(3), "exclude": [0], "event": 7}], slate=2)
        >>> first.id, second.id, second.event
        (0, 1, 7)
        """
        asked: List[Dict[str, Any]] = [{"contexts": None, **common, **(request if isinstance(request, Mapping) else {"contexts": request})}
                                       for request in requests]
        if self._later is not None and asked:
            self._take_dim(**asked[0])
        taken = [self._requests.take() for _ in asked]
        try:
            for index, (request, given) in enumerate(zip(taken, asked)):
                slate = given.pop("slate", None)
                try:
                    request.fill(self._takes, self._dim, slate=self._slate if slate is None else slate, **given)
                except InputError as error:
                    raise InputError(f"request {index}: {error}") from error
            out = ffi.new("sa_decision *[]", len(taken))
            handles = ffi.new("sa_request *[]", [request.handle for request in taken])
            with self._turn.lock, self._turn as agent:
                status = lib.sa_agent_select_many(agent, handles, len(taken), out)
                if status:
                    raise self._failure(status)
            return [self._decision(request, pointer) for request, pointer in zip(taken, out)]
        finally:
            for request in taken:
                self._requests.give(request)

    def _failure(self, status: int) -> BaseException:
        """An exception in an oracle of the caller's own comes out as itself."""
        return (self._oracle.take_error() if self._oracle else None) or failure(status)

    def update(self, decision: Union[Decision, int], scores: Any, observed: Any = None) -> None:
        """Feedback for a decision, or for the id of one: scores (K) in the order of `decision.arms`, or a dict of scores by the ids
        of items, of which those that are not in it were not seen.

        `observed` (K) says which of them were seen; unseen is not zero: what was not seen teaches nothing, and may come in a
        later call. Feedback may come late, in any order, in parts, or never. Trains when the schedule says so.

        With the option feedback="total" it is one number, the sum of the slate's scores:

        >>> import numpy as np, superarm
        >>> agent = superarm.Agent("comblin-ucb", dim=3, feedback="total")
        >>> agent.update(agent.select(np.eye(3), slate=2), 1.5)
        """
        self._answer(lib.sa_agent_update, decision, scores, observed)

    def revise(self, decision: Union[Decision, int], scores: Any, observed: Any = None) -> None:
        """Other feedback for arms that have some, where it changed since: a click, then a purchase. `observed` (K) says which of the scores
        (K) are new; unless given, those of all arms that have feedback. It is as if it had come at first: for linear models at once, for
        networks with their next training.

        >>> import numpy as np, superarm
        >>> agent = superarm.Agent("comblin-ucb", dim=3)
        >>> decision = agent.select(np.eye(3), slate=2)
        >>> agent.update(decision, [1, 0])
        >>> agent.revise(decision, [20, 0])
        """
        self._answer(lib.sa_agent_revise, decision, scores, observed)

    def _scores(self, scores: Any) -> Any:
        """(K), or (1) where the agent learns from totals."""
        if self._totals and isinstance(scores, Mapping):
            raise InputError("scores: there is a dict, and with feedback=\"total\" one number is wanted, the sum of the slate's scores")
        values = arrays.doubles(scores, "scores")
        if self._totals and values.size == 1:
            return values.reshape(1)
        if self._totals:
            raise InputError(f"scores: the shape is {arrays.shape_text(values.shape)}, and with feedback=\"total\" one number is wanted, the "
                             f"sum of the slate's scores")
        if values.ndim != 1:
            raise InputError(f"scores: the shape is {arrays.shape_text(values.shape)}, and one for each arm of the slate is wanted")
        return values

    def _answer(self, call: Any, decision: Union[Decision, int], scores: Any, observed: Any) -> None:
        if isinstance(decision, Decision):
            number = self._known(decision)
        else:
            number = arrays.whole(decision, "decision")
        if isinstance(scores, Mapping) and not self._totals:
            scores, observed = _by_id(decision, scores, observed)
        values = self._scores(scores)
        seen = None if observed is None else arrays.flags(observed, "observed", len(values), "each score")
        pointer = _NULL if seen is None else arrays.bool_pointer(seen)
        with self._turn.lock, self._turn as agent:
            check(call(agent, number, arrays.double_pointer(values), pointer, len(values)))

    def learn_log(self, path: Union[str, "os.PathLike[str]"], *, skip_bad: bool = False) -> Dict[str, int]:
        """Learns from the slates and the feedback of a decision log, as if the agent had chosen them itself: from contexts, or with a
        schema from items and context. Returns how many decisions were learnt from, and how many were left out since they have no
        feedback or are not final. `skip_bad` skips lines that are wrong.

        >>> import os, superarm, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     log = os.path.join(folder, "log.jsonl")
        ...     _ = superarm.run(environment="h1", algorithm="random", rounds=20, arms=5, slate=2, dim=4, runs=1, log=log)
        ...     superarm.Agent("cn-ucb", dim=4, hidden=8).learn_log(log)
        {'decisions': 20, 'left_out': 0, 'ignored': 0}
        """
        learnt = ffi.new("sa_learnt *")
        encoded = c_text(path, "path")
        watch = _Watch()
        with self._turn.lock, self._turn as agent:
            status = lib.sa_agent_learn_log(agent, encoded, skip_bad, _NULL, lib.superarm_python_learning, watch.handle, learnt)
        if watch.error is not None:
            raise watch.error
        check(status)
        note = text(learnt.note)
        if note:
            warnings.warn(note, stacklevel=2)
        return {name: getattr(learnt, name) for name in ("decisions", "left_out", "ignored")}

    def _known(self, decision: Decision) -> int:
        if decision._agent != self._name:
            raise InputError(f"decision {decision.id} was made by another agent; an agent that was loaded from a file takes ids: "
                             f"update(decision.id, ...)")
        if decision.id is None:
            raise InputError("the decision is a policy's: agent.record(decision) first")
        return decision.id

    # ---- policies, and slates that were chosen elsewhere ----

    def policy(self) -> Policy:
        """The agent as it is now, for other threads to choose with while this one goes on learning. It costs little."""
        out = ffi.new("sa_policy **")
        with self._turn.lock, self._turn as agent:
            check(lib.sa_agent_policy(agent, out))
            takes = copy.copy(self._takes)
            return Policy(out[0], self._name, self._dim, self._slate, takes, self._oracle)

    def propensities(self, decision: Union[Decision, int]) -> Tuple[float, Any, Any]:
        """The probabilities of a decision that waits for its feedback, or of the id of one, where `select` was asked for them: of the
        ordered slate, of its first k arms (K), of arm k at position k (K). NaN and None where they are not known. They are saved with
        the agent."""
        number = self._known(decision) if isinstance(decision, Decision) else arrays.whole(decision, "decision")
        joint, lists, slate = ffi.new("double *"), ffi.new("double *[2]"), ffi.new("size_t *")
        with self._turn.lock, self._turn as agent:
            check(lib.sa_agent_propensities(agent, number, joint, lists, lists + 1, slate))
            prefix, position = (None if one == ffi.NULL else arrays.from_doubles(one, slate[0]) for one in lists)
        return joint[0], prefix, position

    def record(self, decision: Decision) -> None:
        """A decision that one of this agent's policies made now waits for its feedback here, and has an id. What it was asked with (the
        contexts, say) must be as it was."""
        if decision._agent != self._name:
            raise InputError("the decision was made by a policy of another agent")
        if decision._asked is None:
            raise InputError(f"the decision was recorded before: its id is {decision.id}")
        request = self._requests.take()
        try:
            request.fill(self._takes, self._dim, **decision._asked)
            with self._turn.lock, self._turn as agent:
                status = lib.sa_agent_record(agent, request.handle, decision._handle)
                if status:
                    raise self._failure(status)
                decision._asked = None
                decision.id = lib.sa_decision_id(decision._handle)
        finally:
            self._requests.give(request)

    def learn(self, contexts: Any = None, scores: Any = None, observed: Any = None, *, arms: Any = None, slate: Optional[int] = None,
              **asked: Any) -> None:
        """Feedback on a slate that somebody else chose: from a log, or before the first visitor.

        `contexts` (K, dim) are those of the slate, in the order of positions, and `scores` (K) what came of it; `observed` as for
        `update`. Where all candidates are known, `contexts` has them all and `arms` (K) says which were shown: then the agent learns
        just as if it had chosen the slate itself. `slate` is the K that was asked for, where fewer were shown. With
        feedback="total", `scores` is one number.

        >>> import numpy as np, superarm
        >>> agent = superarm.Agent("comblin-ucb", dim=3)
        >>> agent.learn(np.eye(3)[:2], [1.0, 0.0])
        >>> agent.counts["observations"]
        2
        """
        values = self._scores(scores)
        seen = None if observed is None else arrays.flags(observed, "observed", len(values), "each score")
        rows = contexts if contexts is not None else asked.get("items")
        shown = len(rows) if self._totals and rows is not None else len(values)
        chosen = arrays.indices(list(range(shown)) if arms is None else arms, "arms")
        if chosen.ndim != 1 or (not self._totals and chosen.shape != values.shape):
            raise InputError(f"arms: the shape is {arrays.shape_text(chosen.shape)}, and there are {len(values)} scores")
        request = self._requests.take()
        try:
            count = request.fill(self._takes, self._dim, contexts, len(chosen) if slate is None else slate, **asked)
            if arms is None and count != len(chosen):
                raise InputError(f"there are contexts of {count} arms and {len(values)} scores: give arms, which says which were shown")
            pointer = _NULL if seen is None else arrays.bool_pointer(seen)
            with self._turn.lock, self._turn as agent:
                check(lib.sa_agent_learn(agent, request.handle, arrays.size_pointer(chosen), arrays.double_pointer(values), pointer,
                                         len(chosen)))
        finally:
            self._requests.give(request)

    def train(self) -> None:
        """Trains now on the feedback so far; fine when there is none."""
        with self._turn.lock, self._turn as agent:
            check(lib.sa_agent_train(agent))

    # ---- keeping ----

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The whole agent as an .npz file that numpy.load opens, written atomically. Of an oracle of your own it knows only
        that there was one."""
        encoded = c_text(path, "path")
        if self._later is not None:
            raise InputError("the agent does not know its dim so far: give it dim, or ask for a slate first")
        with self._turn.lock, self._turn as agent:
            check(lib.sa_agent_save(agent, encoded))

    @classmethod
    def load(cls: Type["Agent"], path: Union[str, "os.PathLike[str]"], *, oracle: Any = None, **options: Any) -> "Agent":
        """A saved agent; it goes on bit for bit. `oracle`: the object of your own that it had, without which it is refused, or the name
        of one of ours instead. Options that do not change its shape may be given: seed, gamma, nu, train_every, pending_limit...

        >>> import os, superarm, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "agent.npz")
        ...     superarm.Agent("cn-ts", dim=3, hidden=20).save(path)
        ...     other = superarm.Agent.load(path, seed=2, nu=0.3)
        >>> other.options["seed"], other.options["nu"]
        (2, 0.3)
        """
        own = oracle is not None and not isinstance(oracle, str)
        names: List[Any] = []
        values: List[Any] = []

        def keep(name: bytes, value: bytes) -> int:
            names.append(ffi.new("char[]", name))
            values.append(ffi.new("char[]", value))
            return 0

        set_options({**options, "oracle": None if own else oracle}, keep, ("random_state",))
        out = ffi.new("sa_agent **")
        encoded = c_text(path, "path")
        check(lib.sa_agent_load_with(encoded, ffi.new("char *[]", names), ffi.new("char *[]", values), len(names), out))
        if not own and lib.sa_agent_needs_oracle(out[0]):
            lib.sa_agent_destroy(out[0])
            raise InputError(f"{os.fspath(path)!r} was saved with an oracle of your own: load(path, oracle=mine), or oracle=\"top-k\" for ours")
        agent = cls.__new__(cls)
        agent._begin(out[0], oracle if own else None)
        return agent

    def _bytes(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="superarm-") as folder:
            path = os.path.join(folder, "agent.npz")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __reduce__(self) -> Any:
        return _from_bytes, (type(self), self._bytes(), self.oracle, self._name)

    def __copy__(self) -> "Agent":
        return _from_bytes(type(self), self._bytes(), self.oracle, None)

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Agent":
        return _from_bytes(type(self), self._bytes(), copy.deepcopy(self.oracle, memo), None)

    def close(self) -> None:
        """Frees the agent's memory; any later use raises. Closing twice is fine."""
        self._turn.close()

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- looking ----

    @property
    def algorithm(self) -> str:
        return self._algorithm

    @property
    def dim(self) -> Optional[int]:
        """Features of an arm; None before the first request of an agent that was made without."""
        return self._dim if self._later is None else None

    @property
    def schema(self) -> Optional[Schema]:
        """How named fields of items become features; None where the agent has none."""
        return self._takes.schema

    @property
    def oracle(self) -> Any:
        """The oracle of your own; None where the option oracle names one of ours. Set it to None to go back to that."""
        return self._oracle.oracle if self._oracle else None

    @oracle.setter
    def oracle(self, oracle: Any) -> None:
        call = None if oracle is None else OracleCall(oracle)
        with self._turn.lock, self._turn as agent:
            check(lib.sa_agent_oracle(agent, _NULL if call is None else call.callbacks))
            self._oracle = call
            self._takes.own_oracle = call is not None
            self._takes.own_takes_problem = call is not None and call.takes_problem

    @property
    def counts(self) -> Dict[str, Any]:
        """Decisions made, answered, pending, trainings, bytes of memory...: sa_agent_counts of the C library. `mixture` is None for
        an agent without a companion."""
        counts = ffi.new("sa_agent_counts *")
        with self._turn.lock, self._turn as agent:
            lib.sa_agent_count(agent, counts)
        found = fields(counts[0])
        if found["mixture"]["b"] != found["mixture"]["b"]:  # NaN
            found["mixture"] = None
        return found

    @property
    def options(self) -> Dict[str, Any]:
        """The options in force."""
        with self._turn.lock, self._turn as agent:
            found = read_options(lib.sa_agent_options(agent))
        found["dim"] = self.dim
        return {name: value for name, value in found.items() if name in OF_AGENTS}

    def __repr__(self) -> str:
        closed = " (closed)" if self._turn.handle is None else ""
        return f"Agent({self._algorithm!r}, dim={self.dim}){closed}"

    def _repr_html_(self) -> str:
        """For notebooks: what it is, and what it has seen."""
        if self._turn.handle is None:
            return html.escape(repr(self))
        counts = self.counts
        rows = {"algorithm": self._algorithm, "features of an arm": self.dim, "preset": self.options.get("preset", ""), "decisions": counts["decisions"],
                "answered": counts["answered"], "waiting for feedback": counts["pending"], "observations": counts["observations"],
                "trainings": counts["trainings"], "memory": f"{counts['bytes'] / 1e6:.3g} MB"}
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items())
        return f"<table><tbody>{cells}</tbody></table>"


def _create(options: Any, schema: Optional[Schema] = None) -> Any:
    out = ffi.new("sa_agent **")
    check(lib.sa_agent_create(options, out) if schema is None else lib.sa_agent_create_with_schema(options, schema.handle, out))
    return out[0]


class _Watch:
    """While C learns from a log: Ctrl-C comes out."""

    def __init__(self) -> None:
        self.handle = ffi.new_handle(self)
        self.error: Optional[BaseException] = None

    def keep(self, error: BaseException) -> None:
        self.error = self.error or error


@ffi.def_extern(error=1, onerror=keep_error)
def superarm_python_learning(user, learnt):  # type: ignore[no-untyped-def]
    return 0  # Python delivers Ctrl-C on the way in


def _by_id(decision: Any, scores: Mapping[str, Any], observed: Any) -> Any:
    """Scores by id as scores and what was seen of them, in the order of the decision."""
    ids = decision.ids if isinstance(decision, Decision) else None
    if ids is None:
        raise InputError("scores: they are by id, and the decision's items have none")
    if observed is not None:
        raise InputError("observed: of scores by id, those that are not there were not seen")
    for name in scores:
        if name not in ids:
            raise InputError(f"scores: there is {name!r}, which is not in the slate: {', '.join(ids)}")
    return [float(scores.get(name, 0)) for name in ids], [name in scores for name in ids]


def _from_bytes(kind: Type[Agent], content: bytes, oracle: Any, name: Optional[str]) -> Agent:
    with tempfile.TemporaryDirectory(prefix="superarm-") as folder:
        path = os.path.join(folder, "agent.npz")
        with open(path, "wb") as file:
            file.write(content)
        agent = kind.load(path, oracle=oracle)
    if name:
        agent._name = name  # a pickle is the same agent elsewhere: it knows its decisions
    return agent
