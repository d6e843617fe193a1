"""What came of an experiment, from memory or from a folder."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _arrays as arrays
from ._native import lib
from ._options import keyword
from .errors import FileError, FormatError, InputError, NewerVersion, check

if TYPE_CHECKING:
    from numpy.typing import NDArray

CURVES = ("expected_regret", "realised_regret", "reward", "clicks")
_NAMES = {"expected_regret": "Cumulative expected regret", "realised_regret": "Cumulative realised regret", "reward": "Cumulative reward",
          "clicks": "Clicks"}
_BANDS = {"sd": "mean and one standard deviation", "ci95": "mean and its 95% interval", "quartiles": "mean and quartiles",
          "range": "mean, worst and best run", None: None}
_MARKS = "os^Dvos^Dv"  # of the report's figures; from the sixth on they are empty
_FORMAT = 1  # of summary.json


class Results:
    """The runs of every agent.

    `expected_regret`, `realised_regret`, `reward` and, where there are clicks, `clicks` are dicts of arrays (runs, rounds), by the
    agents' labels, each cumulative; `options` are those for all agents, `agents` has each agent's algorithm, the name that people read
    (`display`: marked where its settings are not its paper's), options, times and memory, and `certificate` (docs/SCALE.md; NaN where there is none); `folder` is where they are, or None.
    """

    def __init__(self, curves: Mapping[str, Dict[str, Any]], agents: Dict[str, Dict[str, Any]], options: Dict[str, Any],
                 folder: Optional[str]) -> None:
        self.expected_regret: Dict[str, NDArray[np.float64]] = curves["expected_regret"]
        self.realised_regret: Dict[str, NDArray[np.float64]] = curves["realised_regret"]
        self.reward: Dict[str, NDArray[np.float64]] = curves["reward"]
        self.clicks: Dict[str, NDArray[np.float64]] = curves["clicks"]
        self.agents = agents
        self.options = options
        self.folder = folder

    @property
    def labels(self) -> List[str]:
        """The agents, in the order in which they were asked for."""
        return list(self.agents)

    @property
    def runs(self) -> int:
        return int(next(iter(self.reward.values())).shape[0])

    @property
    def rounds(self) -> int:
        return int(next(iter(self.reward.values())).shape[1])

    def __repr__(self) -> str:
        return f"Results({', '.join(self.labels)}: {self.runs} runs of {self.rounds} rounds)"

    def summary(self, *, as_dict: Optional[bool] = None) -> Any:
        """A line for each agent: after the last round the mean over the runs of each curve, its standard deviation (_sd) and 95%
        confidence interval (_low, _high), and of regrets the worst run (_worst); and the seconds and bytes that it took. A
        pandas.DataFrame where pandas is installed, a plain dict of dicts without it or with `as_dict`.

        >>> import superarm
        >>> results = superarm.run("h1", ["random", "best"], rounds=20, runs=2)
        >>> results.summary(as_dict=True)["best"]["expected_regret"]
        0.0
        """
        lines = {label: self._line(label) for label in self.labels}
        if as_dict:
            return lines
        try:
            import pandas
        except ImportError:
            if as_dict is None:
                return lines
            raise
        return pandas.DataFrame.from_dict(lines, orient="index")

    def _line(self, label: str) -> Dict[str, Any]:
        about = self.agents[label]
        runs, rounds = self.reward[label].shape
        line: Dict[str, Any] = {"algorithm": about["algorithm"], "display": about["display"], "runs": runs, "rounds": rounds}
        there = {name: getattr(self, name)[label] for name in CURVES if label in getattr(self, name)}
        alike = runs > 1 and all((curves == curves[0]).all() for curves in there.values())
        for name in CURVES:
            curves = there.get(name)
            if curves is not None:
                mean, sd, low, high, worst = final_mean(curves[:1] if alike else curves)  # runs that are all alike count as one
                line.update({name: mean, f"{name}_sd": sd, f"{name}_low": low, f"{name}_high": high})
                if name.endswith("regret"):
                    line[f"{name}_worst"] = worst
        line.update({name: value for name, value in about.items() if name not in ("algorithm", "display", "options")})
        return line

    def plot(self, curve: Optional[str] = None, *, ax: Any = None, labels: Union[str, Iterable[str], Mapping[str, str], None] = None,
             band: Optional[str] = "sd") -> Any:
        """Draws the mean over the runs, round by round, with matplotlib: into `ax`, or into a new figure; returns the axes. Names, colours
        and marks are those of `superarm report`.

        `curve` is "expected_regret", "realised_regret", "reward" or "clicks", unless given the regret that the option show_regret
        names. `band` is "sd" (one standard deviation, as in the paper), "ci95" (the confidence interval of the mean), "quartiles",
        "range" (the worst and the best run) or None. `labels`: which agents, a list or one, or a dict of labels to names to show.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("Results.plot draws with matplotlib, which is not installed") from error
        shown = keyword(str(curve)) if curve is not None else f"{self.options.get('show_regret', 'expected')}_regret"
        if shown not in CURVES or not getattr(self, shown):
            there = ", ".join(name for name in CURVES if getattr(self, name))
            raise InputError(f"curve {curve!r}: there are {there}")
        if band not in _BANDS:
            raise InputError(f"band {band!r}: there are sd, ci95, quartiles, range and None")
        chosen = self.labels if labels is None else [labels] if isinstance(labels, str) else list(labels)
        if not chosen:
            raise InputError("labels is empty, and there would be nothing to draw")
        for label in chosen:
            if label not in self.agents:
                raise InputError(f"there is no agent {label!r}; there are {', '.join(self.labels)}")
        ax = ax if ax is not None else pyplot.subplots(layout="constrained")[1]
        names = labels if isinstance(labels, Mapping) else {}
        for label, look in zip(chosen, _looks(chosen, self.agents)):
            curves = getattr(self, shown)[label]
            rounds = np.arange(1, curves.shape[1] + 1)
            look = {**look, "label": names.get(label, look["label"]), "markevery": max(1, len(rounds) // 7)}
            line, = ax.plot(rounds, curves.mean(axis=0), **look)
            if band and len(curves) > 1:
                low, high = _band(curves, band)
                ax.fill_between(rounds, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        ax.set_xlabel("Round")
        ax.set_ylabel(_NAMES[shown])
        ax.set_xlim(0, self.rounds)
        if ax.dataLim.ymin >= 0:
            ax.set_ylim(bottom=0)
        ax.legend(title=_BANDS[band] if self.runs > 1 else None)
        return ax


def final_mean(curves: Any) -> Tuple[float, float, float, float, float]:
    """Mean, deviation, 95% interval and the largest of the ends of curves (runs, rounds)."""
    ends = np.ascontiguousarray(curves[:, -1])
    found = lib.sa_final_mean(arrays.double_pointer(ends), len(ends), 1)
    return found.mean, found.sd, found.low, found.high, found.worst


def _looks(labels: List[str], agents: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """How the report draws these agents beside each other, as matplotlib says it."""
    from ._native import ffi, text
    from ._options import c_text

    kept = [[ffi.new("char[]", c_text(word, "label")) for word in words]
            for words in (labels, [agents[label]["algorithm"] for label in labels],
                          [agents[label]["options"].get("preset", "tuned") for label in labels])]
    hidden = [int(agents[label]["options"].get("hidden", 0)) for label in labels]
    look = ffi.new("sa_agent_style *")
    found = []
    for index in range(len(labels)):
        check(lib.sa_agent_style_of(kept[0], kept[1], kept[2], hidden, len(labels), index, look))
        colour, dots = text(look.colour), (look.dashes - 1) % 3 + 1
        style: Any = (0, (8 * (1 + (look.dashes - 1) // 3), 3, *(2, 3) * dots)) if look.dashes else "-"
        found.append({"label": agents[labels[index]].get("display") or text(look.name), "color": colour, "linestyle": style, "marker": _MARKS[look.mark],
                      "markerfacecolor": colour if look.mark < 5 else "white"})
    return found


def _band(curves: Any, band: str) -> Tuple[Any, Any]:
    if band in ("quartiles", "range"):
        low, high = np.quantile(curves, (0.25, 0.75) if band == "quartiles" else (0, 1), axis=0)
        return low, high
    mean = curves.mean(axis=0)
    half = curves.std(axis=0, ddof=1)
    if band == "ci95":
        runs = len(curves)
        unit = final_mean(np.arange(float(runs))[:, None])  # Student's quantile over sqrt(runs), times a deviation that is known
        half = half * (unit[3] - unit[0]) / unit[1]
    return mean - half, mean + half


# ---- from a folder ----


def load(folder: Union[str, "os.PathLike[str]"]) -> Results:
    """The results in a folder, as `superarm.run(out=...)` and `superarm run --out` write them."""
    path = os.fspath(folder)
    summary = _read_summary(os.path.join(path, "summary.json"), path)
    curves: Dict[str, Dict[str, Any]] = {name: {} for name in CURVES}
    agents: Dict[str, Dict[str, Any]] = {}
    try:
        for label, about in summary["agents"].items():
            numbers = {name: value for name, value in about.items() if isinstance(value, (int, float)) and name not in ("runs", "rounds")}
            agents[label] = {"algorithm": about["algorithm"], "display": about.get("display", label), "options": _keywords(about["options"]), **numbers}
            agents[label].setdefault("certificate", float("nan"))  # null, or of an older version
            for name in CURVES:
                if name in about or name == "reward":
                    curves[name][label] = _read_curves(os.path.join(path, label, f"{name}.npy"), (about["runs"], about["rounds"]))
        return Results(curves, agents, _keywords(summary["options"]), path)
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{path}/summary.json is not the summary of an experiment: {error!r}") from error


def _keywords(options: Mapping[str, Any]) -> Dict[str, Any]:
    return {keyword(name): value for name, value in options.items()}


def _read_summary(path: str, folder: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
    except FileNotFoundError:
        if os.path.exists(os.path.join(folder, "spec.yaml")):
            raise InputError(f"{folder} holds an unfinished experiment: run it with out and resume=True to go on, or let `superarm report` "
                             f"put together what is there") from None
        raise FileError(f"{folder} has no summary.json, so it is not the folder of an experiment") from None
    except (OSError, UnicodeError) as error:
        raise FileError(f"{path} could not be read: {error}") from error
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    if not isinstance(summary, dict) or not isinstance(summary.get("agents"), dict):
        raise FormatError(f"{path} is not the summary of an experiment")
    written = summary.get("format", _FORMAT)
    if not isinstance(written, int):
        raise FormatError(f"{path} has the format {written!r}, and a whole number is wanted")
    if written > _FORMAT:
        raise NewerVersion(f"{path} was written by a newer version")
    return summary


def _read_curves(path: str, shape: Tuple[int, int]) -> Any:
    try:
        curves = np.load(path, allow_pickle=False)
    except OSError as error:
        raise FileError(f"{path} could not be read: {error}") from error
    except (ValueError, EOFError) as error:
        raise FormatError(f"{path}: {error}") from error
    if curves.dtype != arrays.DOUBLE or curves.shape != shape:
        raise FormatError(f"{path} has shape {curves.shape} and dtype {curves.dtype}, and not {shape} and float64")
    return curves
