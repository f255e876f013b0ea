#!/usr/bin/env python3
"""The dashboard of a real tautd in a real browser: web/app/tests/pages.test.mjs against a made-up cell of nine days."""
import os
import pathlib
import subprocess
import sys

import daemon

APP = pathlib.Path(__file__).resolve().parent.parent.parent / "web" / "app"


def main():
    args = daemon.arguments(__doc__)
    daemon.skip_without("node", "chromium")
    if not (APP / "node_modules" / "playwright-core").is_dir() or not (APP / "dist" / "index.html").is_file():
        print("SKIPPED: the dashboard is not built (./dev build does it where npm is); it was not tested")
        sys.exit(daemon.SKIPPED)
    with daemon.Stage(args) as stage:
        quota = stage.file("quota.yaml", "groups: [{name: shop, quotas: [{tier: production, resource: cpu, nominal: 500}]}]\n")
        prices = stage.file("prices.yaml", "tiers: [{name: production, prices: [{core_hour: 0.03, gib_hour: 0.004}]}]\n")
        scaled = 'rules: [{name: scaled, match: {job: "*1*"}, set: {replicas.policy: forecast, replicas.max: 40}}]\n'
        tautd = stage.tautd(config=f"clock: samples\ndefaults: {{mode: auto}}\nquota: {{file: {quota}}}\nprices: {{file: {prices}}}\n{scaled}")
        stage.feed_history(tautd, "9d", "--jobs", "60", "--ooms")
        url = f"http://127.0.0.1:{tautd.port}/"
        stage.check("<script" in tautd.ask("/").text, "the page is built in")
        ran = subprocess.run(["node", "--test", "--test-concurrency=1", "tests/pages.test.mjs"], cwd=APP, timeout=1000,
                             check=False, env={**os.environ, "TAUT_URL": url, "TAUT_SCALED": "1"}, capture_output=True, text=True)
        if ran.returncode != 0:
            print(ran.stdout[-8000:], ran.stderr[-2000:])
        stage.equal(ran.returncode, 0, "all pages do what they should, without errors in the console")
    stage.finish()


if __name__ == "__main__":
    main()
