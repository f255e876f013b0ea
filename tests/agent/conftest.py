"""Fixtures of the agent's tests: a tree of cgroups, and a tautlet with its tautd over it."""
import os
import pathlib

import pytest

import cell
import groups


@pytest.fixture(scope="module")
def tree(request):
    """A tree of cgroups for the file's tests."""
    try:
        its = groups.Tree(f"taut-{pathlib.Path(request.node.name).stem}-{os.getpid()}")
    except groups.Unavailable as why:
        pytest.skip(str(why))
    yield its
    its.remove()


@pytest.fixture(scope="module")
def agent(stage, tree):
    """Creates a cell.Cell over the tree: a tautlet with its tautd, and loads that end with the file."""
    cells = []

    def make(*arguments, **more):
        cells.append(cell.Cell(stage, tree, *arguments, **more))
        return cells[-1]

    yield make
    for its in cells:
        its.end_loads()
