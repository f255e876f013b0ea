"""tautline.spark on a cluster of processes on this machine: a master, two executors, and their Python workers."""

import json
import os
import pathlib
import shutil
import signal
import sys
import threading
import time

import pytest

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("no java", allow_module_level=True)

import pyarrow
from made import START, csv_of, usage
from pyspark.errors import PythonException
from pyspark.sql import SparkSession, functions

import tautline
from tautline import spark

OPTIONS = {"warmup": "4d", "settings": {"analogs.min_rows": 40, "analogs.min_history": "3d", "analogs.max_rows": 100}}
RECOMMENDERS = ["peak", "combined"]


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = os.pathsep.join([str(pathlib.Path(tautline.__file__).parents[1]), str(pathlib.Path(__file__).parent)])
    made = (SparkSession.builder.master("local-cluster[2,3,1024]").appName("tautline")
            .config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
            .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "3").config("spark.executorEnv.PYTHONPATH", paths).getOrCreate())
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return csv_of(usage(jobs=12, days=12), tmp_path_factory.mktemp("trace") / "usage.csv")


@pytest.fixture(scope="module")
def alone(trace):
    return tautline.replay(trace, RECOMMENDERS, **OPTIONS)


@pytest.fixture(scope="module")
def days(session, trace, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("days") / "days.parquet")
    spark.job_days(str(trace), session, format="csv").write.parquet(path)
    return session.read.parquet(path)


def assert_equal(result, alone):
    assert result.json() == alone.json()
    assert str(result) == str(alone)
    assert result.input.split(" of ")[0] == alone.input.split(" of ")[0]  # "read N rows"
    for ours, theirs in ((result.jobs, alone.jobs), (result.decisions, alone.decisions)):
        assert plain(ours.toArrow()) == plain(theirs.to_pyarrow())


def plain(table):
    """Returns the rows of a table in a defined order, with times as texts without a zone."""
    return sorted(str({k: str(v)[:19] if k == "time" else v for k, v in row.items()}) for row in table.to_pylist())


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_bytes_are_those_of_one_process(days, alone, workers):
    assert_equal(spark.replay(days, RECOMMENDERS, workers=workers, threads=2 if workers == 1 else 1, **OPTIONS), alone)


def test_without_a_fleet_model_no_barrier_is_needed(days, trace):
    # 9 tasks in 6 slots: a barrier stage could not start
    result = spark.replay(days, "peak", workers=9, warmup="4d")
    assert result.json() == tautline.replay(trace, "peak", warmup="4d").json()


def test_a_dataframe_of_rows(session, alone):
    columns = usage(jobs=12, days=12)
    table = pyarrow.table({**columns, "other": columns["job"]})
    result = spark.replay(spark.job_days(session.createDataFrame(table)), RECOMMENDERS, workers=2, **OPTIONS)
    assert_equal(result, alone)


def test_an_executor_is_killed_in_the_middle(session, tmp_path):
    path = tmp_path / "cell.csv.gz"
    tautline.generate(path, jobs=150, days=28)
    packed = spark.job_days(str(path), session, format="csv")
    states = tmp_path / "states"
    killed = []

    def kill():
        until = time.time() + 120
        while not killed and time.time() < until:
            if any(states.glob("*/*/1")):  # the first checkpoint of 9: workers replay days
                killed.append(executors()[0])
                os.kill(killed[0], signal.SIGKILL)
            time.sleep(0.002)

    thread = threading.Thread(target=kill)
    thread.start()
    result = spark.replay(packed, RECOMMENDERS, workers=2, checkpoint=str(states), checkpoint_days=3)
    thread.join()
    assert killed and not any(states.iterdir())
    ours, theirs = json.loads(result.json()), json.loads(tautline.replay(path, RECOMMENDERS).json())
    assert abs(ours.pop("state_bytes_per_job") / theirs.pop("state_bytes_per_job") - 1) < 0.1
    assert ours == theirs
    assert result.decisions.count() == len(tautline.replay(path, RECOMMENDERS).decisions)


def executors():
    """Returns the process numbers of the executors of this test's cluster."""
    parents, found = {}, []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except (OSError, IndexError):
            continue

    def is_ours(process):
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return sorted(filter(is_ours, found))


def test_files_that_tasks_read_apart(session, trace, tmp_path, alone):
    lines = pathlib.Path(trace).read_text(encoding="utf-8").splitlines(keepends=True)
    paths = []
    for part in range(2):  # the tasks of a job are in different files
        paths.append(tmp_path / f"{part}.csv")
        paths[-1].write_text("".join(lines[:1] + [line for line in lines[1:] if int(line.split(",")[2]) % 2 == part]), encoding="utf-8")
    result = spark.replay(spark.job_days([str(p) for p in paths], session, format="csv"), RECOMMENDERS, workers=3, **OPTIONS)
    assert result.json() == alone.json() and "of 2 files" in result.input


def test_tasks_with_names_in_several_files_are_refused(session, tmp_path):
    for part in range(2):
        (tmp_path / f"{part}.csv").write_text(f"time,job,task,cpu_cores\n{START},a,x{part},1\n", encoding="utf-8")
    packed = spark.job_days([str(tmp_path / "0.csv"), str(tmp_path / "1.csv")], session, format="csv")
    with pytest.raises(PythonException, match="job a: its tasks have names"):
        spark.replay(packed, "peak", warmup="0d", workers=1)


def test_invalid_rows(session):
    table = pyarrow.table({"time": [START, START + 300, None], "job": ["a", None, "b"], "cpu_cores": [1.0, -2.0, 1.0]})
    frame = session.createDataFrame(table)
    result = spark.replay(spark.job_days(frame), "peak", warmup="0d", workers=2)
    assert result.input.startswith("read 3 rows") and result.input.count("skipped 1 row") == 2
    with pytest.raises(PythonException, match="row 0: .*time null|row 0: .*no job"):
        spark.job_days(frame, strict=True).count()


@pytest.mark.parametrize("arguments, text", [
    ({"recommenders": "peek"}, "peek"),
    ({"recommenders": "peak", "warmup": "x"}, "warmup"),
    ({"recommenders": "peak", "settings": {"peak.margin": "much"}}, "peak.margin"),
])
def test_invalid_arguments(days, arguments, text):
    with pytest.raises(ValueError, match=text):
        spark.replay(days, **arguments)


def test_more_workers_than_slots(days, monkeypatch):
    monkeypatch.setattr(spark, "_SLOTS_SECONDS", 0)
    with pytest.raises(ValueError, match="workers: 99: expected at most 6"):
        spark.replay(days, RECOMMENDERS, workers=99, **OPTIONS)
    assert days.count()  # the session goes on


def test_no_usage_and_another_table(session, days):
    with pytest.raises(ValueError, match="no usage"):
        spark.replay(days.where("false"), "peak")
    with pytest.raises(ValueError, match="no column job"):
        spark.job_days(session.createDataFrame([(1,)], "time int"))
    with pytest.raises(FileNotFoundError):
        raise_cause(lambda: spark.job_days("/no/such.csv", session, format="csv").count())


def raise_cause(call):
    """Raises FileNotFoundError if the worker raised it."""
    try:
        call()
    except PythonException as error:
        if "FileNotFoundError" in str(error):
            raise FileNotFoundError(str(error)) from error
        raise


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_an_analysis_has_the_bytes_of_one_process(days, trace, workers):
    assert spark.analyze(days, workers=workers).json() == tautline.analyze(trace).json()


def test_an_analysis_of_rows_and_of_files_with_events(session, trace, tmp_path):
    rows = spark.job_days(session.createDataFrame(pyarrow.table(usage(jobs=12, days=12))))
    assert spark.analyze(rows, workers=2).json() == tautline.analyze(trace).json()
    tautline._engine.run_command(["trace", "generate", "--format=google2019", "--jobs=60", "--days=3", "--", str(tmp_path / "v3")], None, None)
    events, files = ([str(p) for p in sorted((tmp_path / "v3").iterdir()) if ("usage" in p.name) == of_usage] for of_usage in (False, True))
    whole = tautline.analyze(tmp_path / "v3")
    assert "vertical_scaling" in whole.data and "events" in whole.data and len(whole["tiers"]) > 2
    assert spark.analyze(files, session, format="google2019", events=events, workers=5).json() == whole.json()


def test_an_analysis_of_invalid_input(session, days, trace):
    with pytest.raises(ValueError, match="no usage"):
        spark.analyze(days.where("false"))
    with pytest.raises(ValueError, match="event"):
        spark.analyze(days, events=trace)
    with pytest.raises(PythonException, match="damaged|unexpected end|another version"):
        spark.analyze(days.withColumn("pack", functions.lit(b"\x01\x05")))


def test_tune_and_each(session, days, trace):
    sweep = {"peak.margin": [0.0, 0.3]}
    rows = spark.tune(days, "peak", sweep, folds=2, warmup="4d", workers=2).to_pylist()
    assert [(row["peak.margin"], row["fold"], row["resource"]) for row in rows] == [
        (margin, fold, resource) for margin in ("0.0", "0.3") for fold in (0, 1) for resource in ("cpu", "memory")]
    whole = tautline.replay(trace, "peak", warmup="4d", settings={"peak.margin": 0.3}).table.to_pyarrow().to_pylist()
    assert sum(row["job_days"] for row in rows[4:]) == sum(row["job_days"] for row in whole)
    documents = spark.each(session, "compact", [{"machines": 20, "trials": 1, "seed": seed, "experiments": "base"} for seed in (1, 2)])
    assert documents[1] == tautline.compact(machines=20, trials=1, seed=2, experiments="base").data
    with pytest.raises(ValueError, match="compact"):
        spark.each(session, "compakt", [{}])
