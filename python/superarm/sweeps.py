"""Sweeps: every combination of a grid of options, and of parameters of your own algorithms. What `superarm sweep` does."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

from ._native import lib
from ._options import c_text, is_option, option_name, option_text
from .errors import InputError, check
from .experiments import DEFAULT_SEED, Played, Progress, ask, do
from .results import Results


def sweep(environment: Any = None, agents: Any = None, *, grid: Mapping[str, Iterable[Any]], rounds: Optional[int] = None,
          runs: Optional[int] = None, threads: Optional[int] = None, processes: Optional[int] = None,
          out: Union[str, "os.PathLike[str]", None] = None, oracle: Any = None, random_state: Optional[int] = DEFAULT_SEED,
          spec: Union[str, "os.PathLike[str]", None] = None, progress: Union[bool, Callable[[Progress], Any], None] = None,
          on_round: Optional[Callable[[Played], Any]] = None, on_run: Optional[Callable[[Played], Any]] = None,
          **options: Any) -> Results:
    """Runs every agent in every cell of the grid, and returns what came of them, labelled by the cells' values.

    `grid` has lists of values, by the names of options (of agents, of the environment, or random_state), or of parameters that your own
    algorithms take when they are made; all else is as in `superarm.run`. With `out`, `superarm report` makes a page of it, with a
    heat map where the grid has two options.

    >>> import superarm
    >>> results = superarm.sweep("h2", "cn-ucb", grid={"gamma": [0.1, 1], "hidden": [10, 20]}, rounds=20, runs=2, arms=6, dim=4)
    >>> results.labels
    ['gamma=0.1,hidden=10', 'gamma=0.1,hidden=20', 'gamma=1,hidden=10', 'gamma=1,hidden=20']
    """
    if not grid:
        raise InputError("grid is empty: give it options with lists of values, as in {'gamma': [0.1, 1]}")
    axes: Dict[str, List[Any]] = {}
    for name, values in grid.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise InputError(f"grid: {name} is {values!r}, and a list of values is wanted")
        axes[name] = list(values)
        if not axes[name]:
            raise InputError(f"grid: {name} has no values")
    own = {name: values for name, values in axes.items() if not is_option(name)}
    asked = ask(environment, _expand(agents, own), oracle, random_state, spec,
                {"rounds": rounds, "runs": runs, "threads": threads, "out": out, **options})
    for name, values in axes.items():
        flag = "seed" if name == "random_state" else option_name(name)
        for value in values if name not in own else ():
            check(lib.sa_experiment_grid(asked.handle, c_text(flag, name), c_text(option_text(name, value), name)))
    asked.hooks(on_round, on_run, processes)
    return do(asked, processes, progress)


def _expand(agents: Any, own: Mapping[str, List[Any]]) -> Any:
    """Your algorithms with every combination of their parameters."""
    if not own:
        return agents
    if isinstance(agents, Mapping) and "algorithm" not in agents:
        named = dict(agents)
    else:
        alone = isinstance(agents, (str, Mapping)) or callable(agents) or not isinstance(agents, Iterable)
        named = {getattr(agent, "__name__", str(agent)): agent for agent in ([agents] if alone else agents)}
    expanded: Dict[str, Any] = {}
    for label, agent in named.items():
        if not callable(agent):
            raise InputError(f"grid: {', '.join(own)} is no option, and the agent {label} is no class or function that could take it")
        takes = inspect.signature(agent).parameters
        for name in own:
            if name not in takes:
                raise InputError(f"grid: {name} is neither an option nor a parameter of {label}")
        for values in itertools.product(*own.values()):
            cell = dict(zip(own, values))
            words = [f"{name}={value}" for name, value in cell.items()]
            expanded[",".join(words if len(named) == 1 else [label, *words])] = functools.partial(agent, **cell)
    return expanded
