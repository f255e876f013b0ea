"""Dashboard and replay report without tautd and taut: their unit tests, and the pages in a browser."""
import pathlib
import shutil
import subprocess

import pytest

APP = pathlib.Path(__file__).resolve().parent.parent / "web" / "app"
pytestmark = pytest.mark.skipif(not (APP / "dist" / "index.html").is_file(), reason="the dashboard is not built (./dev build does it where npm is)")


def passes(command, *needs):
    for what in needs:
        if shutil.which(what) is None and not (APP / "node_modules" / what).is_dir():
            pytest.skip(f"there is no {what} (./dev build installs it where npm is)")
    done = subprocess.run(command, cwd=APP, timeout=1150, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-8000:]} {done.stderr[-2000:]}"


def test_units():
    passes(["npx", "vitest", "run"], "npx", "vitest")


def test_pages():
    passes(["node", "--test", "--test-concurrency=1", "tests/pages.test.mjs", "tests/states.test.mjs", "tests/report.test.mjs"],
           "node", "chromium", "playwright-core")
