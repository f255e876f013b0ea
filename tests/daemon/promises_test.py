"""Promised and observed risk of limits, over ten days of a small cell: equal after a kill, in the API, on the command line and in the
metrics."""
import json
import signal

import daemon

CONFIG = "clock: samples\n"


def of(page, resource, promise):
    return [total for total in page["totals"] if (total["resource"], total["promise"]) == (resource, promise)]


def sums_of(tautd):
    """Returns the sums without the end of the last window: windows may close meanwhile, and days count only when they are over."""
    page = tautd.get("/api/v1/promises")
    del page["window_end"]
    return page


def test_no_promise_is_counted_before_a_day_is_over(stage, story):
    story.store = stage.dir / "tautd.db"
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    assert story.tautd.get("/api/v1/promises")["totals"] == [], "no day is over yet"


def test_chances_are_stated_and_shares_are_ordered(stage, story):
    stage.feed_history(story.tautd, "10d", "--jobs", "80", "--every", "150s")
    story.page = sums_of(story.tautd)
    [chances], [shares] = of(story.page, "memory", "chance"), of(story.page, "cpu", "fleet_share")
    assert 0 < chances["recent"]["promised"] < 0.2 and chances["recent"]["job_days"] > 10, "chances were stated"
    assert abs(shares["recent"]["promised"] - 0.001) < 1e-6 and shares["recent"]["job_days"] > 100, "a share of the work is ordered"
    assert {total["limits"] for total in story.page["totals"]} == {"shown"}, "in mode observe limits are shown"


def test_a_kill_loses_and_doubles_nothing(stage, story):
    assert daemon.eventually(story.tautd.has_ticked, 20), "all is on disk"
    story.tautd.stop(sig=signal.SIGKILL)
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    assert sums_of(story.tautd) == story.page, "a kill loses and doubles nothing"


def test_taut_promises_shows_the_page(stage, story):
    server = ["--server", story.tautd.url]
    said = stage.run(stage.args.taut, "get", "promises", "--output", "json", *server)
    assert json.loads(said.stdout) == story.tautd.get("/api/v1/promises"), "taut get promises --output json is the page"
    said = stage.run(stage.args.taut, "get", "promises", *server)
    assert "memory shown, chance stated" in said.stdout and "CPU shown, share of all" in said.stdout, "taut get promises shows both"


def test_what_is_broken_is_a_warning_and_counted(story):
    assert [w for w in story.tautd.get("/api/v1/status")["warnings"] if "promised" in w] == story.page["broken"], "what is broken is a warning"
    broken = [line for line in story.tautd.ask("/metrics").text.splitlines() if line.startswith("tautd_broken_promises ")]
    assert broken == [f"tautd_broken_promises {len(story.page['broken'])}"], "and counted"
    assert story.tautd.stop() == 0, "it stops as told"
