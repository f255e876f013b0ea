#!/usr/bin/env python3
"""The capacity of a tautd's cell: unknown, learnt over twelve days of a small cell, promised, kept over a kill, damaged, and asked for."""
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


def without_capacity(stage):
    """No agent, no cluster and no price file: the answer says how to make capacity known."""
    tautd = stage.tautd(config="clock: samples\n")
    early = page(tautd)
    stage.equal((early["window_end"], early["time"]), (None, []), "before the first window nothing is known")
    stage.check("No window has closed yet" in early["why"], "and it says so", early["why"])
    stage.feed_history(tautd, "6h", "--jobs", "10", "--every", "150s")
    answer = page(tautd)
    stage.equal(answer["source"], "none", "the capacity is not known")
    stage.check(all(word in answer["why"] for word in ("agents.listen", "kubernetes.kubeconfig", "prices.file")), "and it says how to make it known", answer["why"])
    stage.check(answer["time"] and all(v is None for v in answer["cpu"]["capacity"]) and any(v for v in answer["cpu"]["usage"]),
                "usage is known, and capacity is absent, not 0", answer["cpu"])
    stage.equal({(o["sellable"], o["left"]) for o in answer["offers"]}, {(None, None)}, "nothing is offered")
    said = stage.run(stage.args.taut, "capacity", "--server", f"http://127.0.0.1:{tautd.port}")
    stage.check(said.returncode == 0 and "agents.listen" in said.stdout, "taut capacity says it, too", said.stdout + said.stderr)
    stage.check("tautd_capacity_sellable" not in tautd.ask("/metrics").text, "no metric of what cannot be said")
    tautd.stop()


def figures(stage, answer):
    stage.equal((answer["source"], answer["why"]), ("pool", ""), "capacity is that of the price file")
    cpu = answer["cpu"]
    stage.equal(set(cpu["capacity"][-24:]), {1000}, "of every hour")
    whole = [(u, p, a, c) for u, p, a, c in zip(cpu["usage"], cpu["usage_peak"], cpu["allocation"], cpu["capacity"]) if None not in (u, p, a, c)]
    stage.check(len(whole) > 100 and all(0 < u <= p < c and u < a for u, p, a, c in whole), "usage <= its peak < capacity, usage < allocation", whole[:3])
    hour, day, month, quarter = (offer(answer, "batch", h) for h in ("hour", "day", "month", "quarter"))
    stage.check(hour["sellable"] and day["sellable"] and 0 < day["sellable"] <= hour["sellable"] * 1.05 < 1050, "an hour and a day can be sold", (hour, day))
    stage.check(abs(hour["left"] - (hour["sellable"] - hour["sold"])) < 1e-3 * hour["sellable"], "left is what is sellable less what is sold", hour)
    # Production never used more than this, and the promise may not reach beyond what it leaves nearly always.
    most = max(p for p in cpu["usage_peak"] if p is not None)
    stage.check(hour["sellable"] > 1000 - 1.5 * most, "it reaches near to what production leaves", (hour["sellable"], most))
    stage.check(month["sellable"] is None and month["ready"] > answer["window_end"], "a month not yet, with the time from which it may be", month)
    stage.check("30 days are needed" in month["text"] and "90 days are needed" in quarter["text"], "and it says why", (month["text"], quarter["text"]))
    stage.check(offer(answer, "production", None)["sellable"] == 1000 and offer(answer, "production", None)["sold"] > 0, "a reserved tier is sold against the capacity", offer(answer, "production", None))
    stage.equal([t["sale"] for t in answer["tiers"]], ["reserved", "slack", "spare"], "each tier with how it is sold")
    stage.check(offer(answer, "free", "hour") is None and "5 of 100 hours" in answer["tiers"][1]["risk"], "and its risk in words", answer["tiers"])
    kept = hour["kept"]
    stage.check(kept["promises"] > 24 and kept["kept_share"] > 0.9 and kept["hours"] == kept["promises"], "promises of hours ended, and most were kept", kept)
    stage.check(day["kept"]["promises"] >= 1, "and of a day", day["kept"])
    ended = [p for p in answer["promises"] if p["horizon"] == "hour" and p["state"] != "open"]
    stage.check(ended and all((p["state"] == "kept") == (p["lowest"] >= p["amount"]) for p in ended if p["hours"]), "each beside the lowest that was available", ended[:2])


def what_stays(answer):
    """The same after a kill: windows of the open hour may be missing, and sales are those of the newest window."""
    offers = [{k: o[k] for k in ("tier", "horizon", "resource", "sellable", "ready", "text", "kept")} for o in answer["offers"]]
    return {"offers": offers, "promises": answer["promises"], "time": answer["time"], "cpu": answer["cpu"], "memory": answer["memory"]}


def idle(stage, tautd):
    """OpenCost's __idle__ and what jobs are charged are together what the machines have, by day and over all."""
    for query in ("window=yesterday", "window=3d&accumulate=day", "window=3d&accumulate=true"):
        answer = tautd.get(f"/allocation?{query}&aggregate=controller&includeIdle=true")
        whole = [sum(a["cpuCoreHours"] for a in one.values()) / (one["__idle__"]["minutes"] / 60) for one in answer["data"] if one["__idle__"]["minutes"] == 1440]
        stage.check(len(answer["data"]) >= 1 and all(one["__idle__"]["cpuCoreHours"] > 0 for one in answer["data"]), f"{query}: each set has __idle__", answer.get("warning"))
        stage.check(all(abs(cores - 1000) < 1 for cores in whole) and (whole or "true" in query), f"{query}: with it a whole day has the 1000 cores", whole)


def asked(stage, tautd):
    idle(stage, tautd)
    for query, status in (("?resolution=1800", 400), ("?resolution=5000", 400), ("?from=x", 400), ("?colour=red", 400)):
        stage.equal(tautd.ask("/api/v1/capacity" + query).status, status, f"{query} is refused")
    daily = page(tautd, f"?from={page(tautd)['window_end'] - 30 * 86400}&resolution=86400")
    stage.check(DAYS <= len(daily["time"]) <= DAYS + 2 and all(t % 86400 == 0 for t in daily["time"]), "days of the lines", daily["time"])
    server = ["--server", f"http://127.0.0.1:{tautd.port}"]
    said = stage.run(stage.args.taut, "capacity", "--over", "7d", "--promises", *server)
    stage.check(said.returncode == 0 and max(map(len, said.stdout.splitlines())) <= 100, "taut capacity: 100 columns", said.stdout + said.stderr)
    stage.check("sellable" in said.stdout and "In about 5 of 100 hours" in said.stdout and "batch" in said.stdout, "with tiers and the risk", said.stdout)
    stage.equal(json.loads(stage.run(stage.args.taut, "capacity", "--output", "json", *server).stdout), page(tautd), "--output json is the page")
    stage.equal(stage.run(stage.args.taut, "capacity", "--step", "1d", *server).returncode, 2, "--step without --over is refused")
    metrics = tautd.ask("/metrics").text
    for name in ("sellable", "sold", "promised_ratio", "kept_ratio", "promises", "promises_kept"):
        stage.check(f'tautd_capacity_{name}{{tier="batch",horizon="hour",resource="cpu"}} ' in metrics, f"the metric {name}")


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        without_capacity(stage)
        store = stage.dir / "tautd.db"
        config = f"clock: samples\nprices: {{file: {stage.file('prices.yaml', PRICES)}}}\n"
        tautd = stage.tautd(config=config, store=store)
        stage.feed_history(tautd, f"{DAYS}d", "--jobs", "60", "--every", "150s")
        answer = page(tautd)
        figures(stage, answer)
        asked(stage, tautd)
        stage.check(daemon.eventually(lambda: "tautd_unwritten_sample_bytes 0\n" in tautd.ask("/metrics").text, 20), "all is on disk")
        stage.check((stage.dir / "tautd.db.capacity").stat().st_size < 500_000, "the file beside the store is small")
        before = what_stays(page(tautd))
        tautd.stop(sig=signal.SIGKILL)
        tautd = stage.tautd(config=config, store=store)
        stage.equal(what_stays(page(tautd)), before, "a kill loses no hour and no promise")
        stage.check(offer(page(tautd), "batch", "hour")["sold"] is not None, "what is sold is known at once")
        tautd.stop()
        state = stage.dir / "tautd.db.capacity"
        state.write_bytes(state.read_bytes()[:-100])
        tautd = stage.tautd(config=config, store=store)
        stage.check("begin again" in tautd.output(), "a damaged file is logged", tautd.output()[-500:])
        stage.equal((page(tautd)["time"], offer(page(tautd), "batch", "hour")["sellable"]), ([], None), "and it begins from nothing")
        stage.equal(tautd.stop(), 0, "it stops as told")
    stage.finish()


if __name__ == "__main__":
    main()
