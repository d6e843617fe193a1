"""What came of an experiment, from memory or from a folder."""

from __future__ import annotations

import html
import json
import math
import os
import tempfile
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
_BANDS = {"sd": "mean and one standard deviation", "se": "mean and one standard error", "ci95": "mean and its 95% interval", "quartiles": "mean and quartiles",
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

    def to_frame(self, *, long: bool = False, curve: Optional[str] = None) -> Any:
        """As a pandas.DataFrame: the summary, or with `long` a row for each agent, run and round, with the columns label, display, run, round
        and every curve, or the one that is named."""
        import pandas

        if not long:
            return self.summary(as_dict=False)
        names = [self._curve(curve)] if curve is not None else [name for name in CURVES if getattr(self, name)]
        frames = []
        for label in self.labels:
            runs, rounds = self.reward[label].shape
            columns = {"label": label, "display": self.agents[label]["display"], "run": np.repeat(np.arange(runs), rounds),
                       "round": np.tile(np.arange(1, rounds + 1), runs)}
            frames.append(pandas.DataFrame({**columns, **{name: getattr(self, name)[label].ravel() for name in names if label in getattr(self, name)}}))
        return pandas.concat(frames, ignore_index=True)

    def _curve(self, curve: Optional[str]) -> str:
        """The curve that is meant: unless named, the regret that the option show_regret names."""
        shown = keyword(str(curve)) if curve is not None else f"{self.options.get('show_regret', 'expected')}_regret"
        if shown not in CURVES or not getattr(self, shown):
            there = ", ".join(name for name in CURVES if getattr(self, name))
            raise InputError(f"curve {curve!r}: there are {there}")
        return shown

    def differences(self, reference: Optional[str] = None, *, curve: Optional[str] = None) -> Dict[str, Dict[str, float]]:
        """Each agent minus the reference (the first agent), run by run, after the last round: mean, sd, low and high (Student's 95%
        interval), the p-value of a two-sided paired t-test, and `holm`, the same after Holm's correction for that many comparisons.

        >>> import superarm
        >>> results = superarm.run("h1", ["comblin-ucb", "random"], rounds=50, runs=3, dim=5)
        >>> results.differences()["random"]["mean"] > 0
        True
        """
        first, shown = self.labels[0] if reference is None else reference, self._curve(curve)
        if first not in self.agents:
            raise InputError(f"there is no agent {first!r}; there are {', '.join(self.labels)}")
        found: Dict[str, Dict[str, float]] = {}
        for label in self.labels:
            if label == first:
                continue
            apart = getattr(self, shown)[label][:, -1] - getattr(self, shown)[first][:, -1]
            mean, sd, low, high, _ = final_mean(apart[:, None])
            found[label] = {"mean": mean, "sd": sd, "low": low, "high": high, "p": _paired_p(apart)}
        order = sorted((label for label in found if found[label]["p"] == found[label]["p"]), key=lambda label: found[label]["p"])
        for label in found:
            found[label]["holm"] = float("nan")
        least = 0.0
        for rank, label in enumerate(order):
            least = max(least, min(1.0, (len(order) - rank) * found[label]["p"]))
            found[label]["holm"] = least
        return found

    def report(self, out: Union[str, "os.PathLike[str]", None] = None, **style: Any) -> str:
        """Writes what `superarm report` writes, into `out` or the results' own folder, and returns the path of the page. `style`: format,
        title, size, log, band, agent, against, regret, columns, as the program's flags."""
        return _report(self._folder(), out, style)[0]

    def latex(self, **style: Any) -> str:
        """The table for a paper, as `superarm report --format latex` writes it; `columns="mean,sd"` and `against` are of use."""
        with tempfile.TemporaryDirectory() as folder:
            page, _ = _report(self._folder(), folder, {**style, "format": "latex"})
            with open(page, encoding="utf-8") as file:
                return file.read()

    def _folder(self) -> str:
        if self.folder is None:
            raise InputError("a report is made of a folder of results: run with out=, or superarm.load one")
        return self.folder

    def _repr_html_(self) -> str:
        """For notebooks: the summary's regret, an agent a row."""
        shown = self._curve(None)
        head = "".join(f"<th>{name}</th>" for name in ("agent", "runs", f"mean {shown.replace('_', ' ')}", "sd", "95% interval", "worst"))
        rows = []
        for line in self.summary(as_dict=True).values():
            numbers = [line[f"{shown}{name}"] for name in ("", "_sd", "_low", "_high", "_worst")]
            mean, sd, low, high, worst = ("-" if number != number else f"{number:.5g}" for number in numbers)
            rows.append(f"<tr><th>{html.escape(line['display'])}</th><td>{line['runs']}</td><td>{mean}</td><td>{sd}</td>"
                        f"<td>{low} to {high}</td><td>{worst}</td></tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def plot(self, curve: Optional[str] = None, *, ax: Any = None, labels: Union[str, Iterable[str], Mapping[str, str], None] = None,
             band: Optional[str] = "sd") -> Any:
        """Draws the mean over the runs, round by round, with matplotlib: into `ax`, or into a new figure; returns the axes. Names, colours
        and marks are those of `superarm report`.

        `curve` is "expected_regret", "realised_regret", "reward" or "clicks", unless given the regret that the option show_regret
        names. `band` is "sd" (one standard deviation, as in the paper), "se", "ci95" (the confidence interval of the mean), "quartiles",
        "range" (the worst and the best run) or None. `labels`: which agents, a list or one, or a dict of labels to names to show.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("Results.plot draws with matplotlib, which is not installed") from error
        shown = self._curve(curve)
        if band not in _BANDS:
            raise InputError(f"band {band!r}: there are sd, se, ci95, quartiles, range and None")
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


def _paired_p(apart: Any) -> float:
    """Two-sided, of Student's t with n - 1 degrees of freedom, by the incomplete beta function's continued fraction (Lentz)."""
    runs = len(apart)
    deviation = float(np.std(apart, ddof=1)) if runs > 1 else float("nan")
    if not deviation > 0:
        return float("nan") if runs < 2 else (1.0 if float(np.mean(apart)) == 0 else float("nan"))
    t, freedom = float(np.mean(apart)) / (deviation / math.sqrt(runs)), runs - 1
    x, a, b = freedom / (freedom + t * t), freedom / 2, 0.5
    flip = x > (a + 1) / (a + b + 2)
    if flip:
        x, a, b = 1 - x, b, a
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a if 0 < x < 1 else 0.0
    tiny, c, d = 1e-300, 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 300):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 + step * d, 1 + step / c
            d, c = 1 / (d if abs(d) > tiny else tiny), c if abs(c) > tiny else tiny
            fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return 1 - front * fraction if flip else front * fraction


def _report(folder: str, out: Any, style: Mapping[str, Any]) -> Tuple[str, str]:
    """The paths of the page, and the tables as text."""
    from ._native import ffi, text
    from ._options import c_text, option_text

    report = ffi.new("sa_report **")
    path = ffi.new("char[]", c_text(folder, "folder"))
    check(lib.sa_report_open([path], 1, report))
    try:
        for name, value in style.items():
            for one in value if name == "agent" and isinstance(value, (list, tuple)) else [value]:
                check(lib.sa_report_set(report[0], c_text(name, "style"), c_text(option_text(name, one), name)))
        check(lib.sa_report_write(report[0], ffi.NULL if out is None else c_text(out, "out")))
        return text(lib.sa_report_page(report[0])) or "", text(lib.sa_report_table(report[0])) or ""
    finally:
        lib.sa_report_destroy(report[0])


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
    if band == "se":
        half = half / np.sqrt(len(curves))
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
