"""Parts of the engine one by one: a recommender of one job, and histograms."""

from __future__ import annotations

import datetime as _datetime
from typing import Any, Iterable, List, Mapping, Optional, Tuple, Union

from . import _engine
from ._verbs import Table

Time = Union[int, float, _datetime.datetime]


def seconds_of(time: Time) -> int:
    """Returns seconds since 1970, UTC. A datetime without a zone is UTC."""
    if isinstance(time, _datetime.datetime):
        time = (time if time.tzinfo else time.replace(tzinfo=_datetime.timezone.utc)).timestamp()
    return int(time // 1)


def duration_of(value: Union[None, str, float, _datetime.timedelta]) -> str:
    """Returns a duration as ``taut`` reads it; "" for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{int(value.total_seconds() if isinstance(value, _datetime.timedelta) else value)}s"


def settings_of(settings: Optional[Mapping[str, Any]]) -> List[str]:
    """Returns settings as KEY=VALUE."""
    return [f"{key}={value}" for key, value in (settings or {}).items()]


_ENGINE_OPTIONS = ("warmup", "feedback", "restart_delay", "mode", "cap_at_owner", "compatibility", "threads")
_TRACE_OPTIONS = ("format", "from_", "to", "group", "strict", "spill_memory")


def _set(arguments: Any, options: Mapping[str, Any], known: Iterable[str]) -> Any:
    """Sets options of the engine's arguments; the others keep the defaults of ``taut``. TypeError names an unknown option."""
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"unexpected option {name!r}; known: {', '.join(known)}")
        setattr(arguments, name, value)
    return arguments


def engine_of(recommenders: Union[str, Iterable[str]] = (), *, resources: Union[str, Iterable[str]] = (), policy: Optional[Mapping[str, Any]] = None,
              settings: Optional[Mapping[str, Any]] = None, **options: Any) -> Any:
    """Returns the arguments of a replay for the engine. :func:`tautline.replay` documents them."""
    engine = _set(_engine.EngineArgs(), options, _ENGINE_OPTIONS)
    engine.recommenders = [recommenders] if isinstance(recommenders, str) else list(recommenders)
    engine.resources = [resources] if isinstance(resources, str) else list(resources)
    engine.policy = settings_of(policy)
    engine.set = settings_of(settings)
    return engine


def trace_of(paths: Iterable[str] = (), **options: Any) -> Any:
    """Returns the arguments of reading a trace for the engine. :func:`tautline.replay` documents them."""
    trace = _set(_engine.TraceArgs(), options, _TRACE_OPTIONS)
    trace.paths = list(paths)
    return trace


def _by_task(values: Any, what: str) -> List[Tuple[int, Any]]:
    """Returns (task, value) ascending by task, without None and NaN. One number is of task 0."""
    if isinstance(values, Mapping):
        pairs = sorted((int(task), value) for task, value in values.items())
    elif isinstance(values, Iterable):
        pairs = list(enumerate(values))
    else:
        pairs = [(0, values)]
    present = [(task, value) for task, value in pairs if value is not None and value == value]
    for task, value in present:
        if not 0 <= task < 2**31:
            raise ValueError(f"{what}: task {task}: expected 0 or more")
        if not 0 <= value < float("inf"):
            raise ValueError(f"{what}: {value}: expected a number of 0 or more")
    return present


class Recommender:
    """A recommender of one resource of one job, which steps as in a replay of that job alone.

    Args:
        name: one of :func:`tautline.recommenders`, such as "analogs".
        resource: "memory" or "cpu".
        settings: settings of the recommender, such as ``{"peak.margin": 0.2}``.
        job: the job's name. Recommenders that decide once a day spread jobs over the day by it.

    Raises:
        ValueError: an unknown name, resource or setting; the message names it.

    Source: src/brain/recommend, and src/brain/fleet/job_stepper.h for the order of steps.
    """

    def __init__(self, name: str, *, resource: str = "memory", settings: Optional[Mapping[str, Any]] = None, job: str = "job") -> None:
        self._name = name
        self._resource = resource
        self._engine = _engine.Recommender(name, resource, settings_of(settings), job)

    def observe(self, time: Time, usage: Union[None, float, Iterable[Optional[float]], Mapping[int, float]], *,
                owner_limit: Optional[float] = None, oom_kills: Union[int, Iterable[int], Mapping[int, int]] = 0) -> None:
        """Adds a window of 5 minutes. Windows ascend; a gap means "not measured".

        Args:
            time: a time in the window: seconds since 1970, or a datetime.
            usage: by task, as a list or as a dictionary; a number is that of task 0. Memory: the peak in bytes; CPU: the mean
                in cores. None or NaN is not measured.
            owner_limit: the owner's limit per task, bytes or cores; None: none.
            oom_kills: kills in the window by task, in the form of ``usage``. Memory only.

        Raises:
            ValueError: the window is not later than the last one; usage, a limit or a count is negative or infinite.
        """
        kills = [(task, count) for task, count in _by_task(oom_kills, "oom_kills") if count > 0]
        if kills and self._resource != "memory":
            raise ValueError("oom_kills: expected with resource memory")
        limits = _by_task(owner_limit, "owner_limit")
        if limits and limits[0][1] == 0:
            raise ValueError("owner_limit: 0: expected more than 0, or None for no limit")
        self._engine.observe(seconds_of(time), _by_task(usage, "usage"), kills, limits[0][1] if limits else None)

    def recommend(self, at: Optional[Time] = None) -> Optional[float]:
        """Returns the limit per task, bytes or cores; None: too little history.

        ``at``: a time in the window whose limit is asked, after the last observed one; None: the window after it. A limit for
        a later day ends the day, so that only windows of that day may follow.
        """
        return self._engine.recommend(None if at is None else seconds_of(at))

    def explain(self) -> str:
        """Returns why the limit is as it is, as text: facts, candidates, and each step to the limit."""
        return self._engine.explain()

    def __repr__(self) -> str:
        return f"<tautline.Recommender {self._name} of {self._resource}: {self.recommend()}>"


class Histogram:
    """A histogram whose samples lose half of their weight per half-life, on the grid of a resource.

    The grid has 16 buckets per power of two: 1 millicore to 1,048 cores, or 1 MiB to 16 TiB.

    Args:
        resource: "memory" (values in bytes) or "cpu" (values in cores).
        half_life: a duration such as "24h", a timedelta, or seconds; None: samples keep their weight.

    Raises:
        ValueError: an unknown resource, or a half-life that is no duration above 0.

    Source: src/common/histogram/decaying_histogram.h; Autopilot (EuroSys'20), equations (1) and (3).
    """

    def __init__(self, resource: str, half_life: Union[None, str, float, _datetime.timedelta] = None) -> None:
        self._engine = _engine.Histogram(resource, duration_of(half_life))

    def add(self, value: Union[float, Iterable[float]], *, weight: float = 1.0, time: Time = 0) -> None:
        """Adds a value, or each of several values, with a weight at a time. ValueError: negative, NaN or infinite."""
        values = value if isinstance(value, Iterable) else [value]
        self._engine.add([float(v) for v in values], float(weight), seconds_of(time))

    def quantile(self, p: float) -> float:
        """Returns the smallest bucket bound that holds at least the share ``p`` (0 to 1) of the weight; 0 if empty."""
        return self._engine.quantile(p)

    @property
    def mean(self) -> float:
        """Weighted mean of the upper bounds of the buckets, bytes or cores; 0 if empty."""
        return self._engine.mean()

    @property
    def peak(self) -> float:
        """Upper bound of the highest bucket that is not empty, bytes or cores; 0 if empty."""
        return self._engine.peak()

    def weight(self, time: Time = 0) -> float:
        """Returns the sum of the weights as they have decayed until ``time``."""
        return self._engine.weight(seconds_of(time))

    def merge(self, other: "Histogram") -> None:
        """Adds the samples of ``other``, each at its age. ValueError for another resource or half-life."""
        self._engine.merge(other._engine)

    def buckets(self, time: Time = 0) -> Table:
        """Returns the buckets that are not empty: ``upper_bound`` (bytes or cores) and ``weight`` as of ``time``."""
        rows = self._engine.buckets(seconds_of(time))
        return Table(_engine.table([("upper_bound", [bound for bound, _ in rows]), ("weight", [weight for _, weight in rows])]))
