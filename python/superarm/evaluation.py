"""Off-policy evaluation: what another policy would have earned on a log's decisions."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, List, Union

from . import _arrays as arrays
from ._native import ffi, lib
from ._native import text as to_text
from .errors import InputError, check

Names = Union[str, Iterable[str], None]
Path = Union[str, "os.PathLike[str]"]


class Evaluation:
    """Estimates for one policy or several.

    `estimators` has those of the first policy: a dict by name of dicts with `value`, `standard_error`, `ci95`,
    `effective_sample_size`, `largest_weight`, `no_overlap`, and `bootstrap95` where that was asked for. `policies` has them by
    policy, `differences` those of each further policy to the first. `warnings` are sentences to read.

    Of a service's log with a control side, `control` is what its decisions earned, measured (`events`, `value`,
    `standard_error`, `ci95`; None without one), and each estimator has `minus_control`.
    """

    def __init__(self, answer: Dict[str, Any]) -> None:
        self.events: int = answer["events"]
        self.left_out: Dict[str, int] = answer["left_out"]
        self.estimators: Dict[str, Dict[str, Any]] = answer["estimators"]
        every = answer.get("policies", {answer["policy"]: answer})
        self.policies: Dict[str, Dict[str, Dict[str, Any]]] = {name: found["estimators"] for name, found in every.items()}
        self.differences: Dict[str, Dict[str, Dict[str, Any]]] = {
            name: found["difference"] for name, found in every.items() if "difference" in found}
        self.control: Dict[str, Any] | None = answer.get("control")
        self.warnings: List[str] = answer["warnings"]

    def __repr__(self) -> str:
        lines = [f"Evaluation of {self.events} decisions"]
        for policy, estimators in self.policies.items():
            for name, found in estimators.items():
                low, high = found["ci95"]
                lines.append(f"  {policy:12} {name:10} {found['value']:10.6g}  [{_short(low)}, {_short(high)}]")
        if self.control:
            low, high = self.control["ci95"]
            lines.append(f"  {'control':12} {'measured':10} {self.control['value']:10.6g}  [{_short(low)}, {_short(high)}]")
        return "\n".join(lines)


def _short(number: Any) -> str:
    return "unknown" if number is None else f"{number:.6g}"


def _list(value: Names, name: str) -> Any:
    """A text with commas, for C; NULL for None."""
    if value is None:
        return ffi.NULL
    words = [value] if isinstance(value, str) else list(value)
    if not words or not all(isinstance(word, (str, os.PathLike)) for word in words):
        raise InputError(f"{name} is {value!r}, and a name or a list of names is wanted")
    return ffi.new("char[]", ",".join(os.fspath(word) for word in words).encode())


def evaluate(log: Path, policy: Names = "given", estimators: Names = None, *, model: str = "network", folds: int = 5,
             logging: str = "uniform", lengths: str = "request", bootstrap: int = 0, seed: int = 1,
             skip_bad: bool = False) -> Evaluation:
    """What policies would have earned on the decisions of a log: the mean a decision of the sum of its feedback.

    `policy` is "given" (the log has its probabilities), "uniform" or "logged", or a list of them; `estimators` as `superarm
    evaluate --help` lists them, and `model` the reward model of dm, dr and cascade-dr: "network", "ridge" or "zero".
    docs/EVALUATION.md says which to trust when.

    >>> import json, os, superarm, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "log.jsonl")
    >>> with open(path, "w") as file:
    ...     for i in range(200):
    ...         line = {"contexts": [[0.0], [1.0]], "slate": [i % 2], "propensity": 0.5, "feedback": [i % 2]}
    ...         print(json.dumps(line), file=file)
    >>> superarm.evaluate(path, "uniform", "ips").estimators["ips"]["value"]
    0.5
    """
    if lengths not in ("request", "policy"):
        raise InputError(f"lengths is {lengths!r}, and request or policy is wanted")
    kept = {"policies": _list(policy, "policy"), "estimators": _list(estimators, "estimators"),
            "model": ffi.new("char[]", model.encode()), "logging": ffi.new("char[]", logging.encode())}
    settings = ffi.new("sa_evaluate_settings *", kept)
    settings.lengths_by_policy = lengths == "policy"
    settings.skip_bad = bool(skip_bad)
    settings.bootstrap = arrays.whole(bootstrap, "bootstrap")
    settings.folds = arrays.whole(folds, "folds")
    settings.seed = arrays.whole(seed, "seed")
    out = ffi.new("sa_evaluation **")
    check(lib.sa_evaluate(os.fsencode(log), settings, out))
    answer = ffi.gc(out[0], lib.sa_evaluation_destroy)
    return Evaluation(json.loads(to_text(lib.sa_evaluation_json(answer)) or "{}"))
