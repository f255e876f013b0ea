"""Tests that tautline.replay of a table and taut replay of a CSV with equal rows result in equal numbers."""

import datetime
import gzip
import json
import math
import pathlib
import subprocess

import pytest

import tautline
from made import START, csv_of, usage

pa = pytest.importorskip("pyarrow")

@pytest.fixture(scope="module")
def columns():
    return usage()


@pytest.fixture(scope="module")
def result(columns):
    return tautline.replay(pa.table(columns), ["peak", "ensemble", "analogs"], warmup="4d")


def test_scores_equal_those_of_taut(columns, result, tmp_path):
    path = csv_of(columns, tmp_path / "usage.csv")
    ran = subprocess.run(
        ["taut", "replay", path, "--recommender", "peak,ensemble,analogs", "--warmup", "4d", "--json",
         tmp_path / "out.json", "--quiet"], check=True, capture_output=True, text=True)
    assert "peak" in ran.stdout
    with open(tmp_path / "out.json", encoding="utf-8") as file:
        of_taut = json.load(file)
    of_table = json.loads(result.json(jobs=True))
    of_taut.pop("state_bytes_per_job"), of_table.pop("state_bytes_per_job")
    assert of_table == of_taut


@pytest.mark.parametrize("make", [
    lambda t: t.set_column(0, "time", t["time"].cast(pa.timestamp("s", tz="UTC"))),
    lambda t: t.set_column(0, "time", pa.array([v * 1000 for v in t["time"].to_pylist()], pa.timestamp("ms", tz="Asia/Tokyo"))),
    lambda t: t.set_column(0, "time", pa.array([v * 10**9 for v in t["time"].to_pylist()])),
    lambda t: t.set_column(0, "time", t["time"].cast(pa.float64())),
    lambda t: t.set_column(1, "job", t["job"].dictionary_encode()),
    lambda t: t.set_column(1, "job", t["job"].cast(pa.large_string())),
    lambda t: t.set_column(1, "job", t["job"].cast(pa.string_view())),
    lambda t: t.set_column(2, "task", t["task"].cast(pa.uint8())),
    lambda t: t.set_column(2, "task", t["task"].cast(pa.string())),
    lambda t: t.set_column(5, "memory_limit", t["memory_limit"].cast(pa.decimal128(20, 2))),
    lambda t: t.set_column(4, "memory_bytes", t["memory_bytes"].cast(pa.int64())),
    lambda t: pa.concat_tables([t.slice(0, 7), t.slice(7, 1000), t.slice(1007, 0), t.slice(1007)]),
    lambda t: pa.concat_tables([t.slice(3), t.slice(0, 3)]),
], ids=["timestamp-s", "timestamp-tz-ms", "ns", "float", "dictionary", "large", "view", "uint8", "text-task", "decimal",
        "int-bytes", "chunks", "unsorted"])
def test_types_do_not_matter(columns, result, make):
    other = tautline.replay(make(pa.table(columns)), ["peak", "ensemble", "analogs"], warmup="4d")
    assert json.loads(other.json())["lanes"] == json.loads(result.json())["lanes"]


def test_a_folder_of_parquet_is_read_in_pieces(columns, result, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    dataset = pytest.importorskip("pyarrow.dataset")
    table = pa.table(columns)
    for part in range(3):
        of_part = [START + 4 * part * 86400 <= time < START + 4 * (part + 1) * 86400 for time in columns["time"]]
        parquet.write_table(table.filter(pa.array(of_part)), tmp_path / f"{part}.parquet")
    expected = result.json(jobs=True)
    reader = dataset.dataset(tmp_path).scanner(batch_size=1000, use_threads=False).to_reader()
    assert tautline.replay(reader, ["peak", "ensemble", "analogs"], warmup="4d", spill_memory="1MiB").json(jobs=True) == expected


def test_threads_do_not_matter(columns, result):
    other = tautline.replay(pa.table(columns), ["peak", "ensemble", "analogs"], warmup="4d", threads=1)
    assert other.json(jobs=True) == result.json(jobs=True)


def test_tables(result):
    scores = result.table.to_pyarrow()
    assert scores.num_rows == 6
    assert scores["recommender"].to_pylist() == ["peak", "peak", "ensemble", "ensemble", "analogs", "analogs"]
    assert set(scores["unit"].to_pylist()) == {"cores", "bytes"}
    lanes = json.loads(result.json())["lanes"]
    assert scores["oom_days"].to_pylist() == [lane["oom_days"] for lane in lanes]
    assert scores["slack_mean"].to_pylist() == [lane["slack_mean"] for lane in lanes]
    # The owner set no CPU limit.
    assert [v is None for v in scores["footprint_of_owner"].to_pylist()] == [u == "cores" for u in scores["unit"].to_pylist()]
    jobs = result.jobs.to_pyarrow()
    assert jobs.num_rows == 4 * 6
    assert sum(jobs["oom_days"].to_pylist()) == sum(scores["oom_days"].to_pylist())


def test_decisions_of_a_job(result):
    every = result.decisions.to_pyarrow()
    of_one = result.limits("shop/web-1").to_pyarrow()
    assert set(of_one["job"].to_pylist()) == {"shop/web-1"}
    assert of_one.num_rows == every["job"].to_pylist().count("shop/web-1")
    assert of_one["time"].to_pylist()[0].tzinfo is not None
    with pytest.raises(KeyError, match="shop/web-1"):
        result.limits("shop/web-l")


def test_explains_as_of_a_time(result):
    texts = result.explain("shop/web-0")
    assert set(texts) == {f"{r} {k}" for r in ("peak", "ensemble", "analogs") for k in ("cpu", "memory")}
    early = result.explain("shop/web-0", datetime.datetime.fromtimestamp(START + 5 * 86400, datetime.timezone.utc))
    assert early["ensemble memory"] != texts["ensemble memory"]
    with pytest.raises(ValueError, match="no usage before"):
        result.explain("shop/web-0", START - 10 * 86400)


def test_report_is_a_page(result, tmp_path):
    result.report(tmp_path / "report.html", title="A <b>title</b>")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html") and "shop/web-0" in page
    assert "<b>title</b>" not in page
    assert "after 4 days of warm-up; feedback none" in page


def test_a_trace_is_a_table(columns, result, tmp_path):
    path = csv_of(columns, tmp_path / "usage.csv")
    rows = tautline.read_trace(path)
    assert len(rows) == len(columns["time"])
    again = tautline.replay(rows, ["peak", "ensemble", "analogs"], warmup="4d")
    assert json.loads(again.json())["lanes"] == json.loads(result.json())["lanes"]
    by_path = tautline.replay(path, ["peak", "ensemble", "analogs"], warmup="4d")
    assert by_path.json() == again.json()


def test_options_of_files(columns, tmp_path):
    path = csv_of(columns, tmp_path / "usage.csv")
    ran = subprocess.run(["taut", "replay", path, "--recommender", "peak", "--warmup", "1d", "--group", "2", "--from", str(START + 86400),
                          "--output", "json"], check=True, capture_output=True, text=True)
    grouped = tautline.replay(path, "peak", warmup="1d", group=2, from_=str(START + 86400))
    assert json.loads(grouped.json())["lanes"] == json.loads(ran.stdout)["lanes"]
    with pytest.raises(ValueError, match="^format, from, to and group: expected with files, not with a table"):
        tautline.replay(pa.table(columns), "peak", group=2)


@pytest.mark.parametrize("change, message", [
    (lambda c: c.pop("time"), "no column time"),
    (lambda c: c.pop("job"), "no column job"),
    (lambda c: (c.pop("cpu_cores"), c.pop("memory_bytes")), "cpu_cores or memory_bytes"),
    (lambda c: c.update(job=[True] * len(c["job"])), 'column "job" has the Arrow type "b"'),
    (lambda c: c.update(cpu_cores=["x"] * len(c["job"])), 'column "cpu_cores" has the Arrow type "u"; expected numbers'),
    (lambda c: c.update(time=["x"] * len(c["job"])), "expected timestamps or numbers"),
])
def test_a_column_of_another_kind_is_an_error(change, message):
    columns = usage(jobs=1, days=1)
    change(columns)
    with pytest.raises(ValueError, match=message):
        tautline.replay(pa.table(columns), ["peak"], warmup="0d")


@pytest.mark.parametrize("column, value, cause", [
    ("cpu_cores", -1.0, "bad number"),
    ("cpu_cores", math.inf, "bad number"),
    ("memory_bytes", -5.0, "bad number"),
    ("time", None, "bad time"),
    ("job", "", "no job name"),
    ("job", None, "no job name"),
    ("task", -3, "task number out of range"),
])
def test_invalid_rows_are_counted_or_errors(column, value, cause):
    columns = usage(jobs=1, days=2)
    columns[column][17] = value
    result = tautline.replay(pa.table(columns), ["peak"], warmup="0d")
    assert cause in result.input and "row:17" in result.input
    with pytest.raises(ValueError, match=f"row 17: {cause}: {column}"):
        tautline.replay(pa.table(columns), ["peak"], warmup="0d", strict=True)


def test_null_and_nan_are_absent():
    columns = usage(jobs=1, days=2)
    columns["cpu_cores"] = [None if i % 3 else v for i, v in enumerate(columns["cpu_cores"])]
    with_null = tautline.replay(pa.table(columns), ["peak"], warmup="0d")
    columns["cpu_cores"] = [math.nan if v is None else v for v in columns["cpu_cores"]]
    with_nan = tautline.replay(pa.table(columns), ["peak"], warmup="0d")
    assert with_null.json(jobs=True) == with_nan.json(jobs=True)


def test_empty_tables_and_bad_arguments_are_errors():
    empty = pa.table(usage(jobs=0))
    empty = pa.table({name: pa.array([], pa.string() if name == "job" else pa.float64()) for name in empty.column_names})
    with pytest.raises(ValueError):
        tautline.replay(empty, ["peak"])
    table = pa.table(usage(jobs=1, days=2))
    with pytest.raises(ValueError, match="recommender: best"):
        tautline.replay(table, ["best"])
    with pytest.raises(ValueError, match="^warmup"):
        tautline.replay(table, ["peak"], warmup="soon")
    with pytest.raises(ValueError, match="^warmup: after"):
        tautline.replay(table, ["peak"], warmup="30d")
    with pytest.raises(ValueError, match="set"):
        tautline.replay(table, ["peak"], settings={"no_such_setting": 1})
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        tautline.replay(17, ["peak"])


def test_progress_and_ctrl_c():
    calls = []
    tautline.replay(pa.table(usage(jobs=1, days=3)), ["peak"], warmup="0d", progress=lambda *a: calls.append(a))
    assert calls[-1] == ("replaying days", 3.0, 3.0)

    def stop(*_):
        import signal
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tautline.replay(pa.table(usage(jobs=1, days=30)), ["peak"], warmup="0d", progress=stop)


def test_an_error_in_the_progress_function_is_raised():
    def fail(*_):
        raise RuntimeError("from the caller")

    with pytest.raises(RuntimeError, match="from the caller"):
        tautline.replay(pa.table(usage(jobs=1, days=3)), ["peak"], warmup="0d", progress=fail)


def test_recommenders_have_a_line_each():
    assert "analogs" in tautline.recommenders()
    assert all(tautline.recommenders().values())


def test_the_page_runs_as_printed(tmp_path, monkeypatch):
    page = pathlib.Path(__file__).parents[2].joinpath("docs/replay/python.md").read_text(encoding="utf-8")
    code = "".join(part.split("```")[0] for part in page.split("```python\n")[1:])
    monkeypatch.chdir(tmp_path)
    path = csv_of(usage(jobs=2, days=17), tmp_path / "history.csv")
    path.with_suffix(".csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "usage").mkdir()
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(usage(jobs=2, days=17)), tmp_path / "usage/0.parquet")
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    assert len(names["scores"]) == 4
    assert len(names["frontier"]) == 4
