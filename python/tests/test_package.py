"""The package as others meet it: documentation and types of every public name, progress bars, other libraries' tables."""

import ast
import inspect
import io
import pathlib
import subprocess
import sys
import time

import pytest

import tautline
from made import csv_of, usage

HERE = pathlib.Path(tautline.__file__).parent
UNITS = ("bytes", "cores", "seconds", "share", "weight")


def public():
    """Yields the functions, methods and properties of the package with their names."""
    for name in tautline.__all__:
        value = getattr(tautline, name)
        if inspect.isclass(value):
            yield name, value
            for member, of_class in vars(value).items():
                if not member.startswith("_") and (callable(of_class) or isinstance(of_class, property)):
                    yield f"{name}.{member}", of_class
        elif name != "__version__":
            yield name, value


@pytest.mark.parametrize("name, value", list(public()), ids=[name for name, _ in public()])
def test_public_names_have_documentation_and_types(name, value):
    if value is not tautline.Verb:  # its documentation is that of each command
        assert value.__doc__.strip()
    function = value.fget if isinstance(value, property) else value
    if inspect.isfunction(function):
        assert set(inspect.signature(function).parameters) - {"self"} <= set(function.__annotations__), name
        assert "return" in function.__annotations__, name
        if "float" in function.__annotations__["return"]:
            assert any(unit in value.__doc__ for unit in UNITS), f"{name}: no unit in its documentation"


@pytest.mark.parametrize("stub", ["_engine.pyi", "commands.pyi"])
def test_stubs_are_valid_and_have_types(stub):
    tree = ast.parse((HERE / stub).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        arguments = [a for a in function.args.args + function.args.kwonlyargs if a.arg not in ("self", "arg", "requested_schema")]
        assert function.returns is not None and all(a.annotation is not None for a in arguments), function.name


def test_stubs_have_the_arguments_of_the_commands():
    tree = ast.parse((HERE / "commands.pyi").read_text(encoding="utf-8"))
    stubs = {node.name: [a.arg for a in node.args.kwonlyargs] for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert stubs == {name: [*verb.options, "progress"] for name, verb in vars(tautline.commands).items() if isinstance(verb, tautline.Verb)}


def test_import_is_fast():
    times = []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import tautline"], check=True)
        with_package = time.monotonic() - began
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(with_package - (time.monotonic() - began))
    assert min(times) < 0.2


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("tqdm")
    pa = pytest.importorskip("pyarrow")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    tautline.replay(pa.table(usage(jobs=1, days=3)), ["peak"], warmup="0d")
    assert "replaying days" in screen.getvalue() and "100%" in screen.getvalue()
    before = screen.getvalue()
    tautline.replay(pa.table(usage(jobs=1, days=3)), ["peak"], warmup="0d", progress=False)
    assert screen.getvalue() == before


def test_silent_in_a_pipe(tmp_path):
    csv_of(usage(jobs=1, days=3), tmp_path / "usage.csv")
    code = "import tautline; tautline.replay('usage.csv', ['peak'], warmup='0d'); tautline.analyze('usage.csv')"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_without_tqdm_there_is_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert tautline._verbs.bar_for(None) is None


@pytest.fixture(scope="module")
def frame():
    return pytest.importorskip("pandas").DataFrame(usage(jobs=2, days=6))


def of_pandas(frame):
    return frame


def of_polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def of_duckdb(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql("SELECT time, job, task, cpu_cores, memory_bytes, memory_limit FROM frame")


@pytest.mark.parametrize("make", [of_pandas, of_polars, of_duckdb])
def test_tables_of_other_libraries(frame, make, tmp_path):
    wanted = tautline.replay(csv_of(frame.to_dict("list"), tmp_path / "usage.csv"), ["peak"], warmup="1d")
    table = make(frame)
    if not tautline._verbs.is_table(table):
        pytest.skip(f"this {type(table).__module__} has no __arrow_c_stream__")
    assert tautline.replay(table, ["peak"], warmup="1d").json(jobs=True) == wanted.json(jobs=True)
    assert tautline.analyze(make(frame)).json() == tautline.analyze(tmp_path / "usage.csv").json()


def test_results_in_polars_and_duckdb(frame):
    scores = tautline.replay(frame, ["peak"], warmup="1d").table
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(scores)["recommender"].to_list() == ["peak", "peak"]
    duckdb = pytest.importorskip("duckdb")
    arrow = scores.to_pyarrow()  # pylint: disable=unused-variable
    assert duckdb.sql("SELECT count(*) FROM arrow").fetchall() == [(2,)]
