"""tautd with an empty store reads two days from Debian's Prometheus before it accepts new samples, and only once."""
import time

import pytest

import daemon
from senders import DAYS, JOBS, prometheus_with_history

pytestmark = daemon.needs("prometheus", "promtool")

PRICES = """currency: EUR
tiers: [{name: production, rule: usage, prices: [{core_hour: 0.03, gib_hour: 0.004}]}]
pool: {cores: 8, memory: 32GiB, core_hour: 0.03, gib_hour: 0.004, idle: platform}
"""


def capacity(stage, tautd, when):
    """The hours of history have the stated pool's capacity, and nothing was promised in them."""
    answer = tautd.get("/api/v1/capacity")
    known = [(c, u) for c, u in zip(answer["cpu"]["capacity"], answer["cpu"]["usage"]) if None not in (c, u)]
    assert len(known) >= DAYS * 24 - 2, f"{when} the hours of two days are in the history of capacity"
    assert all(c == 8 and abs(u - 0.6) < 0.1 for c, u in known[1:-1]), f"with the pool that the price file states: {known[:3]}"
    assert answer["promises"] == [], "and nothing was promised"


@pytest.fixture(scope="module")
def port(stage):
    return prometheus_with_history(stage)


def test_the_flag_alone_reads_the_past(stage, port):
    """`tautd --prometheus` alone reads the history, and then no page says that no window has closed."""
    tautd = stage.tautd("--prometheus", f"http://127.0.0.1:{port}")
    assert daemon.eventually(lambda: "14 of 14 days" in tautd.output(), 120), f"--prometheus reads the history at the start: {tautd.output()[-500:]}"
    why = tautd.get("/api/v1/capacity")["why"]
    assert "No window has closed" not in why and "capacity of the cell is not known" in why, (
        "capacity says what is missing, not that no window has closed")
    assert any(j["memory"]["would_be"] for j in tautd.get("/api/v1/jobs")["jobs"]), "and limits are recommended from the history"
    tautd.stop()


def test_an_empty_store_learns_two_days(stage, port, story):
    story.store = str(stage.dir / "t.db")
    story.config = (f"clock_wait: 0s\nbackfill: {{prometheus: \"http://127.0.0.1:{port}\", history: {DAYS}d, labels: [\"cluster=north\"]}}\n"
              f"prices: {{file: {stage.file('prices.yaml', PRICES)}}}\n")
    story.tautd = stage.tautd(config=story.config, store=story.store)
    assert daemon.eventually(lambda: "backfill: 2 of 2 days" in story.tautd.output(), 60), f"the past is read: {story.tautd.output()[-500:]}"


def test_its_jobs_and_windows_are_known(story):
    jobs = {j["name"]: j for j in story.tautd.get("/api/v1/jobs")["jobs"]}
    assert set(jobs) == {f"north/shop/deployment/{j}/app" for j in JOBS}, "its jobs are known"
    history = story.tautd.get("/api/v1/fleet/history?points=5000")
    assert len(history["time"]) > (DAYS * 288) * 0.95, "nearly all windows of two days are there"
    cpu = history["cpu"]["usage"]
    assert abs(cpu[len(cpu) // 2] - 0.6) < 0.01, "0.1 + 0.2 + 0.3 cores are used"
    assert jobs["north/shop/deployment/web/app"]["memory"]["would_be"], "and limits are recommended from it"


def test_its_hours_are_in_the_history_of_capacity(stage, story):
    capacity(stage, story.tautd, "at once")


def test_a_store_with_data_does_not_read_it_again(stage, story):
    assert story.tautd.stop() == 0, "it stops"
    again = stage.tautd(config=story.config, store=story.store)
    daemon.send(again.port, [({"__name__": "up", "job": "other"}, [(time.time(), 1)])])
    assert daemon.eventually(again.has_ticked, 20), "a tick has come since the start"
    assert "backfill" not in again.output(), f"the store is not empty now: the past is not read again: {again.output()[-500:]}"
    capacity(stage, again, "after a restart")
    assert again.get("/api/v1/jobs")["total"] == len(JOBS), "the jobs are still there"
