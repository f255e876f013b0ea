"""The capacity of a tautd's cell: unknown, learnt over twelve days of a small cell, promised, kept over a kill, damaged, and requested."""
import json
import signal

import daemon

PRICES = """currency: EUR
tiers:
  - {name: production, availability: 0.999, rule: max_request_usage, prices: [{core_hour: 0.03, gib_hour: 0.004}]}
  - {name: batch, availability: 0.95, rule: usage, prices: [{core_hour: 0.012, gib_hour: 0.0016}]}
  - {name: free, availability: 0, rule: usage, prices: [{core_hour: 0.001, gib_hour: 0.0001}]}
jobs:
  - {match: "*/cronjob/*", tier: batch}
pool: {cores: 1000, memory: 2TiB, core_hour: 0.035, gib_hour: 0.005, idle: platform}
"""
DAYS = 12


def page(tautd, query=""):
    return tautd.get("/api/v1/capacity" + query)


def offer(answer, tier, horizon, resource="cpu"):
    found = [o for o in answer["offers"] if (o["tier"], o["horizon"], o["resource"]) == (tier, horizon, resource)]
    return found[0] if found else None


def test_an_unknown_capacity_says_how_to_make_it_known(stage, tautd):
    """No agent, no cluster and no price file: the response explains how to make capacity known."""
    early = page(tautd)
    assert (early["window_end"], early["time"]) == (None, []), "before the first window nothing is known"
    assert "No window has closed yet" in early["why"], "and it says so"
    stage.feed_history(tautd, "6h", "--jobs", "10", "--every", "150s")
    answer = page(tautd)
    assert answer["source"] == "none", "the capacity is not known"
    assert all(word in answer["why"] for word in ("agents.listen", "kubernetes.kubeconfig", "prices.file")), (
        f"and it says how to make it known: {answer['why']}")
    assert answer["time"] and all(v is None for v in answer["cpu"]["capacity"]) and any(v for v in answer["cpu"]["usage"]), (
        f"usage is known, and capacity is absent, not 0: {answer['cpu']}")
    assert {(o["sellable"], o["left"]) for o in answer["offers"]} == {(None, None)}, "nothing is offered"
    said = stage.taut(tautd, "get", "capacity")
    assert said.returncode == 0 and "agents.listen" in said.stdout, f"taut get capacity says it, too: {said.stdout + said.stderr}"
    assert "tautd_capacity_sellable" not in tautd.ask("/metrics").text, "no metric of what cannot be said"


def what_stays(answer):
    """Returns the part that is equal after a kill: windows of the open hour may be missing, and sales are those of the newest window."""
    offers = [{k: o[k] for k in ("tier", "horizon", "resource", "sellable", "ready", "text", "kept")} for o in answer["offers"]]
    return {"offers": offers, "promises": answer["promises"], "time": answer["time"], "cpu": answer["cpu"], "memory": answer["memory"]}


def test_capacity_is_that_of_the_price_file(stage, story):
    story.store = stage.dir / "tautd.db"
    story.config = f"clock: samples\nprices: {{file: {stage.file('prices.yaml', PRICES)}}}\n"
    story.tautd = stage.tautd(config=story.config, store=story.store)
    stage.feed_history(story.tautd, f"{DAYS}d", "--jobs", "60", "--every", "150s")
    story.answer = page(story.tautd)
    assert (story.answer["source"], story.answer["why"]) == ("pool", ""), "capacity is that of the price file"
    story.cpu = story.answer["cpu"]
    assert set(story.cpu["capacity"][-24:]) == {1000}, "of every hour"
    whole = [(u, p, a, c) for u, p, a, c in zip(story.cpu["usage"], story.cpu["usage_peak"], story.cpu["allocation"], story.cpu["capacity"]) if None not in (u, p, a, c)]
    assert len(whole) > 100 and all(0 < u <= p < c and u < a for u, p, a, c in whole), (
        f"usage <= its peak < capacity, usage < allocation: {whole[:3]}")


def test_an_hour_and_a_day_of_slack_can_be_sold(story):
    story.hour, story.day, story.month, story.quarter = (offer(story.answer, "batch", h) for h in ("hour", "day", "month", "quarter"))
    assert story.hour["sellable"] and story.day["sellable"] and 0 < story.day["sellable"] <= story.hour["sellable"] * 1.05 < 1050, (
        f"an hour and a day can be sold: {(story.hour, story.day)}")
    assert abs(story.hour["left"] - (story.hour["sellable"] - story.hour["sold"])) < 1e-3 * story.hour["sellable"], (
        "left is what is sellable less what is sold")
    # Production never used more than this, and the promise may not exceed the amount that it nearly always leaves.
    most = max(p for p in story.cpu["usage_peak"] if p is not None)
    assert story.hour["sellable"] > 1000 - 1.5 * most, f"it reaches near to what production leaves: {(story.hour['sellable'], most)}"


def test_a_month_and_a_quarter_not_yet(story):
    assert story.month["sellable"] is None and story.month["ready"] > story.answer["window_end"], (
        "a month not yet, with the time from which it may be")
    assert "30 days are needed" in story.month["text"] and "90 days are needed" in story.quarter["text"], (
        f"and it says why: {(story.month['text'], story.quarter['text'])}")


def test_each_tier_says_how_it_is_sold_and_its_risk(story):
    assert offer(story.answer, "production", None)["sellable"] == 1000 and offer(story.answer, "production", None)["sold"] > 0, (
        "a reserved tier is sold against the capacity")
    assert [t["sale"] for t in story.answer["tiers"]] == ["reserved", "slack", "spare"], "each tier with how it is sold"
    assert offer(story.answer, "free", "hour") is None and "5 of 100 hours" in story.answer["tiers"][1]["risk"], "and its risk in words"


def test_promises_end_and_most_are_kept(story):
    kept = story.hour["kept"]
    assert kept["promises"] > 24 and kept["kept_share"] > 0.9 and kept["hours"] == kept["promises"], "promises of hours ended, and most were kept"
    assert story.day["kept"]["promises"] >= 1, "and of a day"
    ended = [p for p in story.answer["promises"] if p["horizon"] == "hour" and p["state"] != "open"]
    assert ended and all((p["state"] == "kept") == (p["lowest"] >= p["amount"]) for p in ended if p["hours"]), (
        f"each beside the lowest that was available: {ended[:2]}")


def test_opencost_has_what_is_idle(story):
    # OpenCost's __idle__ and the jobs' charges add up to the machines' capacity, by day and in total.
    for query in ("window=yesterday", "window=3d&accumulate=day", "window=3d&accumulate=true"):
        story.answer = story.tautd.get(f"/allocation?{query}&aggregate=controller&includeIdle=true")
        whole = [sum(a["cpuCoreHours"] for a in one.values()) / (one["__idle__"]["minutes"] / 60) for one in story.answer["data"] if one["__idle__"]["minutes"] == 1440]
        assert len(story.answer["data"]) >= 1 and all(one["__idle__"]["cpuCoreHours"] > 0 for one in story.answer["data"]), (
            f"{query}: each set has __idle__: {story.answer.get('warning')}")
        assert all(abs(cores - 1000) < 1 for cores in whole) and (whole or "true" in query), (
            f"{query}: with it a whole day has the 1000 cores: {whole}")


def test_what_cannot_be_asked_is_refused(story):
    for query, status in (("?resolution=1800", 400), ("?resolution=5000", 400), ("?from=x", 400), ("?colour=red", 400)):
        assert story.tautd.ask("/api/v1/capacity" + query).status == status, f"{query} is refused"


def test_lines_may_be_of_days(story):
    daily = page(story.tautd, f"?from={page(story.tautd)['window_end'] - 30 * 86400}&resolution=86400")
    assert DAYS <= len(daily["time"]) <= DAYS + 2 and all(t % 86400 == 0 for t in daily["time"]), f"days of the lines: {daily['time']}"


def test_taut_capacity_shows_the_page(stage, story):
    server = ["--server", story.tautd.url]
    said = stage.run(stage.args.taut, "get", "capacity", "--over", "7d", "--promises", *server)
    assert said.returncode == 0 and max(map(len, said.stdout.splitlines())) <= 100, f"taut get capacity: 100 columns: {said.stdout + said.stderr}"
    assert "sellable" in said.stdout and "In about 5 of 100 hours" in said.stdout and "batch" in said.stdout, "with tiers and the risk"
    assert json.loads(stage.run(stage.args.taut, "get", "capacity", "--output", "json", *server).stdout) == page(story.tautd), (
        "--output json is the page")
    assert stage.run(stage.args.taut, "get", "capacity", "--step", "1d", *server).returncode == 2, "--step without --over is refused"


def test_metrics_have_each_figure(story):
    metrics = story.tautd.ask("/metrics").text
    for name in ("sellable", "sold", "promised_ratio", "kept_ratio", "promises", "promises_kept"):
        assert f'tautd_capacity_{name}{{tier="batch",horizon="hour",resource="cpu"}} ' in metrics, f"the metric {name}"


def test_a_kill_loses_no_hour_and_no_promise(stage, story):
    assert daemon.eventually(story.tautd.has_ticked, 20), "all is on disk"
    assert len(daemon.state_of(story.store, "capacity")) < 500_000, "the state is small"
    before = what_stays(page(story.tautd))
    story.tautd.stop(sig=signal.SIGKILL)
    story.tautd = stage.tautd(config=story.config, store=story.store)
    assert what_stays(page(story.tautd)) == before, "a kill loses no hour and no promise"
    assert offer(page(story.tautd), "batch", "hour")["sold"] is not None, "what is sold is known at once"
    story.tautd.stop()


def test_a_damaged_state_is_logged_and_begun_again(stage, story):
    daemon.in_store(story.store, "UPDATE states SET bytes = substr(bytes, 1, length(bytes) - 100) WHERE name = 'capacity'")
    story.tautd = stage.tautd(config=story.config, store=story.store)
    assert "begin again" in story.tautd.output(), f"a damaged state is logged: {story.tautd.output()[-500:]}"
    assert (page(story.tautd)["time"], offer(page(story.tautd), "batch", "hour")["sellable"]) == ([], None), "and it begins from nothing"
    assert story.tautd.stop() == 0, "it stops as told"
