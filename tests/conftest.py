"""Fixtures of the end-to-end tests: the programs' paths, a folder with processes, and stories.

A test with the fixture `story` continues the tests before it in its file (or class), and finds their results in `story`.
`-k NAME` selects such a test with those before it, and after a failed one the rest is skipped.
"""
import pathlib
import signal
import types

import pytest

pytest.register_assert_rewrite("bed", "cell", "fake_cluster", "machine", "oidc_provider", "scaled_cell", "senders")

import daemon  # noqa: E402

BIN = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "bin"


def pytest_addoption(parser):
    for program in ("tautd", "taut", "tautlet", "load"):
        path = BIN / ("taut-load" if program == "load" else program)
        parser.addoption(f"--{program}", default=str(path), help=f"path of {path.name} ({path})")
    for name, text in (("kills", "how often a program is killed; 100 is the full test"), ("seed", "of the moments of kills"), ("groups", "with a job each")):
        parser.addoption(f"--{name}", type=int, help=text)
    parser.addoption("--tests", default=str(BIN / "cgroup_tests"), help="path of a room's tests, for a machine of its own")
    parser.addoption("--build", default=str(BIN.parent), help=f"the folder of the build ({BIN.parent})")
    parser.addoption("--march", default="x86-64-v3", help="what the programs were compiled for")
    parser.addoption("--static", action="store_true", help="taut-load needs no shared libraries")


def pytest_configure(config):
    config.addinivalue_line("markers", "settings(text): the configuration of the fixture tautd")
    # The fixtures remove the folder and end the processes, as at the end of the tests.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: pytest.exit(f"signal {n}", 128 + n))


def pytest_sessionfinish(session, exitstatus):
    """If nothing was tested, the exit code tells ctest that the test was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = daemon.SKIPPED


# ---- stories ----

def told_in(item):
    """Returns the class or file whose story the test continues; None: it is independent."""
    return (item.cls or item.module) if "story" in getattr(item, "fixturenames", ()) else None


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(config, items):
    collected = list(items)
    yield
    chosen, begun = set(items), set()
    for item in reversed(collected):
        if item in chosen and told_in(item):
            begun.add(told_in(item))
        if told_in(item) in begun:
            chosen.add(item)
    items[:] = [item for item in collected if item in chosen]
    if begun and any("::" in argument for argument in config.args):
        raise pytest.UsageError("a test of a story needs those before it: select it by -k NAME, not by ::NAME")


def pytest_runtest_setup(item):
    ended = getattr(told_in(item), "story_ended_at", None)
    if ended:
        pytest.skip(f"{ended}, from which this goes on")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    owner = told_in(item)
    if owner and report.passed and report.when == "call":
        owner.story_has_begun = True
    if owner and report.skipped and not getattr(owner, "story_has_begun", False):
        owner.story_ended_at = f"{item.name} was skipped"
    if not report.failed:
        return
    if owner:
        owner.story_ended_at = f"{item.name} has failed"
    stage = item.funcargs.get("stage") if hasattr(item, "funcargs") else None
    for process in stage.processes[-8:] if stage else ():
        report.sections.append((f"the end of what {process.name} said", process.output()[-3000:]))


# ---- fixtures ----

@pytest.fixture(scope="session")
def args(request):
    """The paths of the programs."""
    return types.SimpleNamespace(**{name: request.config.getoption(name) for name in ("tautd", "taut", "tautlet", "load", "tests", "build", "march")})


@pytest.fixture(scope="module")
def stage(args):
    """A folder for the file's tests, with processes that end with it."""
    its = daemon.Stage(args)
    yield its
    its.clean()


@pytest.fixture
def tautd(stage, request):
    """A daemon for one test, in memory, stopped in order at its end. The mark `settings` sets another configuration than `clock: samples`.
    A file whose tests share one defines a fixture with this name."""
    settings = request.node.get_closest_marker("settings")
    its = stage.tautd(config=settings.args[0] if settings else "clock: samples\n")
    yield its
    if its.running():
        assert its.stop() == 0, "tautd stops in order"


@pytest.fixture
def story(request):
    """Values that the tests of a story leave to the later ones."""
    owner = request.cls or request.module
    if not hasattr(owner, "story_so_far"):
        owner.story_so_far = types.SimpleNamespace()
    return owner.story_so_far
