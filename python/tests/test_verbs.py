"""The commands of taut as functions: documents equal to the byte, of files and of tables."""

import inspect
import json
import pathlib
import signal
import subprocess
import threading

import pytest

import tautline
from made import csv_of, usage

pa = pytest.importorskip("pyarrow")

PRICES = str(pathlib.Path(__file__).parents[2] / "demo/prices.yaml")
SWEEP = {"peak.margin": [0.1, 0.2]}

# Arguments of each function, and the words of taut for the same.
SAME = {
    "tune": (dict(recommender="peak", sweep=SWEEP, warmup="4d"), ["tune", "--recommender", "peak", "--sweep", "peak.margin=0.1,0.2", "--warmup", "4d"]),
    "overcommit": (dict(machine_tasks=3, placements=1, warmup_days=2, predictors=["n-sigma", "oracle"]),
                   ["overcommit", "--machine-tasks", "3", "--placements", "1", "--warmup-days", "2", "--predictors", "n-sigma,oracle"]),
    "replicas": (dict(usage=True, policies=["hpa", "static"], set={"hpa.target": 0.6}, capacity=1.5),
                 ["replay", "--replicas", "--usage", "--policies", "hpa,static", "--set", "hpa.target=0.6", "--capacity", "1.5"]),
    "analyze": ({}, ["analyze"]),
    "bill": (dict(prices=PRICES, by="job", recommender="peak"), ["get", "bills", "--prices", PRICES, "--by", "job", "--recommender", "peak"]),
    "economy": (dict(prices=PRICES, warmup="2d", policies="none,mean"), ["economy", "--prices", PRICES, "--warmup", "2d", "--policies", "none,mean"]),
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    columns = usage()
    columns["cpu_limit"] = [1.0] * len(columns["time"])
    return columns, csv_of(columns, tmp_path_factory.mktemp("trace") / "usage.csv")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("verb", SAME)
def test_documents_are_those_of_taut(trace, verb, capfd):
    columns, path = trace
    arguments, words = SAME[verb]
    printed = subprocess.run(["taut", *words, "--output", "json", "--quiet", path], check=True, capture_output=True, text=True).stdout
    function = getattr(tautline, verb)
    outcome = function(path, **arguments)
    assert outcome.json() == printed and outcome.data == json.loads(printed)
    assert function(pa.table(columns), **arguments).json() == printed
    table = outcome.table().to_pyarrow()
    assert table.num_rows > 0
    assert capfd.readouterr() == ("", "")


def test_cells_are_those_of_taut(trace, tmp_path):
    columns, path = trace
    for verb, arguments, words in (("compact", dict(machines=60, trials=2, experiments=["best-fit"]), "--machines 60 --trials 2 --experiments best-fit"),
                                   ("simulate", dict(machines=40, time="6h", seed=3), "--machines 40 --time 6h --seed 3")):
        printed = subprocess.run(["taut", verb, *words.split(), "--output", "json"], check=True, capture_output=True, text=True).stdout
        outcome = getattr(tautline, verb)(**arguments)
        assert outcome.json() == printed
        assert len(outcome.table()) > 0
    machines = tmp_path / "machines.csv"
    machines.write_text("name,cpu_cores,memory_gib\nm1,8,16\nm2,8,16\n", encoding="utf-8")
    of_path = tautline.compact(machines, usage=path, recommender="peak", trials=1)
    assert tautline.compact(machines, usage=pa.table(columns), recommender="peak", trials=1).json() == of_path.json()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tables_have_the_rows_of_the_document(trace):
    outcome = tautline.tune(trace[1], recommender="peak", sweep=SWEEP, warmup="4d")
    assert outcome.tables == ["trials"]
    rows = outcome.table().to_pyarrow().to_pylist()
    assert [row["memory.footprint"] for row in rows] == [t["memory"]["footprint"] for t in outcome["trials"]]
    assert [row["settings.peak.margin"] for row in rows] == [None, "0.1", "0.2"]
    nested = tautline.overcommit(trace[1], machine_tasks=3, placements=1, warmup_days=2)
    rows = nested.table().to_pyarrow().to_pylist()
    assert len(rows) == sum(len(r["predictors"]) for r in nested["resources"])
    assert {row["resource"] for row in rows} == {"cpu", "memory"}
    with pytest.raises(KeyError, match="resources.predictors"):
        nested.table("no_such")


def test_errors_name_arguments_as_in_python(trace):
    table = pa.table(trace[0])
    with pytest.raises(TypeError, match="tune.. has no argument 'oom_day'; the nearest is 'oom_days'"):
        tautline.tune(table, oom_day=0.1)
    with pytest.raises(ValueError, match="^warmup: invalid duration"):
        tautline.tune(table, recommender="peak", warmup="soon")
    with pytest.raises(ValueError, match="^could not convert|threads"):
        tautline.tune(table, recommender="peak", threads="many")
    with pytest.raises(ValueError, match="format, from, to and group: expected with files"):
        tautline.tune(table, recommender="peak", from_="1d")
    with pytest.raises(ValueError, match="row 17: bad number: cpu_cores"):
        tautline.analyze(pa.table(dict(trace[0], cpu_cores=[-1.0 if i == 17 else v for i, v in enumerate(trace[0]["cpu_cores"])])), strict=True)
    with pytest.raises(ValueError, match="no column time"):
        tautline.analyze(pa.table({"job": ["a"], "cpu_cores": [1.0]}))
    for read in (tautline.analyze, tautline.replay, tautline.read_trace):
        with pytest.raises(FileNotFoundError, match="no such file or directory: no/such/file.csv"):
            read("no/such/file.csv")
    with pytest.raises(ValueError, match="prices is required"):
        tautline.economy(table)
    with pytest.raises(TypeError, match="usage=True reads a table"):
        tautline.replicas(table)
    with pytest.raises(TypeError, match="simulate.. reads files"):
        tautline.simulate(table)
    with pytest.raises(TypeError, match="weights is a table"):
        tautline.tune(trace[1], weights=table)
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        tautline.analyze(17)


def test_warnings_of_taut_are_warnings(trace):
    with pytest.warns(UserWarning, match=r"\(oom_days\)"):
        tautline.tune(pa.table(trace[0]), recommender="peak", sweep=SWEEP, warmup="4d", oom_days=0, changes=0)


def test_ctrl_c_stops_a_command(trace):
    calls = []

    def stop(*step):
        calls.append(step)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tautline.tune(pa.table(trace[0]), recommender="ensemble", warmup="4d", progress=stop)
    assert len(calls) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_commands_of_two_threads_run_one_after_the_other(trace):
    wanted = tautline.analyze(trace[1]).json()
    got = []
    threads = [threading.Thread(target=lambda: got.append(tautline.analyze(pa.table(trace[0])).json())) for _ in range(3)]
    for thread in threads:
        thread.start()
    replayed = tautline.replay(trace[1], ["peak"], warmup="4d").json()
    for thread in threads:
        thread.join()
    assert got == [wanted] * 3
    assert replayed == tautline.replay(pa.table(trace[0]), ["peak"], warmup="4d").json()


def test_generate_writes_the_trace_of_taut(tmp_path):
    tautline.generate(tmp_path / "own.csv", jobs=3, days=2, seed=5)
    subprocess.run(["taut", "trace", "generate", tmp_path / "other.csv", "--jobs", "3", "--days", "2", "--seed", "5"], check=True, capture_output=True)
    assert (tmp_path / "own.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_arguments_are_documented():
    for verb in (*SAME, "compact", "simulate"):
        function = getattr(tautline, verb)
        assert all(option.help for option in function.options.values())
        assert "Args:" in function.__doc__
        assert list(inspect.signature(function).parameters)[0] == "paths"
    assert not {"output", "help", "server", "quiet"} & set(tautline.bill.options)
