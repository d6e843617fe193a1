"""Experiments: one environment, one or more agents, many runs. What `superarm run` does, and your own code in it."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Set, Tuple, Union

from . import _arrays as arrays
from . import _processes
from ._code import describe
from ._native import ffi, keep_error, lib, text
from ._options import Default, c_text
from ._options import options as list_options
from ._options import read_options, set_options
from ._oracles import OracleCall
from ._own import Failures, note, own_agent, own_environment
from .agent import Agent
from .errors import InputError, check, failure, need
from .results import CURVES, Results

_NULL = ffi.NULL


class Progress(NamedTuple):
    """How far a run is, for `progress=` functions."""

    jobs: int  # agents times runs
    jobs_done: int
    rounds_done: float  # share of all rounds, 0 to 1
    seconds: float  # since the start
    seconds_left: float  # estimated; negative while unknown
    label: str  # the agent whose run ended last, or ""
    regret: float  # its mean final regret so far


class Played(NamedTuple):
    """A round of one agent in one run, for `on_round=` and `on_run=` functions."""

    label: str
    run: int
    round: int  # from 0
    arms: Any  # (K) the slate
    scores: Any  # (K) what came of it; NaN where it was not seen
    expected_regret: float  # of the run so far
    realised_regret: float
    reward: float


AgentSpec = Union[str, Mapping[str, Any], Any]


DEFAULT_SEED: Any = Default(1)


def run(environment: Any = None, agents: Union[AgentSpec, Iterable[AgentSpec]] = None, *, rounds: Optional[int] = None,
        runs: Optional[int] = None, threads: Optional[int] = None, out: Union[str, "os.PathLike[str]", None] = None, oracle: Any = None,
        random_state: Optional[int] = DEFAULT_SEED, spec: Union[str, "os.PathLike[str]", None] = None, processes: Optional[int] = None,
        progress: Union[bool, Callable[[Progress], Any], None] = None, on_round: Optional[Callable[[Played], Any]] = None,
        on_run: Optional[Callable[[Played], Any]] = None, **options: Any) -> Results:
    """Runs agents in an environment, on the same draws, and returns what came of them.

    `environment` is a name (`superarm.choices("environments")`), or an object of your own with `contexts(t)`, `expected(t)` and
    `feedback(t, arms)` (`superarm.OwnEnvironment`). `agents` is a list, or a dict by label, of

    - names of algorithms (`superarm.algorithms()`), which are their labels,
    - dicts with "algorithm", "label" unless it is the algorithm's name, and options of that agent,
    - objects of your own with `select(contexts, k)` and `update(arms, scores)`, or classes of such (`superarm.OwnAlgorithm`).

    `oracle` is a name, or an object with `solve(scores, k)` and `alpha`. `out` is a folder for the results, which `superarm report`
    and `superarm.load` read; with `resume=True` what is there goes on, or where nothing is it begins, also with more runs or agents, and with
    `replace="label"` (or a list) those agents are run again from their first run: what your code is, is kept with the results, and runs of
    code that has changed are not mixed. `processes` spreads the runs over so
    many processes: threads share the interpreter's lock, so for algorithms of your own in Python these are what is faster. `random_state` is the seed (None: a new one each time),
    `spec` a YAML file of options (what is given beside it wins, and `agents` replace those in it), `progress` True, False or a function of a `Progress` that stops the runs by returning True; unless
    given, a bar appears where people watch (tqdm's where it is installed). Any option of `superarm.options()` may follow.

    >>> import superarm
    >>> results = superarm.run("h2", ["cn-ucb", {"label": "shy", "algorithm": "cn-ucb", "gamma": 0.1}, "random"],
    ...                        rounds=60, runs=2, arms=10, dim=5, hidden=20)
    >>> results.expected_regret["shy"].shape
    (2, 60)
    >>> results.expected_regret["cn-ucb"][:, -1].mean() < results.expected_regret["random"][:, -1].mean()
    True

    `on_round` is called with a `Played` after every round, and `on_run` after the last of each run, for a logger, say. With several threads, runs are
    told of side by side; not with `processes`.

    Exceptions in your own code come out as themselves, with a note of the run and round they came from. Ctrl-C ends the runs; those
    that are finished are kept in `out`.
    """
    asked = ask(environment, agents, oracle, random_state, spec, {"rounds": rounds, "runs": runs, "threads": threads, "out": out, **options})
    asked.hooks(on_round, on_run, processes)
    return do(asked, processes, progress)


def ask(environment: Any, agents: Any, oracle: Any, random_state: Optional[int], spec: Any, options: Dict[str, Any]) -> "_Asked":
    """The experiment as it is asked for."""
    seed = None if random_state is DEFAULT_SEED else secrets.randbits(62) if random_state is None else random_state
    out = options.get("out")
    asked = _Asked(spec)
    if agents is not None and options.get("algorithm") is not None:
        raise InputError("agents and algorithm both say who plays: give one of them")
    if out is not None and not isinstance(out, (str, os.PathLike)):
        raise InputError(f"out is {out!r}, and the path of a folder is wanted")
    if options.get("resume") and out is not None and not os.path.exists(os.path.join(os.fspath(out), "spec.yaml")):
        options = {**options, "resume": None}  # nothing to go on with: it begins
    asked.set({"random_state": seed, **options})
    if environment is not None:
        asked.environment(environment)
    if oracle is not None:
        asked.oracle(oracle)
    asked.agents(agents)
    return asked


def do(asked: "_Asked", processes: Optional[int], progress: Union[bool, Callable[[Progress], Any], None]) -> Results:
    """Runs it, here or in processes of its own."""
    if processes is not None and arrays.whole(processes, "processes") < 1:
        raise InputError(f"processes is {processes}, and must be at least 1")
    with _watcher(progress) as watch:
        if processes is None or processes == 1:
            asked.run(watch)
            return asked.results()
        with _processes.Shards(asked, processes) as shards:
            shards.run(watch)
            asked.run(_Watch(lambda now: False))  # finds all runs done, and puts them together
            return asked.results(kept=shards.temporary is None)


class _Asked:
    """A sa_experiment, and what its pointers are valid as long as."""

    def __init__(self, spec: Union[str, "os.PathLike[str]", None]) -> None:
        self.handle = ffi.gc(need(lib.sa_experiment_new()), lib.sa_experiment_destroy)
        self.failures = Failures()
        self._kept: List[Any] = []
        self._labels: Set[bytes] = set()
        self._oracle: Optional[OracleCall] = None
        if spec is not None:
            check(lib.sa_experiment_read(self.handle, c_text(spec, "spec")))

    def set(self, options: Mapping[str, Any]) -> None:
        set_options(options, lambda name, value: lib.sa_experiment_set(self.handle, name, value), ("random_state", "agents", "spec"))

    # ---- what is the caller's own ----

    def environment(self, environment: Any) -> None:
        if isinstance(environment, str):
            self.set({"environment": environment})
            return
        first_run = read_options(lib.sa_experiment_options(self.handle))["first_run"]
        own, calls = own_environment(environment, first_run, self.failures)
        self._kept.append(own)
        check(lib.sa_experiment_own_environment(self.handle, calls))

    def oracle(self, oracle: Any) -> None:
        if isinstance(oracle, str):
            self.set({"oracle": oracle})
            return
        self._oracle = OracleCall(oracle)
        self._kept.append(ffi.new("char[]", c_text(describe(oracle), "code")))
        self._oracle.callbacks.code = self._kept[-1]
        check(lib.sa_experiment_own_oracle(self.handle, self._oracle.callbacks))

    def agents(self, agents: Any) -> None:
        if agents is None:
            return
        named: List[Tuple[Optional[str], Any]]
        if isinstance(agents, Mapping) and "algorithm" not in agents:
            named = [(str(label), agent) for label, agent in agents.items()]
        else:
            alone = isinstance(agents, (str, Mapping)) or callable(agents) or hasattr(agents, "select") or not isinstance(agents, Iterable)
            named = [(None, agent) for agent in ([agents] if alone else agents)]
        if not named:
            raise InputError("agents is empty")
        lib.sa_experiment_clear_agents(self.handle)
        if all(label is None and isinstance(agent, str) for label, agent in named):
            self.set({"algorithm": ",".join(agent for _, agent in named)})
        else:
            for label, agent in named:
                self._agent(agent, label)

    def _agent(self, agent: AgentSpec, label: Optional[str]) -> None:
        if isinstance(agent, str):
            self._ours(agent if label is None else label, {"algorithm": agent})
        elif isinstance(agent, Mapping):
            own = {name: value for name, value in agent.items() if name != "label"}
            named = next((name for name in (label, agent.get("label"), own.get("algorithm")) if name is not None), None)
            if named is None:
                raise InputError(f"the agent {dict(agent)!r} has neither a label nor an algorithm")
            self._ours(str(named), own)
        elif isinstance(agent, Agent) or (isinstance(agent, type) and issubclass(agent, Agent)):
            raise InputError(f"{agent!r} is an agent of ours: give its algorithm and options instead, "
                             f"as in {{'algorithm': 'cn-ucb', 'gamma': 0.3}}, and every run gets a new one")
        else:
            names = (label, getattr(agent, "label", None), getattr(agent, "__name__", None), type(agent).__name__)
            self._own(agent, str(next(name for name in names if name is not None)))

    def _ours(self, label: str, options: Mapping[str, Any]) -> None:
        if not options:
            raise InputError(f"agent {label}: what is its algorithm?")
        name = self._label(label)
        set_options(options, lambda option, value: lib.sa_experiment_agent_set(self.handle, name, option, value))

    def _own(self, agent: Any, label: str) -> None:
        own, calls = own_agent(agent, label, self.failures)
        self._kept.append(own)
        check(lib.sa_experiment_own_agent(self.handle, self._label(label), calls))

    def _label(self, label: str) -> bytes:
        """C takes options for a label that it has as more of that agent's: here every agent is a new one."""
        name = c_text(label, "label")
        if name in self._labels:
            raise InputError(f"two agents are labelled {label}")
        self._labels.add(name)
        return name

    def hooks(self, on_round: Any, on_run: Any, processes: Optional[int]) -> None:
        for name, call in (("on_round", on_round), ("on_run", on_run)):
            if call is not None and not callable(call):
                raise InputError(f"{name} is {call!r}, and a function is wanted")
            if call is not None and processes not in (None, 1):
                raise InputError(f"{name} is called in this process, and processes={processes} makes the runs in others")
        if on_round is not None or on_run is not None:
            self._kept.append(ffi.new_handle((on_round, on_run, self.failures)))
            lib.sa_experiment_on_round(self.handle, lib.superarm_python_round, self._kept[-1])

    # ---- running ----

    def run(self, watch: "_Watch") -> None:
        watch.failures = self.failures
        self.checked(lambda: lib.sa_experiment_run(self.handle, lib.superarm_python_progress, watch.handle), watch)

    def checked(self, call: Callable[[], int], watch: Optional["_Watch"] = None) -> None:
        """A call of C that may call the caller's own code."""
        status = call()
        if self.failures.first is not None:  # even when all runs are done: progress may fail at the very end
            raise self.failures.first
        if not status:
            return
        error = failure(status)
        in_oracle = self._oracle.take_error() if self._oracle else None
        if in_oracle is not None:
            note(in_oracle, str(error))
            raise in_oracle
        if status == lib.SA_INTERRUPTED and not (watch and watch.asked_to_stop):
            raise KeyboardInterrupt
        raise error

    def results(self, kept: bool = True) -> Results:
        curves: Dict[str, Dict[str, Any]] = {name: {} for name in CURVES}
        agents: Dict[str, Dict[str, Any]] = {}
        common = read_options(lib.sa_experiment_options(self.handle))
        folder = (common["out"] or None) if kept else None
        result = ffi.new("sa_agent_result *")
        while lib.sa_experiment_result(self.handle, len(agents), result) == lib.SA_OK:
            label, options = text(result.label) or "", read_options(result.options)
            common.update({name: options[name] for name in _COMMON})  # sizes as the environment has them
            agents[label] = {"algorithm": text(result.algorithm), "display": text(result.display), "options": {name: options[name] for name in _OF_AGENTS},
                             **self._columns(len(agents))}
            for name in CURVES:
                pointer = getattr(result, name)
                if pointer:
                    curves[name][label] = arrays.from_doubles(pointer, result.runs * result.rounds).reshape(result.runs, result.rounds)
        return Results(curves, agents, {name: common[name] for name in (*_COMMON, *_OF_AGENTS)}, folder)

    def _columns(self, index: int) -> Dict[str, Union[int, float]]:
        """What is kept of runs, over all runs of an agent."""
        found: Dict[str, Union[int, float]] = {}
        name, value, whole = ffi.new("char **"), ffi.new("double *"), ffi.new("bool *")
        while lib.sa_experiment_column(self.handle, index, len(found), name, value, whole):
            found[text(name[0]) or ""] = int(value[0]) if whole[0] else value[0]
        return found


_OF_AGENTS = [option.name for option in list_options() if option.scope == "agent"]
_COMMON = [option.name for option in list_options() if option.scope in ("environment", "experiment")]


@ffi.def_extern(error=1)
def superarm_python_round(user, played):  # type: ignore[no-untyped-def]
    on_round, on_run, failures = ffi.from_handle(user)
    last = played.round + 1 == played.rounds
    if on_round is None and not last:
        return 0
    try:
        told = Played(text(played.label) or "", played.run, played.round, arrays.from_sizes(played.arms, played.length),
                      arrays.from_doubles(played.feedback, played.length), played.expected_regret, played.realised_regret, played.reward)
        if on_round is not None:
            on_round(told)
        if on_run is not None and last:
            on_run(told)
    except BaseException as error:
        failures.keep(error, f"agent {text(played.label)}, run {played.run}, t = {played.round}, in what is called after a round")
        return 1
    return 0


# ---- progress ----


class _Watch:
    """What C calls now and then, from the caller's own thread: here Python's signal handlers get their turn. Where an exception has no
    traceback the run ends as interrupted."""

    def __init__(self, show: Callable[[Progress], Any]) -> None:
        self.show = show
        self.failures = Failures()
        self.asked_to_stop = False
        self.handle = ffi.new_handle(self)

    def keep(self, error: BaseException) -> None:
        if self.failures.first is None:
            self.failures.first = error


@ffi.def_extern(error=1, onerror=keep_error)
def superarm_python_progress(user, now):  # type: ignore[no-untyped-def]
    watch = ffi.from_handle(user)
    watch.asked_to_stop = bool(watch.show(Progress(now.jobs, now.jobs_done, now.rounds_done, now.seconds, now.seconds_left,
                                                   text(now.label) or "", now.regret)))
    return watch.asked_to_stop


@contextlib.contextmanager
def _watcher(progress: Union[bool, Callable[[Progress], Any], None]) -> Iterator[_Watch]:
    if callable(progress):
        yield _Watch(progress)
    elif (progress and sys.stderr is not None) or (progress is None and _watched()):
        bar = _bar()
        try:
            yield _Watch(bar.show)
        finally:
            bar.close()
    else:
        yield _Watch(lambda now: False)


def _watched() -> bool:
    return sys.stderr is not None and ("ipykernel" in sys.modules or sys.stderr.isatty())


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Notebook() if "ipykernel" in sys.modules else _Line()
    return _Tqdm(tqdm(total=100, bar_format="{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"))


class _Tqdm:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, now: Progress) -> None:
        self._bar.n = round(100 * now.rounds_done, 1)
        self._bar.set_description_str(f"{now.jobs_done} of {now.jobs} runs ", refresh=False)
        if now.label:
            self._bar.set_postfix_str(f"{now.label}: regret {now.regret:.4g}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Line:
    """As the program shows it."""

    def show(self, now: Progress) -> None:
        last = f"  {now.label}: regret {now.regret:.4g}" if now.label else ""
        left = f"  {now.seconds_left:.0f} s left" if now.seconds_left >= 0 and now.rounds_done < 1 else ""
        print(f"\r{100 * now.rounds_done:3.0f}%  {now.jobs_done} of {now.jobs} runs{last}{left}\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


class _Notebook:
    """A bar below the cell, which goes when the runs are done."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html, self._shown = HTML, ""
        self._display = display(HTML(""), display_id=True)

    def show(self, now: Progress) -> None:
        last = f", {html.escape(now.label)}: regret {now.regret:.4g}" if now.label else ""
        left = f", {now.seconds_left:.0f} s left" if now.seconds_left >= 0 and now.rounds_done < 1 else ""
        bar = f'<progress max="100" value="{100 * now.rounds_done:.0f}"></progress> {now.jobs_done} of {now.jobs} runs{last}{left}'
        if bar != self._shown:
            self._shown = bar
            self._display.update(self._html(bar))

    def close(self) -> None:
        self._display.update(self._html(""))
