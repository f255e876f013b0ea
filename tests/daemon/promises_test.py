#!/usr/bin/env python3
"""What was promised of limits and what came, of ten days of a small cell: the same after a kill, in the API, on the command line and in the metrics."""
import json
import signal

import daemon

CONFIG = "clock: samples\n"


def of(page, resource, promise):
    return [total for total in page["totals"] if (total["resource"], total["promise"]) == (resource, promise)]


def sums_of(tautd):
    """Without the end of the last window: windows may close meanwhile, and days are not counted before they are over."""
    page = tautd.get("/api/v1/promises")
    del page["window_end"]
    return page


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        store = stage.dir / "tautd.db"
        tautd = stage.tautd(config=CONFIG, store=store)
        stage.equal(tautd.get("/api/v1/promises")["totals"], [], "no day is over yet")
        stage.feed_history(tautd, "10d", "--jobs", "80", "--every", "150s")
        page = sums_of(tautd)
        [chances], [shares] = of(page, "memory", "chance"), of(page, "cpu", "fleet_share")
        stage.check(0 < chances["recent"]["promised"] < 0.2 and chances["recent"]["job_days"] > 10, "chances were stated", chances)
        stage.check(abs(shares["recent"]["promised"] - 0.001) < 1e-6 and shares["recent"]["job_days"] > 100, "a share of the work is ordered", shares)
        stage.equal({total["limits"] for total in page["totals"]}, {"shown"}, "in mode observe limits are shown")

        stage.check(daemon.eventually(lambda: "tautd_unwritten_sample_bytes 0\n" in tautd.ask("/metrics").text, 20), "all is on disk")
        tautd.stop(sig=signal.SIGKILL)
        tautd = stage.tautd(config=CONFIG, store=store)
        stage.equal(sums_of(tautd), page, "a kill loses and doubles nothing")

        server = ["--server", f"http://127.0.0.1:{tautd.port}"]
        said = stage.run(args.taut, "promises", "--output", "json", *server)
        stage.equal(json.loads(said.stdout), tautd.get("/api/v1/promises"), "taut promises --output json is the page")
        said = stage.run(args.taut, "promises", *server)
        stage.check("memory shown, chance stated" in said.stdout and "CPU shown, share of all" in said.stdout, "taut promises shows both", said.stdout)
        stage.equal([w for w in tautd.get("/api/v1/status")["warnings"] if "promised" in w], page["broken"], "what is broken is a warning")
        broken = [line for line in tautd.ask("/metrics").text.splitlines() if line.startswith("tautd_broken_promises ")]
        stage.equal(broken, [f"tautd_broken_promises {len(page['broken'])}"], "and counted")
        stage.equal(tautd.stop(), 0, "it stops as told")
    stage.finish()


if __name__ == "__main__":
    main()
