"""Superarm: slates chosen online, with neural networks and honest confidence widths.

>>> import numpy as np, superarm
>>> rng = np.random.default_rng(1)
>>> agent = superarm.Agent("cn-ucb", dim=5, random_state=1)
>>> for _ in range(3):
...     contexts = rng.normal(size=(20, 5))             # 20 candidate arms, 5 features each
...     decision = agent.select(contexts, slate=4)      # 4 of them, best first
...     clicks = contexts[decision.arms, 0] > 0         # what came of them
...     agent.update(decision, clicks)
>>> agent.counts["observations"]
12
"""

from __future__ import annotations

from ._lists import Algorithm, Choice, algorithms, choices
from ._native import __version__
from ._options import Option, options
from ._oracles import Oracle, OracleInfo, Solution, oracles, problem_names, solve
from ._own import OwnAlgorithm, OwnEnvironment
from ._requests import join_dim
from ._theory import ntk, theory
from .agent import Agent
from .client import Client, ServiceError
from .decision import Decision
from .errors import (
    AgentClosed,
    AlreadyAnswered,
    CallbackFailed,
    DiskError,
    Error,
    FileError,
    FormatError,
    InputError,
    Interrupted,
    NewerVersion,
    OutOfMemory,
    UnknownDecision,
    Unsupported,
)
from .evaluation import Evaluation, evaluate
from .experiments import Played, Progress, run
from .logs import LogEntry, read_log
from .policy import Estimates, Policy
from .results import Results, load
from .schema import Column, Schema
from .sweeps import sweep

__all__ = [
    "Agent", "AgentClosed", "Algorithm", "AlreadyAnswered", "CallbackFailed", "Choice", "Client", "Column", "Decision", "DiskError", "Error",
    "Estimates", "Evaluation", "FileError", "FormatError", "InputError", "Interrupted", "LogEntry", "NewerVersion", "Option", "Oracle",
    "OracleInfo", "OutOfMemory", "OwnAlgorithm", "OwnEnvironment", "Played", "Policy", "Progress", "Results", "Schema", "ServiceError", "Solution",
    "UnknownDecision", "Unsupported", "__version__", "algorithms", "choices", "evaluate", "join_dim", "load", "ntk", "options",
    "oracles", "problem_names", "read_log", "run", "solve", "sweep", "theory",
]
