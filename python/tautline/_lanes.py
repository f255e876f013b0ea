"""A function of Python as the recommender of a replay: asked once per day, with a fallback for each way to fail."""

from __future__ import annotations

import datetime as _datetime
import math as _math
import queue as _queue
import threading as _threading
import time as _time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ._verbs import Table

_LOOK = 0.05  # seconds between two looks at whether the replay is to stop


class Day:
    """What a function gets: the day whose limits it answers, and the usage of the day before."""

    def __init__(self, start_s: int, resource: str, jobs: List[str], usage: Any) -> None:
        #: Start of the day, UTC.
        self.start = _datetime.datetime.fromtimestamp(start_s, _datetime.timezone.utc)
        #: "memory" (amounts in bytes) or "cpu" (amounts in cores).
        self.resource = resource
        #: Names of the jobs with usage on the day.
        self.jobs = jobs
        #: Usage of the replayed day before by window of 5 minutes and task: ``time`` (UTC), ``job``, ``task``, ``mean``,
        #: ``peak``, ``owner_limit`` (per task; null: none). None before the first day.
        self.usage: Optional[Table] = None if usage is None else Table(usage)

    def __repr__(self) -> str:
        return f"<tautline.Day {self.start:%Y-%m-%d}: {self.resource} of {len(self.jobs)} jobs>"


Function = Callable[[Day], Mapping[str, Optional[float]]]


def name_of(function: Function) -> str:
    """Returns the name of a function's lane."""
    return getattr(function, "__name__", type(function).__name__)


class Lane:
    """Asks a function in a thread of its own. Counts the job-days for which there is no valid answer, by cause."""

    def __init__(self, function: Function, time_limit: float) -> None:
        self._function = function
        self._time_limit = time_limit
        self._asked: "_queue.Queue[Day]" = _queue.Queue()
        self._answered: "_queue.Queue[Tuple[Any, Optional[str]]]" = _queue.Queue()
        self._hangs = False
        self.fallbacks: Dict[str, int] = {}
        _threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            day = self._asked.get()
            if day is None:
                return
            try:
                self._answered.put((dict(self._function(day)), None))
            except BaseException as error:  # pylint: disable=broad-except
                self._answered.put((None, f"raised {type(error).__name__}: {error}"))

    def close(self) -> None:
        """Ends the thread once the function returns."""
        self._asked.put(None)  # type: ignore[arg-type]

    def _answer(self, day: Day, stopped: Callable[[], bool]) -> Tuple[Any, Optional[str]]:
        if self._hangs:
            return None, f"did not return within {self._time_limit:g} s"
        self._asked.put(day)
        end = _time.monotonic() + self._time_limit
        while not stopped():
            try:
                return self._answered.get(timeout=max(0.0, min(_LOOK, end - _time.monotonic())))
            except _queue.Empty:
                if _time.monotonic() >= end:
                    self._hangs = True
                    return None, f"did not return within {self._time_limit:g} s"
        return {}, None

    def _count(self, cause: str, jobs: int) -> None:
        self.fallbacks[cause] = self.fallbacks.get(cause, 0) + jobs

    def __call__(self, start_s: int, resource: str, jobs: List[str], usage: Any, stopped: Callable[[], bool]) -> List[Tuple[int, float]]:
        answers, failed = self._answer(Day(start_s, resource, list(jobs), usage), stopped)
        if failed is not None:
            self._count(failed, len(jobs))
            return []
        numbers = {job: number for number, job in enumerate(jobs)}
        out = []
        for job, limit in answers.items():
            if job not in numbers:
                self._count("answered a job without usage on the day", 1)
            elif limit is None:
                self._count("answered None", 1)
            else:
                try:
                    value = float(limit)
                except (TypeError, ValueError):
                    value = _math.nan
                if 0 < value < _math.inf:
                    out.append((numbers[job], value))
                else:
                    self._count("answered no number above 0" if _math.isnan(value) else f"answered {value:g}", 1)
        if missing := len(numbers.keys() - answers.keys()):
            self._count("did not answer a job", missing)
        return out
