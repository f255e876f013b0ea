"""taut trace fetch: the history of a VictoriaMetrics becomes a trace, from which a replay makes the decisions that a tautd
made from the same samples.

`taut-dev feed` sends history to VictoriaMetrics; its export is sent, in order of time, to a tautd in mode auto, which
decides as its windows close. `taut trace fetch` reads the same from VictoriaMetrics, and `taut replay --mode auto` decides too.
"""
import csv
import gzip
import math
import pathlib
import time

import daemon
import senders

pytestmark = daemon.needs("victoria-metrics")
HISTORY_HOURS = 72
JOBS = 20
RECOMMENDERS = {"cpu": "moving_window", "memory": "ensemble"}


def fed_victoria(stage):
    port = senders.victoria_metrics(stage)
    print("      " + stage.feed(port, "--history", f"{HISTORY_HOURS}h", "--live", "0", "--jobs", str(JOBS),
                                "--ooms").strip().splitlines()[0])
    daemon.answers(port, "/internal/force_flush")
    return port


def live_decisions(stage, victoria):
    """Returns {(job, resource): [(time, limit)]} of a tautd that gets the samples in order of time."""
    tautd = stage.tautd(config="clock: samples\ndefaults: {mode: auto, " +
                        ", ".join(f"{r}.recommender: {name}" for r, name in RECOMMENDERS.items()) + "}\n")
    now = int(time.time())
    begin = now - now % senders.SLICE_S - (HISTORY_HOURS + 1) * 3600
    for t in range(begin, now + senders.SLICE_S, senders.SLICE_S):
        series = senders.export(victoria, t, t + senders.SLICE_S)
        if series:
            daemon.send(tautd.port, series, ahead=True)
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= now - 1200, 60)
    out, before = {}, None
    while True:
        page = tautd.get("/api/v1/decisions?limit=1000" + (f"&before={before}" if before else ""))
        for d in page["decisions"]:
            if d["kind"] in ("set", "oom_raise") and d["target"] in ("cpu", "memory"):
                out.setdefault((d["job"], d["target"]), []).append((d["time"], d["after"]))
        if not page.get("next"):
            return {key: sorted(value) for key, value in out.items()}
        before = page["next"]


def taut(stage, *argv, expected=0):
    ran = stage.run(stage.args.taut, *argv)
    if ran.returncode != expected:
        raise RuntimeError(f"taut {' '.join(argv)}: {ran.returncode} {ran.stderr[-1000:]}")
    return ran.stdout + ran.stderr


def replayed_decisions(stage, victoria):
    folder = pathlib.Path(stage.dir)
    fetched = taut(stage, "trace", "fetch", f"http://127.0.0.1:{victoria}", "--last", f"{HISTORY_HOURS + 2}h",
                         "--out", str(folder / "history.csv.gz"))
    print("      " + fetched.splitlines()[0])
    taut(stage, "replay", str(folder / "history.csv.gz"), "--mode", "auto", "--recommender", "+".join(RECOMMENDERS.values()),
               "--warmup", "1d", "--decisions", str(folder / "decisions.csv"), "-q")
    out = {}
    with open(folder / "decisions.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            out.setdefault((row["job"], row["resource"]), []).append((int(row["ts_s"]), float(row["limit"])))
    return out, folder / "history.csv.gz"


def windows_of(history):
    """Returns {job: starts of its windows, ascending}."""
    out = {}
    with gzip.open(history, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            out.setdefault(row["job"], set()).add(int(row["time"]))
    return {job: sorted(times) for job, times in out.items()}


def first_at(times, t):
    return next((x for x in times if x >= t), None)


def close(found, wanted):
    wanted = [w for w in wanted if w[0] is not None]
    return len(found) == len(wanted) and all(
        a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=1e-6) for a, b in zip(found, wanted))


def test_a_tautd_decides_of_many_jobs(stage, story):
    story.victoria = fed_victoria(stage)
    story.live = live_decisions(stage, story.victoria)
    story.replayed, story.history = replayed_decisions(stage, story.victoria)
    assert len(story.live) >= 20 and sum(map(len, story.live.values())) >= 40, (
        f"tautd has decided of many jobs: {{key: len(d) for key, d in story.live.items()}}")


def test_a_replay_of_what_is_fetched_decides_the_same(story):
    assert set(story.live) <= set(story.replayed), f"the replay has each of them: {set(story.live) - set(story.replayed)}"
    rows = windows_of(story.history)
    for key, decisions in sorted(story.live.items()):
        # A replay lists a limit from the first window in which it is in force.
        wanted = [(first_at(rows[key[0]], t), limit) for t, limit in decisions]
        found = story.replayed.get(key, [])
        assert close(found[1:], wanted), f"decisions of {' '.join(key)} are the same: {(found, decisions)}"


def test_a_time_without_samples_is_said(stage, story):
    nothing = taut(stage, "trace", "fetch", f"http://127.0.0.1:{story.victoria}", "--last", "1h", "--until", "2020-01-01", "--out",
                   str(pathlib.Path(stage.dir) / "none.csv"), expected=1)
    assert "no usage in the last 60 min before 2020-01-01" in nothing, "a time without samples is said"
    assert not (pathlib.Path(stage.dir) / "none.csv").exists(), "and leaves no file"
