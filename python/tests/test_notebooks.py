"""The notebooks of examples/notebooks: each code cell runs, in order, and no outputs are stored."""

import ast
import json
import pathlib

import pytest

import tautline  # pylint: disable=unused-import

NOTEBOOKS = sorted(pathlib.Path(__file__).parents[2].joinpath("examples/notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebooks")  # of all, so that the history is generated once


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_cells_run(path, folder, monkeypatch, capsys):
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(folder)
    names = {}
    with_values = 0
    for number, cell in enumerate(cells := json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"] and cell["execution_count"] is None
        tree = ast.parse("".join(cell["source"]), filename=f"{path.name} cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name} cell {number}", "exec"), names)  # pylint: disable=exec-used
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"{path.name} cell {number}", "eval"), names)  # pylint: disable=eval-used
            with_values += value is not None and (not hasattr(value, "__len__") or len(value) > 0)
    assert with_values >= 2 and cells[0]["cell_type"] == "markdown"
    import matplotlib.pyplot as plt

    assert plt.get_fignums()
    plt.close("all")
    assert capsys.readouterr().err == ""


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 3
    assert all(path.stat().st_size < 12_000 for path in NOTEBOOKS)
