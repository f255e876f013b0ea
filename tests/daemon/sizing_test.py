#!/usr/bin/env python3
"""tautd recommends number and size of a job's tasks together, says why, and keeps that over a kill."""
import math
import signal

import daemon
import replicas_test

CONFIG = """clock: samples
ingest: {grace: 0s}
defaults:
  {mode: observe, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 40,
   replicas.size.min_saving: 0, replicas.size.min_cores: 0.3}
"""


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    replicas_test.STEP = 150
    with daemon.Stage(args) as stage:
        cell = replicas_test.Cell(stage)
        store = stage.dir / "tautd.db"
        tautd = stage.tautd(config=CONFIG, store=store)

        def hours(first, last):
            for hour in range(first, last):
                cell.send(tautd, 12, 4, 0.35 - 0.25 * math.cos(hour * math.pi / 12))

        hours(0, 23)
        web = next(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
        path = f"/api/v1/jobs/{daemon.quoted(web)}"
        stage.equal(tautd.get(path)["cpu"]["would_be"], None, "before a day is measured the size is the owner's")
        hours(23, 26)
        job = tautd.get(path)
        size = job["cpu"]["would_be"]
        stage.check(size is not None and size < 1, "then a smaller task costs less", job["cpu"])
        stage.equal(job["replicas"]["task_capacity"], size, "and the number of tasks is for that size")

        url = f"http://127.0.0.1:{tautd.port}"
        said = stage.run(args.taut, "explain", web, "--server", url).stdout
        stage.check(" x " in said and "at the peak of 2.4" in said, "taut explain says number and size", said)
        stage.check("would cost" in said and "(too small)" in said, "and what is wrong with the others", said)

        tautd.stop(signal.SIGKILL)
        tautd = stage.tautd(config=CONFIG, store=store)
        hours(26, 27)
        stage.equal(tautd.get(path)["cpu"]["would_be"], size, "a kill changes nothing")

        url = f"http://127.0.0.1:{tautd.port}"
        stage.equal(stage.run(args.taut, "set", web, f"replicas.size.min_cores={2 * size}", "--server", url).returncode, 0,
                    "a setting of the size")
        hours(27, 29)
        stage.check(tautd.get(path)["cpu"]["would_be"] >= 2 * size, "is in force within the hour",
                    tautd.get(path)["cpu"])
        stage.equal(stage.run(args.taut, "set", web, "replicas.size=owner", "--server", url).returncode, 0,
                    "the owner's size")
        hours(29, 30)
        stage.equal((tautd.get(path)["cpu"]["would_be"], tautd.get(path)["replicas"]["task_capacity"]), (None, 1),
                    "stays, and the number of tasks is for it")
        said = stage.run(args.taut, "set", web, "replicas.size=huge", "--server", url)
        stage.check(said.returncode != 0 and "cheapest, owner" in said.stderr, "nonsense is refused", said.stderr)
        stage.finish()


if __name__ == "__main__":
    main()
