"""Replays and analyses fleets on Apache Spark. The numbers equal those of ``taut`` in every bit, for any number of workers.

>>> from tautline import spark
>>> days = spark.job_days(usage)                 # a Spark DataFrame of usage rows, or the paths of a trace
>>> days.write.parquet("s3://bucket/days")       # read it again with session.read.parquet(...)
>>> result = spark.replay(days, ["peak", "analogs"], warmup="14d", workers=16)
>>> result.table.to_pandas()

A row of ``job_days()`` is the packed usage of one job on one day. ``replay()`` divides the jobs between workers. If a
recommender learns from the fleet, the workers run at the same time (a barrier stage). At the end of each day they exchange
shares, from which the recommender's fleet model learns. Otherwise each worker replays its jobs alone. The package must be
installed on all executors.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import multiprocessing.connection
import queue
import secrets
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import pyarrow
import pyarrow.fs
from pyspark import BarrierTaskContext, StorageLevel, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from . import _engine, commands
from ._parts import engine_of, trace_of
from ._verbs import Outcome, Paths, Table, paths_of

__all__ = ["Result", "analyze", "each", "job_days", "replay", "tune"]

_Batches = Iterator[pyarrow.RecordBatch]

_COLUMNS = ("time", "job", "task", "cpu_cores", "memory_bytes", "cpu_limit", "memory_limit", "oom_kills", "duration", "cpu_max")
_PACKS = ("job string, program string, sensitivity bigint, priority bigint, day bigint, rows bigint, first_us bigint, reader bigint, "
          "named_tasks bigint, pack binary")
_JOBS = ("job string, recommender string, resource string, job_days bigint, slack_mean double, limit_seconds double, "
         "owner_limit_seconds double, usage_seconds double, windows bigint, windows_over bigint, usage_over_seconds double, "
         "oom_days bigint, serious_oom_days bigint, ooms bigint, changes bigint")
_DECISIONS = "time timestamp, job string, resource string, recommender string, limit double"
# Formats whose files may be read separately: a file contains whole jobs, or its tasks have numbers.
_APART = ("google2019", "csv", "bitbrains")


# ---- usage to packs ----


def _packs(source: Any, trace: Any, reader: int, memory_bytes: int) -> _Batches:
    """Packs a table (None: the files of ``trace``) in a thread, and yields the packs."""
    ready: "queue.Queue[Any]" = queue.Queue(2)
    stopped = threading.Event()

    def put(item: Any) -> bool:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                ready.put(item, timeout=0.2)
                return True
        return False

    def work() -> None:
        try:
            _engine.pack(source, trace, reader, memory_bytes, put)
            put(None)
        except BaseException as error:  # pylint: disable=broad-except  # raised again by the reader of the queue
            put(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield from pyarrow.table(item).to_batches()
    finally:
        stopped.set()
        thread.join()


def _reader_of(batches: _Batches) -> Optional[pyarrow.RecordBatchReader]:
    first = next(batches, None)
    return None if first is None else pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))


def job_days(
    usage: Union[DataFrame, Paths],
    session: Optional[SparkSession] = None,
    *,
    format: str = "auto",
    with_each: Paths = (),
    apart: Optional[bool] = None,
    from_: str = "",
    to: str = "",
    group: int = 1,
    strict: bool = False,
    partitions: int = 0,
    memory_bytes: int = 256 << 20,
) -> DataFrame:
    """Returns the usage of a fleet as packed job-days, with one or more rows per job and day, for :func:`replay`.

    Args:
        usage: a DataFrame with the columns of :func:`tautline.replay`, or paths of a trace, which all executors can read.
        session: the Spark session; None: the active one.
        format, from_, to, group, strict: for paths, as in :func:`tautline.replay`; ``strict`` also for a DataFrame.
        with_each: for paths: files that each Spark task reads in addition to its own files, such as the event tables of
            a Google trace.
        apart: for paths: True: a separate Spark task reads each path. The tasks of a job must then have numbers, or be
            in one file. None: True for the formats google2019, csv and bitbrains with ``group=1``, otherwise False.
        partitions: for a DataFrame: number of Spark tasks that pack rows; 0: spark.sql.shuffle.partitions.
        memory_bytes: memory of a Spark task for rows that are not packed yet.

    Raises (when the rows are computed): ValueError with column, row and value, like :func:`tautline.replay`. Invalid rows
    are skipped and counted in :attr:`Result.input`.
    """
    if isinstance(usage, DataFrame):
        known = [name for name in usage.columns if name in _COLUMNS]
        if "job" not in known:
            raise ValueError("the table has no column job: expected " + ", ".join(_COLUMNS[:2]) + ", cpu_cores or memory_bytes or both")
        rows = usage.select(*known)
        rows = rows.repartition(partitions, "job") if partitions else rows.repartition("job")
        if "time" in known:
            rows = rows.sortWithinPartitions("time")

        def pack_rows(batches: _Batches) -> _Batches:
            reader = _reader_of(batches)
            return iter(()) if reader is None else _packs(reader, trace_of(strict=strict), 0, memory_bytes)

        return rows.mapInArrow(pack_rows, _PACKS)
    session = session or SparkSession.active()
    paths, common = paths_of(usage), paths_of(with_each)
    options: Dict[str, Any] = dict(format=format, from_=from_, to=to, group=group, strict=strict)
    if apart is None:
        apart = format in _APART and group == 1
    readers = [[path] for path in paths] if apart else [paths]

    def pack_files(batches: _Batches) -> _Batches:
        for batch in batches:
            for reader in batch.column(0).to_pylist():
                yield from _packs(None, trace_of([*common, *readers[reader]], **options), reader, memory_bytes)

    return session.range(0, len(readers), numPartitions=len(readers)).mapInArrow(pack_files, _PACKS)


# ---- the exchange of shares ----


class _Exchange:
    """Merges the shares of all tasks of a barrier stage at the end of each day. Task 0 merges the shares; all other tasks
    are connected to task 0."""

    def __init__(self, context: BarrierTaskContext, engine: Any, key: bytes) -> None:
        self._engine = engine
        tasks = context.getTaskInfos()
        first = context.partitionId() == 0
        self._listener = multiprocessing.connection.Listener((tasks[0].address.rsplit(":", 1)[0], 0), backlog=len(tasks), authkey=key) if first else None
        addresses = context.allGather(json.dumps(self._listener.address) if self._listener else "")
        if self._listener:
            self._peers = [self._listener.accept() for _ in tasks[1:]]
        else:
            self._peers = [multiprocessing.connection.Client(tuple(json.loads(addresses[0])), authkey=key)]

    def __call__(self, day: int, share: bytes) -> bytes:
        if self._listener is None:
            self._peers[0].send_bytes(share)
            return self._peers[0].recv_bytes()
        # merge_shares() refuses shares of different days.
        merged = _engine.merge_shares(self._engine, day, [share, *(peer.recv_bytes() for peer in self._peers)])
        for peer in self._peers:
            peer.send_bytes(merged)
        return merged

    def close(self) -> None:
        for peer in self._peers:
            peer.close()
        if self._listener:
            self._listener.close()


# ---- checkpoints ----


class _Checkpoints:
    """The states of the parts of one replay, in files DAY/PART of a folder that all executors can read and write."""

    def __init__(self, folder: str, part: int) -> None:
        self._files, self._path = pyarrow.fs.FileSystem.from_uri(folder) if "://" in folder else (pyarrow.fs.LocalFileSystem(), folder)
        self._part = part

    def days(self) -> List[int]:
        """Returns the days for which this part has a state."""
        found = self._files.get_file_info(pyarrow.fs.FileSelector(self._path, allow_not_found=True, recursive=True))
        return sorted(int(info.path.rsplit("/", 2)[1]) for info in found if info.is_file and info.base_name == str(self._part))

    def save(self, day: int, state: bytes) -> None:
        folder = f"{self._path}/{day}"
        self._files.create_dir(folder)
        # The file receives its final name only when it is complete.
        with self._files.open_output_stream(f"{folder}/{self._part}.new") as out:
            out.write(state)
        self._files.move(f"{folder}/{self._part}.new", f"{folder}/{self._part}")

    def load(self, day: int) -> bytes:
        with self._files.open_input_stream(f"{self._path}/{day}/{self._part}") as state:
            return state.read()

    def delete(self) -> None:
        self._files.delete_dir(self._path)


def _resumed(checkpoints: Optional[_Checkpoints], context: Any) -> bytes:
    """Returns the state of the latest day for which every part has a state; b"" if there is no such day."""
    if checkpoints is None:
        return b""
    days = set(checkpoints.days())
    if context is not None:
        days = set.intersection(*(set(json.loads(of_part)) for of_part in context.allGather(json.dumps(sorted(days)))))
    return checkpoints.load(max(days)) if days else b""


# ---- replays ----


def _plain(table: Any) -> Dict[str, pyarrow.ChunkedArray]:
    """Returns the columns of an Arrow table without dictionaries."""
    whole = pyarrow.table(table)
    return {name: column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column
            for name, column in zip(whole.column_names, whole.columns)}


def _ipc(table: Any) -> Iterator[bytes]:
    """Yields an Arrow table in pieces, each as an IPC stream without dictionaries."""
    for piece in pyarrow.table(_plain(table)).to_batches(max_chunksize=1 << 18):
        out = io.BytesIO()
        with pyarrow.ipc.new_stream(out, piece.schema) as writer:
            writer.write_batch(piece)
        yield out.getvalue()


def _opened(batches: _Batches) -> _Batches:
    for batch in batches:
        for data in batch.column(0).to_pylist():
            yield from pyarrow.ipc.open_stream(data)


class Result:
    """A finished replay. The DataFrames are computed from the workers' results, which Spark keeps until :meth:`unpersist`."""

    def __init__(self, merged: Any, rows: DataFrame) -> None:
        self._merged = merged
        self._rows = rows

    @property
    def table(self) -> Table:
        """Scores: one row per recommender and resource, as :attr:`tautline.Result.table`."""
        return Table(self._merged.scores())

    @property
    def jobs(self) -> DataFrame:
        """Scores: one row per job, recommender and resource with a scored day, in any order."""
        return self._rows.where(F.col("kind") == "jobs").select("data").mapInArrow(_opened, _JOBS)

    @property
    def decisions(self) -> DataFrame:
        """Limits by time, as :attr:`tautline.Result.decisions`, in any order."""
        return self._rows.where(F.col("kind") == "decisions").select("data").mapInArrow(_opened, _DECISIONS)

    @property
    def input(self) -> str:
        """Summary of the input: rows, jobs, days, and skipped rows by cause."""
        return self._merged.input()

    def json(self) -> str:
        """Returns the document of ``taut replay --output json``, equal in every byte."""
        return self._merged.json()

    def unpersist(self) -> None:
        """Releases the workers' results. A later use of :attr:`jobs` or :attr:`decisions` repeats the replay."""
        self._rows.unpersist()

    def __str__(self) -> str:
        return self._merged.text()


def _key_of() -> Column:
    """Returns the key by which jobs are divided between workers. All runs of a program have the same key, because a run
    inherits the state of the previous run."""
    return F.when(F.length("program") > 0, F.col("program")).otherwise(F.col("job"))


_SLOTS_SECONDS = 60  # time for executors to start


def _workers_of(session: SparkSession, workers: int, at_once: bool) -> int:
    """Returns the number of workers; 0: the default parallelism. ``at_once``: waits until the cluster has as many slots.

    Spark 4.3 shuts its context down if a barrier stage has more tasks than the cluster has slots.
    """
    try:
        context = session.sparkContext
    except PySparkException:  # Spark Connect has no context
        if not workers:
            raise ValueError("workers: expected a number, since Spark Connect does not tell the number of slots") from None
        return workers
    workers = workers or context.defaultParallelism
    scala = context._jsc.sc()  # pylint: disable=protected-access
    until = time.monotonic() + _SLOTS_SECONDS
    while at_once and (slots := scala.maxNumConcurrentTasks(scala.resourceProfileManager().defaultResourceProfile())) < workers:
        if scala.isLocal() or time.monotonic() > until:
            raise ValueError(f"workers: {workers}: expected at most {slots}, the number of the cluster's slots, because the recommenders "
                             "learn from the fleet, so all workers run at the same time")
        time.sleep(1)
    return workers


def replay(
    days: DataFrame,
    recommenders: Union[str, Iterable[str]] = (),
    *,
    workers: int = 0,
    threads: int = 1,
    memory_bytes: int = 512 << 20,
    checkpoint: str = "",
    checkpoint_days: int = 7,
    **options: Any,
) -> Result:
    """Replays the job-days of :func:`job_days` through recommenders, and scores each.

    Args:
        days: rows from :func:`job_days`, which may have been stored and read, filtered, or united with other rows.
        recommenders: names from :func:`tautline.recommenders`; empty: all that jobs may use.
        workers: number of tasks between which the jobs are divided; 0: the default parallelism. If a recommender learns from
            the fleet, all tasks run at the same time, and the cluster needs as many free slots.
        threads: number of threads of a task.
        memory_bytes: memory of a task for usage; the rest is in temporary files of the executor.
        checkpoint: folder or URI (``s3://``, ``gs://``, ``hdfs://``) for the state of the replay, which all executors can
            write; "": none. A stage that Spark repeats continues from the last state. The states are deleted at the
            end of the replay.
        checkpoint_days: number of days between two states.
        options: as in :func:`tautline.replay`: resources, warmup, feedback, restart_delay, mode, policy, settings,
            cap_at_owner, compatibility.

    The result does not depend on ``workers``, ``threads`` and ``memory_bytes``. If an executor is lost, Spark repeats the
    stage, with the same result.

    Raises:
        ValueError: an argument is invalid, or there is no usage.
    """
    options = {"threads": threads, **options}
    names = [recommenders] if isinstance(recommenders, str) else list(recommenders)
    learns = _engine.learns_from_fleet(engine_of(names, **options))
    facts = days.where("rows > 0").agg(F.min("first_us"), F.collect_set("day")).first()
    if facts is None or facts[0] is None:
        raise ValueError("nothing to replay: the trace has no usage")
    first_s, numbers = facts[0] // 300_000_000 * 300, sorted(facts[1])
    key = secrets.token_bytes(32)
    folder = f"{checkpoint.rstrip('/')}/replay-{secrets.token_hex(8)}" if checkpoint else ""

    def run(batches: _Batches) -> _Batches:
        engine = engine_of(names, **options)
        context = BarrierTaskContext.get() if learns else TaskContext.get()
        checkpoints = _Checkpoints(folder, context.partitionId()) if folder else None
        resume = _resumed(checkpoints, context if learns else None)
        exchange = _Exchange(context, engine, key) if learns else None
        part = _engine.Part(_packs_of(batches), engine, memory_bytes, numbers, first_s, exchange, checkpoint_days,
                            checkpoints.save if checkpoints else None, resume)
        if exchange is not None:
            exchange.close()
        for kind, pieces in (("sums", iter([part.sums()])), ("jobs", _ipc(part.jobs())), ("decisions", _ipc(part.decisions()))):
            for piece in pieces:
                yield pyarrow.RecordBatch.from_pydict({"kind": [kind], "data": [piece]}, schema=_PARTS)

    count = _workers_of(days.sparkSession, workers, at_once=learns)
    # Spark repeats a failed barrier stage only if a shuffle follows it.
    rows = _divided(days, count).mapInArrow(run, "kind string, data binary", barrier=learns).repartition(count).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        sums = [bytes(row.data) for row in rows.where(F.col("kind") == "sums").select("data").collect()]
        return Result(_engine.Merged(engine_of(names, **options), sums), rows)
    except BaseException:
        rows.unpersist()
        raise
    finally:
        if folder:
            with contextlib.suppress(FileNotFoundError):
                _Checkpoints(folder, 0).delete()


_PARTS = pyarrow.schema([("kind", pyarrow.string()), ("data", pyarrow.binary())])


def _divided(days: DataFrame, count: int) -> DataFrame:
    """Divides job-days into ``count`` parts of whole jobs."""
    return days.repartition(count, _key_of()).sortWithinPartitions("first_us", "job", "day")


def _packs_of(batches: _Batches) -> Union[pyarrow.RecordBatchReader, pyarrow.Table]:
    reader = _reader_of(batches)
    if reader is not None:
        return reader
    texts, packs = ("job", "program"), ("pack",)
    kinds = {name: pyarrow.string() if name in texts else pyarrow.binary() if name in packs else pyarrow.int64()
             for name in (column.split()[0] for column in _PACKS.split(", "))}
    return pyarrow.table({name: pyarrow.array([], kind) for name, kind in kinds.items()})


def analyze(
    days: Union[DataFrame, Paths],
    session: Optional[SparkSession] = None,
    *,
    events: Paths = (),
    workers: int = 0,
    memory_bytes: int = 512 << 20,
    **options: Any,
) -> Outcome:
    """Analyses job-days, and returns the document of ``tautline.analyze``, equal in every byte for any number of workers.

    Args:
        days: rows from :func:`job_days`, or paths of a trace, which :func:`job_days` reads with ``session`` and ``options``.
        events: paths of tables of events, which the driver reads. Spark tasks read them with each of ``days``, if these
            are paths.
        workers: number of tasks between which the jobs are divided; 0: the default parallelism.
        memory_bytes: memory of a task for usage; the rest is in temporary files of the executor.
        options: for paths: further arguments of :func:`job_days`. ``format`` and ``strict`` are also those of ``events``.

    Raises:
        ValueError: an argument is invalid, or there is no usage.
    """
    given = paths_of(events)
    read = _engine.Events(trace_of(given, **{name: options[name] for name in ("format", "strict") if name in options})) if given else None
    if not isinstance(days, DataFrame):
        days = job_days(days, session, with_each=given, **options)
    count = _workers_of(days.sparkSession, workers, at_once=False)
    modes = read.modes() if read else {}

    def run(batches: _Batches) -> _Batches:
        yield _sums_of(_engine.analyse_part(_packs_of(batches), memory_bytes, modes))

    def merge(batches: _Batches) -> _Batches:
        yield _sums_of(_engine.merge_analyses([sums for batch in batches for sums in batch.column(0).to_pylist()]))

    parts = _divided(days, count).mapInArrow(run, "sums binary")
    # Tasks merge most parts, so that the driver receives few.
    merged = parts.repartition(math.isqrt(count)).mapInArrow(merge, "sums binary")
    return Outcome("analyze", _engine.analysis([bytes(row.sums) for row in merged.collect()], read), "tiers")


def _sums_of(sums: bytes) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pydict({"sums": [sums]}, schema=pyarrow.schema([("sums", pyarrow.binary())]))


def tune(
    days: DataFrame,
    recommender: str,
    sweep: Mapping[str, Sequence[Any]],
    *,
    folds: int = 1,
    settings: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> pyarrow.Table:
    """Replays every combination of settings, and returns one row per combination, fold and resource.

    Args:
        recommender: the recommender whose settings are swept.
        sweep: values by setting, such as ``{"peak.margin": [0.1, 0.2, 0.4]}``.
        folds: number of folds into which the jobs are divided, by a hash of the job's program or else its name. Each fold is
            a fleet of its own.
        settings, options: as in :func:`replay`.

    Columns: one per swept setting (text), ``fold``, and the columns of :attr:`Result.table`.
    """
    rows: List[pyarrow.Table] = []
    for values in itertools.product(*sweep.values()):
        combination = dict(zip(sweep, values))
        for fold in range(folds):
            part = days if folds == 1 else days.where(F.col("job").isNull() | (F.pmod(F.xxhash64(_key_of()), F.lit(folds)) == fold))
            result = replay(part, recommender, settings={**(settings or {}), **combination}, **options)
            result.unpersist()
            scores, count = _plain(result.table), len(result.table)
            swept = {name: pyarrow.array([str(value)] * count) for name, value in combination.items()}
            swept["fold"] = pyarrow.array([fold] * count, pyarrow.int64())
            rows.append(pyarrow.table({**swept, **scores}))
    return pyarrow.concat_tables(rows)


def each(session: SparkSession, command: str, options: Sequence[Mapping[str, Any]], *paths: Paths) -> List[Dict[str, Any]]:
    """Runs a command of :mod:`tautline` once per entry of ``options``, in one Spark task each, and returns the documents.

    Example, for the trials of a compaction: ``each(session, "compact", [{"trials": 1, "seed": s} for s in range(100)],
    "machines.csv", "jobs.csv")``. The executors must be able to read the paths.
    """
    if not isinstance(getattr(commands, command, None), commands.Verb):
        known = sorted(name for name, value in vars(commands).items() if isinstance(value, commands.Verb))
        raise ValueError(f"unknown command {command!r}; known: {', '.join(known)}")
    calls: List[Tuple[int, Mapping[str, Any]]] = list(enumerate(options))

    def run(call: Tuple[int, Mapping[str, Any]]) -> Tuple[int, str]:
        verb: Callable[..., Any] = getattr(commands, command)
        return call[0], verb(*paths, progress=False, **call[1]).json()

    done = session.sparkContext.parallelize(calls, max(1, len(calls))).map(run).collect()
    return [json.loads(text) for _, text in sorted(done)]
