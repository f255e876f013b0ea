"""Replay recorded usage through Tautline's recommenders, on Arrow tables.

>>> import tautline
>>> result = tautline.replay("usage.csv.gz", recommenders=["peak", "analogs"], warmup="14d")
>>> result.table.to_pandas()

A table is any object with ``__arrow_c_stream__``: pyarrow, Polars, DuckDB and pandas tables. The numbers are those of
``taut replay`` on the same rows, to the bit. Errors have the texts of ``taut``.
"""

from __future__ import annotations

import datetime as _datetime
import os as _os
import sys as _sys
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _engine
from ._engine import __version__

__all__ = ["Result", "Table", "read_trace", "recommenders", "replay", "__version__"]

Progress = Callable[[str, float, float], None]
_Paths = Union[str, "_os.PathLike[str]", Sequence[Union[str, "_os.PathLike[str]"]]]


class Table:
    """A table in memory. Readers of Arrow streams take it as it is: ``pyarrow.table(t)``, ``polars.DataFrame(t)``."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def column_names(self) -> List[str]:
        """Names of the columns, in order."""
        return list(self._table.column_names)

    def to_pyarrow(self) -> Any:
        """Returns a ``pyarrow.Table`` that shares the memory of this table. Requires pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame``. Requires pyarrow and pandas."""
        return self.to_pyarrow().to_pandas()

    def __repr__(self) -> str:
        return f"<tautline.Table: {len(self)} rows of {', '.join(self.column_names)}>"


class Result:
    """A finished replay."""

    def __init__(self, replayed: Any) -> None:
        self._replayed = replayed

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

    def explain(self, job: str, at: Union[None, int, float, _datetime.datetime] = None) -> Dict[str, str]:
        """Returns why the limits of a job are as they are, as text by "RECOMMENDER RESOURCE".

        ``at``: a time (seconds since 1970, or a datetime; one without a zone is UTC); later usage is not seen. None:
        the end. Runs the replay again up to that time.
        """
        if isinstance(at, _datetime.datetime):
            at = (at if at.tzinfo else at.replace(tzinfo=_datetime.timezone.utc)).timestamp()
        return dict(self._replayed.explain(job, None if at is None else int(at)))

    @property
    def job_names(self) -> List[str]:
        """Names of all jobs, in the order of their first row."""
        return list(self._replayed.job_names())

    @property
    def input(self) -> str:
        """What was read: rows, jobs, days, and rows that were skipped, by cause."""
        return self._replayed.input()

    def json(self, jobs: bool = False) -> str:
        """Returns the result as ``taut replay --json`` writes it (``jobs=True``) or prints it (``jobs=False``)."""
        return self._replayed.json(jobs)

    def report(self, path: Union[str, "_os.PathLike[str]"], title: str = "Replay") -> None:
        """Writes the report: one HTML page that needs no network."""
        page = self._replayed.report(title)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __str__(self) -> str:
        return self._replayed.text()


def recommenders() -> Dict[str, str]:
    """Returns the names of all recommenders, each with one line about it."""
    return dict(_engine.recommenders())


def _paths(paths: _Paths) -> List[str]:
    one = isinstance(paths, (str, _os.PathLike))
    return [_os.fspath(p) for p in ([paths] if one else paths)]  # type: ignore[union-attr,list-item]


def _settings(settings: Optional[Mapping[str, Any]]) -> List[str]:
    return [f"{key}={value}" for key, value in (settings or {}).items()]


def _bar() -> Optional[Progress]:
    """Returns a progress bar on a terminal if tqdm is installed, else nothing."""
    if not _sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    bar = tqdm(unit="day", leave=False)

    def show(text: str, done: float, total: float) -> None:
        bar.set_description(text)
        if total > 0:
            bar.total = int(total)
            bar.n = int(done)
        bar.refresh()
        if total > 0 and done >= total:
            bar.close()

    return show


def replay(
    table: Any,
    recommenders: Iterable[str] = (),
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
    strict: bool = False,
    spill_memory: str = "512MiB",
    progress: Union[None, bool, Progress] = None,
) -> Result:
    """Replays usage through recommenders as in production, and scores each.

    Args:
        table: rows of usage as an Arrow stream, or the path or paths of a trace in any format that ``taut`` reads.
            Columns: ``time`` (timestamp, or a number of s, ms, us or ns since 1970), ``job`` (text or integer),
            ``cpu_cores`` or ``memory_bytes`` or both; optional: ``task``, ``cpu_limit``, ``memory_limit``,
            ``oom_kills``, ``duration`` (seconds, up to 300), ``cpu_max``. Rows may be in any order; a null or NaN is
            absent. Invalid rows are skipped and counted in :attr:`Result.input`.
        recommenders: names from :func:`recommenders`; empty: all that jobs may use.
        resources: "cpu", "memory"; empty: both.
        warmup: time from the first window on that is replayed but not scored, such as "14d".
        feedback: "none", or "oom-restart": a task above its memory limit is killed and absent for
            ``restart_delay``.
        mode: "recommend" (recommendations become limits at once), or "auto", "canary", "observe" as in tautd.
        policy: settings of a job for modes other than "recommend".
        settings: settings of recommenders, such as ``{"margin": "0.2"}``.
        threads: 0: one per core. The result does not depend on it.
        strict: raise ValueError with column, row and value for the first invalid row.
        progress: None: a tqdm bar on a terminal; False: silent; or a function of text, done and total.

    Raises:
        ValueError: an argument, a column or (with ``strict``) a row is invalid; the message names it.
        KeyboardInterrupt: Ctrl-C, between two days.
    """
    trace = _engine.TraceArgs()
    trace.format = format
    trace.strict = strict
    trace.spill_memory = spill_memory
    is_table = hasattr(table, "__arrow_c_stream__")
    if not is_table:
        try:
            trace.paths = _paths(table)
        except TypeError:
            raise TypeError(
                f"table is a {type(table).__name__}: expected an object with __arrow_c_stream__ "
                "(pyarrow, Polars, DuckDB, pandas 2.2 or later), a path, or paths"
            ) from None
    engine = _engine.EngineArgs()
    engine.recommenders = [recommenders] if isinstance(recommenders, str) else list(recommenders)
    engine.resources = [resources] if isinstance(resources, str) else list(resources)
    engine.warmup = warmup
    engine.feedback = feedback
    engine.restart_delay = restart_delay
    engine.mode = mode
    engine.policy = _settings(policy)
    engine.set = _settings(settings)
    engine.cap_at_owner = cap_at_owner
    engine.compatibility = compatibility
    engine.threads = threads
    shown = _bar() if progress in (None, True) else progress or None
    return Result(_engine.replay(table if is_table else None, trace, engine, shown))


def read_trace(paths: _Paths, *, format: str = "auto", strict: bool = False) -> Table:
    """Reads the usage rows of a trace, in any format that ``taut`` reads, into a table that :func:`replay` accepts.

    ``format``: as ``taut replay --format``. ``memory_bytes`` is the peak of the row where the trace has it, else the
    mean. Changes of limits that a trace has apart from its rows are in ``replay(paths)`` only.
    """
    args = _engine.TraceArgs()
    args.paths = _paths(paths)
    args.format = format
    args.strict = strict
    return Table(_engine.read_trace(args))
