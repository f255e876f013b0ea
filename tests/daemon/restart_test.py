#!/usr/bin/env python3
"""What tautd acknowledged outlives it, also while its window is open; and it says when its store is gone.

Two daemons get the same samples; one is stopped and killed in the middle of windows, and nobody sends again what was
answered. Both say the same of usage in the end. TAUT_TEST_SCALE makes it longer.
"""
import os
import pathlib
import signal
import stat

import daemon

START = 1_700_006_400  # a midnight
STEP = 15
SCALE = float(os.environ.get("TAUT_TEST_SCALE", "1"))
CONFIG = "clock: samples\n"


def scrape(second):
    """One scrape of ten containers."""
    series = []
    for task in range(10):
        labels = {"namespace": "shop", "pod": f"web-5d4f8c7b9d-x{'bcdfghjklm'[task]}{'bcdfghjklm'[task]}{'bcdfghjklm'[task]}z",
                  "container": "app"}
        cpu = second * (0.1 + task / 100) + 5 * (second // 300 % 7)
        memory = (200 + task + second // 60 % 50) * 2**20
        series.append(({"__name__": "container_cpu_usage_seconds_total", "cpu": "total", **labels},
                       [(START + second, cpu)]))
        series.append(({"__name__": "container_memory_working_set_bytes", **labels}, [(START + second, memory)]))
    return daemon.write_body(series)


def send(stage, tautd, begin, end):
    for second in range(begin, end, STEP):
        answer = daemon.write(tautd.port, scrape(second))
        if answer.status != 204:
            stage.check(False, f"second {second} is taken", f"{answer.status} {answer.text}")


def usage(tautd):
    """Of its one job, all windows."""
    job = tautd.get("/api/v1/jobs")["jobs"][0]["name"]
    return tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/usage?from={START}&to={START + 86400}")


def through(tautd, second):
    return daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= START + second, 30)


def written(tautd):
    return "tautd_unwritten_sample_bytes 0\n" in tautd.ask("/metrics").text


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        lives = max(4, round(4 * SCALE))
        life_s = 480
        end = lives * life_s
        store = stage.dir / "tautd.db"
        straight = stage.tautd(config=CONFIG)
        send(stage, straight, 0, end)

        tautd = None
        for life in range(lives):
            tautd = stage.tautd(config=CONFIG, store=store)
            send(stage, tautd, life * life_s, (life + 1) * life_s)
            if life % 2 == 0:
                # What was acknowledged is on disk with the next tick.
                stage.check(daemon.eventually(lambda: written(tautd), 10), "samples are on disk")
                tautd.stop(signal.SIGKILL)
            elif life + 1 < lives:
                stage.equal(tautd.stop(signal.SIGTERM), 0, "an orderly stop")
        last = (end - 120 - 300) // 300 * 300
        stage.check(through(straight, last), "the straight one closes its windows")
        stage.check(through(tautd, last), "the other one, too")
        stage.equal(usage(tautd), usage(straight), f"the same usage after {lives - 1} stops and kills")
        stage.equal(oct(stat.S_IMODE(store.stat().st_mode)), "0o600", "the store is its owner's alone")

        pathlib.Path(store).unlink()
        stage.check(daemon.eventually(lambda: not daemon.answers(tautd.port, "/readyz"), 10),
                    "a deleted store is noticed")
        answer = tautd.ask("/readyz")
        stage.check(answer.status == 503 and "deleted" in answer.text, "and said", answer.text)
        stage.check("deleted" in tautd.output(), "in the log, too", tautd.output()[-500:])
        stage.finish()


if __name__ == "__main__":
    main()
