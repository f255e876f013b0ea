"""The dashboard of a real tautd in a real browser: web/app/tests/pages.test.mjs with a generated cell of nine days."""
import os
import pathlib
import subprocess

import pytest

import daemon

APP = pathlib.Path(__file__).resolve().parent.parent.parent / "web" / "app"
pytestmark = [daemon.needs("node", "chromium"),
              pytest.mark.skipif(not (APP / "node_modules" / "playwright-core").is_dir() or not (APP / "dist" / "index.html").is_file(),
                                 reason="the dashboard is not built (./dev build does it where npm is)")]


@pytest.fixture(scope="module")
def tautd(stage):
    """A daemon with nine days of a generated cell."""
    quota = stage.file("quota.yaml", "groups: [{name: shop, quotas: [{tier: production, resource: cpu, nominal: 500}]}]\n")
    prices = stage.file("prices.yaml", "tiers: [{name: production, prices: [{core_hour: 0.03, gib_hour: 0.004}]}]\n")
    scaled = 'rules: [{name: scaled, match: {job: "*1*"}, set: {replicas.policy: forecast, replicas.max: 40}}]\n'
    its = stage.tautd(config=f"clock: samples\ndefaults: {{mode: auto}}\nquota: {{file: {quota}}}\nprices: {{file: {prices}}}\n{scaled}")
    stage.feed_history(its, "9d", "--jobs", "60", "--ooms")
    return its


def test_the_page_is_built_in(tautd):
    assert "<script" in tautd.ask("/").text, "the page is built in"


def test_all_pages_do_what_they_should_without_errors_in_the_console(tautd):
    ran = subprocess.run(["node", "--test", "--test-concurrency=1", "tests/pages.test.mjs"], cwd=APP, timeout=1000, check=False,
                         env={**os.environ, "TAUT_URL": f"{tautd.url}/", "TAUT_SCALED": "1"}, capture_output=True, text=True)
    assert ran.returncode == 0, f"{ran.stdout[-8000:]} {ran.stderr[-2000:]}"
