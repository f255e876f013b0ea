"""Replay recorded usage through Tautline's recommenders, on Arrow tables.

>>> import tautline
>>> result = tautline.replay("usage.csv.gz", recommenders=["peak", "analogs"], warmup="14d")
>>> result.table.to_pandas()

A table is any object with ``__arrow_c_stream__``: pyarrow, Polars, DuckDB and pandas tables. The numbers are those of
``taut replay`` on the same rows, to the bit. Errors have the texts of ``taut``.
"""

from __future__ import annotations

import json as _json
import os as _os
import re as _re
import warnings as _warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from . import _engine
from ._engine import __version__
from ._lanes import Day, Function, Lane, name_of
from ._parts import Histogram, Recommender, Time, engine_of, seconds_of, trace_of
from ._verbs import Option, Outcome, Paths, Progress, Table, Verb, bar_for, is_table, paths_of
from .commands import analyze, bill, compact, economy, overcommit, replicas, simulate, tune

__all__ = ["Day", "Histogram", "Option", "Outcome", "Recommender", "Result", "Table", "Verb", "analyze", "bill", "compact", "economy", "generate", "overcommit",
           "read_trace", "recommenders", "replay", "replicas", "simulate", "tune", "__version__"]


class Result:
    """A finished replay."""

    def __init__(self, replayed: Any, function: str = "", fallback: str = "", fallbacks: Optional[Dict[str, int]] = None) -> None:
        self._replayed = replayed
        self._function = function  # name of the function that was the recommender; "": none
        self._fallback = fallback
        #: Job-days for which a function gave no valid limit, by cause; the fallback's limits were in force.
        self.fallbacks: Dict[str, int] = fallbacks or {}

    @property
    def table(self) -> Table:
        """Scores: one row per recommender and resource.

        ``unit`` is that of the amounts (``footprint_mean``, ``slack_absolute``) and of the amounts times seconds
        (``limit_seconds`` ...). docs/reference/formats.md describes each column (taut-replay/1).
        """
        return Table(self._replayed.scores())

    @property
    def jobs(self) -> Table:
        """Scores: one row per job, recommender and resource with a scored day."""
        return Table(self._replayed.jobs())

    @property
    def decisions(self) -> Table:
        """Limits by time: the first limit of each job, and each change.

        Columns: ``time`` (start of the window from which the limit is in force, UTC), ``job``, ``resource``,
        ``recommender``, ``limit`` (cores or bytes per task; null: no limit).
        """
        return Table(self._replayed.decisions())

    def limits(self, job: str) -> Table:
        """Returns the rows of :attr:`decisions` of one job. KeyError with the nearest names for an unknown job."""
        return Table(self._replayed.decisions(job))

    def explain(self, job: str, at: Optional[Time] = None) -> Dict[str, str]:
        """Returns why the limits of a job are as they are, as text by "RECOMMENDER RESOURCE".

        ``at``: a time (seconds since 1970, or a datetime; one without a zone is UTC); later usage is not seen. None:
        the end. Runs the replay again up to that time. ValueError if the recommender was a function.
        """
        if self._function:
            raise ValueError("explain: the limits are those of a function of Python")
        return dict(self._replayed.explain(job, None if at is None else seconds_of(at)))

    @property
    def job_names(self) -> List[str]:
        """Names of all jobs, in the order of their first row."""
        return list(self._replayed.job_names())

    @property
    def input(self) -> str:
        """Summary of the input: rows, jobs, days, and skipped rows by cause."""
        return self._replayed.input()

    def json(self, jobs: bool = False) -> str:
        """Returns the result as ``taut replay --json`` writes it (``jobs=True``) or prints it (``jobs=False``)."""
        text = self._replayed.json(jobs)
        if not self._function:
            return text
        return text.replace(f'"recommender": {_json.dumps(self._fallback)}', f'"recommender": {_json.dumps(self._function)}')

    def report(self, path: Union[str, "_os.PathLike[str]"], title: str = "Replay") -> None:
        """Writes the report: one HTML page that needs no network."""
        page = self._replayed.report(title)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __str__(self) -> str:
        text = self._replayed.text()
        if not self._function:
            return text
        # The name fills the column of names, which is as wide as the fallback's name and the blanks after it.
        row = _re.compile(f"^{_re.escape(self._fallback)} +", _re.MULTILINE)
        return row.sub(lambda found: self._function.ljust(len(found[0]) - 1) + " ", text)

    def _warn(self) -> None:
        if self.fallbacks:
            causes = "; ".join(f"{count} job-days: {self._function} {cause}" for cause, count in self.fallbacks.items())
            _warnings.warn(f"the limits of {self._fallback} were in force on {causes}", stacklevel=3)


def recommenders() -> Dict[str, str]:
    """Returns the names of all recommenders, each with one line about it."""
    return dict(_engine.recommenders())


def replay(
    table: Any,
    recommenders: Union[str, Iterable[str], Function] = (),
    *,
    resources: Iterable[str] = (),
    warmup: str = "7d",
    feedback: str = "none",
    restart_delay: str = "10m",
    mode: str = "recommend",
    policy: Optional[Mapping[str, Any]] = None,
    settings: Optional[Mapping[str, Any]] = None,
    cap_at_owner: bool = False,
    compatibility: str = "",
    threads: int = 0,
    format: str = "auto",
    from_: str = "",
    to: str = "",
    group: int = 1,
    strict: bool = False,
    spill_memory: str = "512MiB",
    fallback: str = "static",
    time_limit: float = 60,
    progress: Union[None, bool, Progress] = None,
) -> Result:
    """Replays usage through recommenders as in production, and scores each.

    Args:
        table: rows of usage as an Arrow stream, or the path or paths of a trace in any format that ``taut`` reads.
            Columns: ``time`` (timestamp, or a number of s, ms, us or ns since 1970), ``job`` (text or integer),
            ``cpu_cores`` or ``memory_bytes`` or both; optional: ``task``, ``cpu_limit``, ``memory_limit``,
            ``oom_kills``, ``duration`` (seconds, up to 300), ``cpu_max``. Rows may be in any order; a null or NaN is
            absent. Invalid rows are skipped and counted in :attr:`Result.input`.
        recommenders: names from :func:`recommenders`; empty: all that jobs may use. Or a function, which is the only
            recommender: it gets a :class:`Day` for each day and resource, and returns the limit of a task by job.
            A function sees nothing of the day whose limits it answers but the names of its jobs. As in tautd its
            limits are rounded (memory up to whole MiB), bounded, and raised after an OOM kill.
        fallback: with a function, the recommender whose limits are in force where the function has none: it raises, takes
            longer than ``time_limit`` (it is not asked again), or answers NaN, 0 or less. "static": the owner's limit.
            The result counts these job-days (:attr:`Result.fallbacks`), and a UserWarning says them. The report has
            the function's lane under the name of its fallback.
        time_limit: seconds that a function may take for a day.
        resources: "cpu", "memory"; empty: both.
        warmup: time from the first window on that is replayed but not scored, such as "14d".
        feedback: "none", or "oom-restart": a task above its memory limit is killed and absent for
            ``restart_delay``.
        mode: "recommend" (recommendations become limits at once), or "auto", "canary", "observe" as in tautd.
        policy: settings of a job for modes other than "recommend".
        settings: settings of recommenders, such as ``{"margin": "0.2"}``.
        threads: 0: one per core. The result does not depend on it.
        format, from_, to, group: of paths only: the options --format, --from, --to and --group of ``taut replay``.
        strict: raise ValueError with column, row and value for the first invalid row.
        progress: None: a tqdm bar on a terminal; False: silent; or a function of text, done and total.

    Raises:
        ValueError: an argument, a column or (with ``strict``) a row is invalid; the message names it.
        FileNotFoundError: a path does not exist.
        KeyboardInterrupt: Ctrl-C, between two days.
    """
    given = table if is_table(table) else None
    trace = trace_of([] if given is not None else paths_of(table), format=format, from_=from_, to=to, group=group, strict=strict, spill_memory=spill_memory)
    lane = Lane(recommenders, time_limit) if callable(recommenders) else None
    engine = engine_of(fallback if lane is not None else recommenders, resources=resources, warmup=warmup, feedback=feedback,  # type: ignore[arg-type]
                       restart_delay=restart_delay, mode=mode, policy=policy, settings=settings, cap_at_owner=cap_at_owner,
                       compatibility=compatibility, threads=threads)
    if lane is None:
        return Result(_engine.replay(given, trace, engine, bar_for(progress), None, ""))
    name = name_of(recommenders)  # type: ignore[arg-type]
    try:
        result = Result(_engine.replay(given, trace, engine, bar_for(progress), lane, name), name, fallback, lane.fallbacks)
    finally:
        lane.close()
    result._warn()
    return result


def read_trace(paths: Paths, *, format: str = "auto", strict: bool = False) -> Table:
    """Reads the usage rows of a trace, in any format that ``taut`` reads, into a table that :func:`replay` accepts.

    ``format``: as ``taut replay --format``. ``memory_bytes`` is the peak of the row where the trace has it, else the
    mean. Changes of limits that a trace has apart from its rows are in ``replay(paths)`` only.
    """
    return Table(_engine.read_trace(trace_of(paths_of(paths), format=format, strict=strict)))


def generate(path: Union[str, "_os.PathLike[str]"], *, jobs: int = 200, days: int = 28, seed: int = 1, start: str = "0") -> None:
    """Writes a synthetic trace for demonstrations: the file of ``taut trace generate``.

    ``path``: .csv or .csv.gz. ``start``: the time of the first window, seconds or a date such as "2026-10-05". The same
    seed gives the same trace.
    """
    options = {"jobs": jobs, "days": days, "seed": seed, "start": start}
    words = [f"--{name}={value}" for name, value in options.items()]
    _engine.run_command(["trace", "generate", *words, "--", _os.fspath(path)], None, None)
