"""Acknowledged samples survive a restart, also while their window is open; and tautd reports that its store is lost.

Two daemons get the same samples; one is stopped and killed in the middle of windows, and no acknowledged sample is sent
again. Both report the same usage in the end. TAUT_TEST_SCALE makes it longer.
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
    """Returns the series of ten containers."""
    series = []
    for task in range(10):
        labels = {"namespace": "shop", "pod": f"web-5d4f8c7b9d-x{'bcdfghjklm'[task]}{'bcdfghjklm'[task]}{'bcdfghjklm'[task]}z",
                  "container": "app"}
        cpu = second * (0.1 + task / 100) + 5 * (second // 300 % 7)
        memory = (200 + task + second // 60 % 50) * 2**20
        series.append(({"__name__": "container_cpu_usage_seconds_total", "cpu": "total", **labels},
                       [(START + second, cpu)]))
        series.append(({"__name__": "container_memory_working_set_bytes", **labels}, [(START + second, memory)]))
    return series


def send(tautd, begin, end):
    for second in range(begin, end, STEP):
        daemon.send(tautd.port, scrape(second))


def usage(tautd):
    """Returns the usage of its one job in all windows."""
    job = tautd.get("/api/v1/jobs")["jobs"][0]["name"]
    return tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/usage?from={START}&to={START + 86400}")


def through(tautd, second):
    return daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= START + second, 30)


def test_samples_are_on_disk_with_the_next_tick(stage, story):
    story.lives = max(4, round(4 * SCALE))
    life_s = 480
    story.end = story.lives * life_s
    story.store = stage.dir / "tautd.db"
    story.straight = stage.tautd(config=CONFIG)
    send(story.straight, 0, story.end)

    story.tautd = None
    for life in range(story.lives):
        story.tautd = stage.tautd(config=CONFIG, store=story.store)
        send(story.tautd, life * life_s, (life + 1) * life_s)
        if life % 2 == 0:
            # Acknowledged samples are on disk with the next tick.
            assert daemon.eventually(story.tautd.has_ticked, 10), "samples are on disk"
            story.tautd.stop(signal.SIGKILL)
        elif life + 1 < story.lives:
            assert story.tautd.stop(signal.SIGTERM) == 0, "an orderly stop"


def test_stops_and_kills_lose_no_usage(story):
    last = (story.end - 120 - 300) // 300 * 300
    assert through(story.straight, last), "the straight one closes its windows"
    assert through(story.tautd, last), "the other one, too"
    assert usage(story.tautd) == usage(story.straight), f"the same usage after {story.lives - 1} stops and kills"


def test_the_store_is_its_owners_alone(story):
    assert oct(stat.S_IMODE(story.store.stat().st_mode)) == "0o600", "the store is its owner's alone"


def test_a_deleted_store_is_noticed(story):
    pathlib.Path(story.store).unlink()
    assert daemon.eventually(lambda: not daemon.answers(story.tautd.port, "/readyz"), 10), "a deleted store is noticed"
    answer = story.tautd.ask("/readyz")
    assert answer.status == 503 and "deleted" in answer.text, "and said"
    assert "deleted" in story.tautd.output(), f"in the log, too: {story.tautd.output()[-500:]}"
