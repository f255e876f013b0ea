#!/usr/bin/env python3
"""SIGKILL at random moments: what tautd has told of decisions holds, and nothing is there twice.

taut-dev feed sends all the time and clients read decisions (by polling, and as they happen from the event stream) and
remember them; another sets a job's setting again and again and remembers what it was told is set. tautd is killed and
started again on the same store; then every decision that was told is there and unchanged, ids are 1, 2, ... without a
gap, the fleet's history has each window once, and every setting is the last that was told, or the one in flight.
TAUT_TEST_SCALE makes it longer.
"""
import http.client
import json
import os
import random
import threading
import time

import daemon

# Restless on purpose: the more decisions the better.
CONFIG = """clock: samples
store: {checkpoint_windows: 3}
defaults: {recommender: moving_window, min_change: 1%, change_period: 5m}
rules:
  - {name: some are applied, match: {job: "*-*"}, set: {mode: auto}}
  - {name: some only watched, match: {job: "*-web/*|*-store/*"}, set: {mode: observe}}
  - {name: some are tried first, match: {job: "*-loader/*|*-batch/*"}, set: {mode: canary, canary.duration: 1h}}
"""
KILLS = max(1, round(15 * float(os.environ.get("TAUT_TEST_SCALE", "1"))))
OUTCOME = ("outcome", "outcome_text", "outcome_time")  # comes after the decision
WINDOW_S = 300
PAGE_S = 10 * 86400


class Memory:
    """What clients were told. Thread-safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.decisions, self.contradictions = {}, []
        self.by_events = 0

    def told(self, decision, by_event=False):
        with self.lock:
            known = self.decisions.setdefault(decision["id"], decision)
            self.by_events += by_event
            for key, value in decision.items():
                # A pending outcome becomes another, but no outcome changes once it is there.
                open_yet = key in OUTCOME and known["outcome"] == "pending"
                if known.get(key) != value and not open_yet:
                    self.contradictions.append((known, decision))
            if known["outcome"] == "pending":
                self.decisions[decision["id"]] = decision

    def copy(self):
        with self.lock:
            return dict(self.decisions)


class Client(threading.Thread):
    """Calls `look` again and again until it is told to end; lost connections are what it lives with."""

    def __init__(self, look):
        super().__init__(daemon=True)
        self.look, self.ended = look, threading.Event()
        self.error = None
        self.start()

    def run(self):
        while not self.ended.is_set():
            try:
                self.look(self.ended)
            except (OSError, http.client.HTTPException, ValueError):
                pass  # killed in the middle of an answer
            except Exception as e:  # told by the main thread
                self.error = e
                return
            self.ended.wait(0.01)

    def end(self):
        self.ended.set()
        self.join(20)
        if self.error is not None:
            raise self.error


def poll(port, memory):
    def look(_):
        answer = daemon.ask(port, "/api/v1/decisions?limit=1000", timeout=10)
        if answer.status == 200:
            for decision in answer.json()["decisions"]:
                memory.told(decision)
    return look


def listen(port, memory):
    def look(ended):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", "/api/v1/events")
            response = connection.getresponse()
            event = b""
            while not ended.is_set():
                line = response.fp.readline() if response.chunked is False else response.readline()
                if not line:
                    return
                if line.startswith(b"event:"):
                    event = line[6:].strip()
                if line.startswith(b"data:") and event == b"decision" and line.endswith(b"\n"):
                    memory.told(json.loads(line[5:]), by_event=True)
        finally:
            connection.close()
    return look


class Setter:
    """Sets memory.upper of one job after the other to ever higher values."""

    def __init__(self, port):
        self.port, self.number = port, 1000
        self.jobs = []
        self.told = {}  # job: the last value that was said to be set

    def __call__(self, _):
        if len(self.jobs) < 5:
            page = daemon.ask(self.port, "/api/v1/jobs?limit=5&sort=name", timeout=10)
            self.jobs = [j["name"] for j in page.json()["jobs"]] if page.status == 200 else []
            return
        self.number += 1
        job = self.jobs[self.number % len(self.jobs)]
        value = f"{2 * self.number + 1}GiB"  # odd: never told in TiB
        path = f"/api/v1/jobs/{daemon.quoted(job)}/settings"
        answer = daemon.ask(self.port, path, "PATCH", json.dumps({"memory.upper": value}), timeout=10)
        if answer.status == 200:
            self.told[job] = value

    def wrong(self, tautd, told):
        """What is not set of what was told before it was killed."""
        wrong = []
        for job, value in told.items():
            values = tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/settings")["values"]
            now = next(v["value"] for v in values if v["key"] == "memory.upper")
            # The setter goes on meanwhile: its values only grow.
            if int(now.removesuffix("GiB") or 0) < int(value.removesuffix("GiB")):
                wrong.append(f"memory.upper of {job} is {now or 'not set'}; {value} was told")
        return wrong


def all_decisions(tautd):
    found, before = [], ""
    while True:
        page = tautd.get(f"/api/v1/decisions?limit=1000{before}")
        found += page["decisions"]
        if page["next_before"] is None:
            return found
        before = f"&before={page['next_before']}"


def fleet_times(tautd, begin, end):
    """The ends of all windows of the fleet's history, each as often as it is there."""
    times = []
    for at in range(begin, end, PAGE_S):
        page = tautd.get(f"/api/v1/fleet/history?from={at}&to={at + PAGE_S - WINDOW_S}&points=5000")
        lengths = {len(page["time"]), len(page["jobs"]), len(page["cpu"]["usage"]), len(page["memory"]["limit"])}
        if len(lengths) != 1:
            raise RuntimeError(f"columns of the fleet's history differ in length: {lengths}")
        times += page["time"]
    return times


def problems_of(tautd, memory, told_before, begin):
    """What is wrong after a start, in words."""
    wrong = []
    found = all_decisions(tautd)
    ids = [d["id"] for d in found]
    if ids != sorted(set(ids), reverse=True):
        wrong.append("decisions are not newest first, or there twice")
    if found and sorted(ids) != list(range(1, max(ids) + 1)):
        gaps = sorted(set(range(1, max(ids) + 1)) - set(ids))
        wrong.append(f"ids of decisions have gaps: {gaps[:10]} of {max(ids)}")
    by_id = {d["id"]: d for d in found}
    lost = [d for i, d in told_before.items() if i not in by_id]
    if lost:
        wrong.append(f"{len(lost)} decisions that were told are gone, such as {lost[0]}")
    for decision in found:
        memory.told(decision)  # contradictions are remembered
    told_twice = {}
    for d in found:
        what = tuple(d[k] for k in ("job", "resource", "time", "kind", "after", "before"))
        told_twice.setdefault(what, []).append(d["id"])
    doubles = [v for v in told_twice.values() if len(v) > 1]
    if doubles:
        wrong.append(f"the same decision under several ids: {doubles[:3]}")
    newest = tautd.get("/api/v1/fleet")["time"] or begin
    times = fleet_times(tautd, begin, newest + PAGE_S)
    if times != sorted(set(times)):
        wrong.append(f"the fleet's history has windows twice or out of order: {len(times)} of {len(set(times))}")
    if any(t % WINDOW_S for t in times):
        wrong.append("the fleet's history has ends that are no ends of windows")
    missing = set(range(times[0], times[-1], WINDOW_S)) - set(times) if times else set()
    return wrong, len(found), len(times), len(missing)


def main():
    args = daemon.arguments(__doc__, kills=(KILLS, "how often it is killed; 100 is the full test"),
                            seed=(0, "of the moments; 0 for another each time"))
    seed = args.seed or random.SystemRandom().randrange(1, 1 << 31)
    print(f"--kills {args.kills} --seed {seed}   (100 kills are the full test)", flush=True)
    rng = random.Random(seed)
    begin = int(time.time()) - 40 * 86400
    with daemon.Stage(args) as stage:
        port, memory = daemon.free_port(), Memory()
        store = stage.dir / "killed.db"
        tautd = stage.tautd(config=CONFIG, store=store, port=port)
        feed = stage.start("taut-dev feed", [daemon.feeder(args), "feed", "--to", f"http://127.0.0.1:{port}", "--history", "26h",
                                         "--jobs", "100", "--speed", "4000", "--every", "150s", "--ooms"])
        setter = Setter(port)
        clients = [Client(poll(port, memory)), Client(listen(port, memory)), Client(setter)]
        if not daemon.eventually(lambda: len(memory.copy()) >= 20, 120):
            raise RuntimeError(f"only {len(memory.copy())} decisions in two minutes")
        killed_starting, working, longest, figures = 0, 0, 0, (0, 0, 0)
        for kill in range(1, args.kills + 1):
            # Mostly soon after it has told of something new: then it is at work.
            known = len(memory.copy())
            if rng.random() < 0.8 and daemon.eventually(lambda: len(memory.copy()) > known, 10 / daemon.PATIENCE, 0.005):
                working += 1
            time.sleep(rng.uniform(0, 0.3))
            told, told_settings = memory.copy(), dict(setter.told)
            tautd.kill()
            if rng.random() < 0.25:  # once more, in the middle of the start
                dying = stage.start("tautd", [args.tautd, "--config", tautd.config, "--store", store, "--listen",
                                              f"127.0.0.1:{port}"])
                time.sleep(rng.uniform(0, 0.1))
                dying.kill()
                killed_starting += 1
            asked = time.monotonic()
            tautd = stage.tautd(config=CONFIG, store=store, port=port)
            longest = max(longest, time.monotonic() - asked)
            wrong, *figures = problems_of(tautd, memory, told, begin)
            wrong += setter.wrong(tautd, told_settings)
            if wrong or memory.contradictions or kill % 10 == 0 or kill == args.kills:
                stage.check(not wrong and not memory.contradictions,
                            f"{kill} kills: {figures[0]} decisions, {figures[1]} windows ({figures[2]} gaps in time)",
                            wrong + memory.contradictions[:2])
            if wrong or memory.contradictions:
                break
            if not feed.running():
                raise RuntimeError(f"taut-dev feed ended: {feed.output()[-500:]}")
        for client in clients:
            client.end()
        kinds = sorted({d["kind"] for d in memory.copy().values()})
        print(f"      {len(memory.copy())} decisions remembered ({memory.by_events} from the event stream), {kinds};"
              f" {working} kills right after new decisions, {killed_starting} more while starting; the longest start"
              f" took {longest:.1f} s")
        print(f"      {setter.number - 1000} settings of {len(setter.told)} jobs were asked for")
        stage.check(len(setter.told) == 5 and setter.number > 1000 + args.kills, "settings were set all the time")
        stage.check(memory.by_events > 0, "the event stream told some")
        stage.check({"would_set", "set"} <= set(kinds), "decisions of more than one kind", kinds)
        stage.equal(tautd.stop(), 0, "it stops as told")
        final = stage.tautd(config=CONFIG, store=store, port=daemon.free_port())
        wrong, *figures = problems_of(final, memory, memory.copy(), begin)
        stage.check(not wrong and not memory.contradictions, "and after a last start all is still there", wrong)
    stage.finish()


if __name__ == "__main__":
    main()
