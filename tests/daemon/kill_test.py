"""SIGKILL at random moments: decisions that tautd has reported remain, and nothing exists twice.

taut-dev feed sends continuously. Clients read decisions (by polling, and from the event stream as they happen) and
remember them; another client sets a job's setting repeatedly and remembers the acknowledged values. tautd is killed and
restarted on the same store. Then every reported decision exists unchanged, ids are 1, 2, ... without a
gap, the fleet's history has each window once, and every setting is the last acknowledged one, or the one in flight.
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
    """Values that clients have received. Thread-safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.decisions, self.contradictions = {}, []
        self.by_events = 0

    def told(self, decision, by_event=False):
        with self.lock:
            known = self.decisions.setdefault(decision["id"], decision)
            self.by_events += by_event
            for key, value in decision.items():
                # A pending outcome may change, but a final one may not.
                open_yet = key in OUTCOME and known["outcome"] == "pending"
                if known.get(key) != value and not open_yet:
                    self.contradictions.append((known, decision))
            if known["outcome"] == "pending":
                self.decisions[decision["id"]] = decision

    def copy(self):
        with self.lock:
            return dict(self.decisions)


class Client(threading.Thread):
    """Calls `look` repeatedly until it is ended; lost connections are expected."""

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
        """Returns acknowledged settings that are missing after a kill."""
        wrong = []
        for job, value in told.items():
            values = tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/settings")["values"]
            now = next(v["value"] for v in values if v["key"] == "memory.upper")
            # The setter continues meanwhile: its values only grow.
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
    """Returns the ends of all windows of the fleet's history, as often as each is present."""
    times = []
    for at in range(begin, end, PAGE_S):
        page = tautd.get(f"/api/v1/fleet/history?from={at}&to={at + PAGE_S - WINDOW_S}&points=5000")
        lengths = {len(page["time"]), len(page["jobs"]), len(page["cpu"]["usage"]), len(page["memory"]["limit"])}
        if len(lengths) != 1:
            raise RuntimeError(f"columns of the fleet's history differ in length: {lengths}")
        times += page["time"]
    return times


def problems_of(tautd, memory, told_before, begin):
    """Returns the errors after a start, in words."""
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


def test_what_was_told_holds_over_kills(stage, story, request):
    story.kills = request.config.getoption("kills") or KILLS
    seed = request.config.getoption("seed") or random.SystemRandom().randrange(1, 1 << 31)
    print(f"--kills {story.kills} --seed {seed}   (100 kills are the full test)", flush=True)
    rng = random.Random(seed)
    story.begin = int(time.time()) - 40 * 86400
    port, story.memory = daemon.free_port(), Memory()
    story.store = stage.dir / "killed.db"
    story.tautd = stage.tautd(config=CONFIG, store=story.store, port=port)
    feed = stage.start("taut-dev feed", [daemon.feeder(stage.args), "feed", "--to", f"http://127.0.0.1:{port}", "--history", "26h",
                                     "--jobs", "100", "--speed", "4000", "--every", "150s", "--ooms"])
    story.setter = Setter(port)
    story.clients = [Client(poll(port, story.memory)), Client(listen(port, story.memory)), Client(story.setter)]
    assert daemon.eventually(lambda: len(story.memory.copy()) >= 20, 120), f"there are decisions: {len(story.memory.copy())}"
    story.killed_starting, story.working, story.longest, figures = 0, 0, 0, (0, 0, 0)
    for kill in range(1, story.kills + 1):
        # Mostly soon after it has reported something new, when it is busy.
        known = len(story.memory.copy())
        if rng.random() < 0.8 and daemon.eventually(lambda: len(story.memory.copy()) > known, 10 / daemon.PATIENCE, 0.005):
            story.working += 1
        time.sleep(rng.uniform(0, 0.3))  # a moment by chance
        told, told_settings = story.memory.copy(), dict(story.setter.told)
        story.tautd.kill()
        if rng.random() < 0.25:  # once more, in the middle of the start
            dying = stage.start("tautd", [stage.args.tautd, "--config", story.tautd.config, "--store", story.store, "--listen",
                                          f"127.0.0.1:{port}"])
            time.sleep(rng.uniform(0, 0.1))  # likewise
            dying.kill()
            story.killed_starting += 1
        asked = time.monotonic()
        story.tautd = stage.tautd(config=CONFIG, store=story.store, port=port)
        story.longest = max(story.longest, time.monotonic() - asked)
        wrong, *figures = problems_of(story.tautd, story.memory, told, story.begin)
        wrong += story.setter.wrong(story.tautd, told_settings)
        assert not wrong and not story.memory.contradictions, (
            f"{kill} kills: {figures[0]} decisions, {figures[1]} windows ({figures[2]} gaps in time): {wrong + story.memory.contradictions[:2]}")
        assert feed.running(), f"taut-dev feed goes on: {feed.output()[-500:]}"


def test_clients_were_told_all_the_time(stage, story):
    for client in story.clients:
        client.end()
    kinds = sorted({d["kind"] for d in story.memory.copy().values()})
    print(f"      {len(story.memory.copy())} decisions remembered ({story.memory.by_events} from the event stream), {kinds};"
          f" {story.working} kills right after new decisions, {story.killed_starting} more while starting; the longest start"
          f" took {story.longest:.1f} s")
    print(f"      {story.setter.number - 1000} settings of {len(story.setter.told)} jobs were asked for")
    assert len(story.setter.told) == 5 and story.setter.number > 1000 + story.kills, "settings were set all the time"
    assert story.memory.by_events > 0, "the event stream told some"
    assert {"would_set", "set"} <= set(kinds), "decisions of more than one kind"


def test_after_a_last_start_all_is_still_there(stage, story):
    assert story.tautd.stop() == 0, "it stops as told"
    final = stage.tautd(config=CONFIG, store=story.store, port=daemon.free_port())
    wrong, *figures = problems_of(final, story.memory, story.memory.copy(), story.begin)
    assert not wrong and not story.memory.contradictions, "and after a last start all is still there"
