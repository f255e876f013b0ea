"""tautlet on real cgroups: which limits it must change, which it must never change, and which remain when a process dies."""
import subprocess
import threading

import pytest

from cell import MIB, daemon, watch

SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history: 15m, memory_half_life: 2h, hold_windows: 2}
"""
CHANGE_PERIOD_S = 600


@pytest.fixture(scope="module")
def ours(tree):
    """Three groups with an owner's limits: one managed, one measured and one unknown."""
    its = [tree.group(name) for name in ("mine", "alone", "strange")]
    for group in its:
        group.memory_limit, group.cpu_limit = 256 * MIB, 1.0
    return its


@pytest.fixture(scope="module")
def mine(ours):
    return ours[0]


@pytest.fixture(scope="module")
def original(mine):
    return state_of(mine)


@pytest.fixture(scope="module")
def c(agent, tree, ours, original):
    rules = (f"  - {{cgroup: /{tree.name}/mine, job: mine/job, manage: true, add_limits: true, cpu: hard}}\n"
             f"  - {{cgroup: /{tree.name}/alone, job: left/alone}}\n")
    its = agent(120, rules, SETTINGS)
    for group in ours:
        its.load(group, "--memory", "60MiB", "--cpu", "0.15", "--duration", "600s", "--restart")
    return its


def state_of(group):
    """Returns every limit of a group, as in its files."""
    return group.memory_limit, group.cpu_limit, group.cpu_weight


def owner_of(c, job):
    return c.job(job).get("memory", {}).get("owner_limit")


def test_it_sets_the_limits_of_its_own_and_of_nobody_else(stage, c, ours, mine, story):
    others = ours[1:]
    before = {g.name: state_of(g) for g in others}
    c.start_daemon()
    c.start_agent()
    got, took = watch(lambda: mine.memory_limit, lambda v: v < 120 * MIB, 60, 0.05)
    assert took is not None, f"a job that uses 60 of 256 MiB is given a lower memory limit: {got}"
    got, took = watch(lambda: mine.cpu_limit, lambda v: v is not None and v < 0.6, 60, 0.05)
    assert took is not None, f"and a lower CPU limit than its one core: {got}"
    assert mine.memory_limit > mine.memory_used, "the limit is above what is in use"
    assert {g.name: state_of(g) for g in others} == before, "nobody else's limits have changed"
    assert owner_of(c, "mine/job") == 256 * MIB, "the daemon knows the owner's limit, not ours, as the owner's"

    def applied():
        return [d for d in c.decisions("mine/job") if d["outcome"] == "applied"]

    assert daemon.eventually(applied, 20), f"the decisions are told to be applied: {c.decisions('mine/job')}"
    held = [d for d in c.decisions("left/alone") if d["outcome"] == "dry_run" and "manage: false" in d["outcome_text"]]
    assert held, f"decisions for a job that is only measured say so: {c.decisions('left/alone')}"


def test_limits_outlive_tautlet(stage, c, mine, story):
    ours = state_of(mine)
    c.agent.kill()
    gone = lambda: not any(a["connected"] for a in c.tautd.get("/api/v1/agents")["agents"])  # noqa: E731
    assert daemon.eventually(gone, 20), "tautd sees that tautlet is gone"
    assert state_of(mine) == ours, "tautlet is killed: limits stay"
    c.start_agent()
    c.await_agent()
    c.await_windows(3)
    assert mine.memory_limit < 150 * MIB, f"it is started again: limits stay: {state_of(mine)}"
    assert owner_of(c, "mine/job") == 256 * MIB, "and it still knows what was the owner's"
    second = c.tautlet()
    assert second.returncode == 1 and "another tautlet uses" in second.stderr, "a second tautlet is refused"


def memory_decisions(c, job):
    """Returns the memory decisions, oldest first."""
    return [d for d in reversed(c.decisions(job)) if d["target"] == "memory"]


class Trail:
    """Records every memory limit of a group."""

    def __init__(self, group):
        self.seen, self.done = [group.memory_limit], threading.Event()
        self.thread = threading.Thread(target=self.follow, args=(group,), daemon=True)
        self.thread.start()

    def follow(self, group):
        while not self.done.wait(0.002):
            if (limit := group.memory_limit) != self.seen[-1]:
                self.seen.append(limit)

    def end(self):
        self.done.set()
        self.thread.join()
        return self.seen


def hog(c, group, bytes_):
    return c.load(group, "--memory", f"{bytes_}B", "--duration", "30s")


def test_a_kill_without_tautd_is_answered_at_once(stage, c, mine, story):
    last = memory_decisions(c, "mine/job")[-1]["id"]
    away_from = c.tautd.get("/api/v1/fleet")["time"]
    gone = c.agent.output().count(" disconnected ")
    c.tautd.kill()
    assert daemon.eventually(lambda: c.agent.output().count(" disconnected ") > gone, 20), (
        f"tautlet sees that tautd is gone: {c.agent.output()[-500:]}")
    limit = mine.memory_limit
    kills = mine.oom_kills
    more = hog(c, mine, limit)
    got, took = watch(lambda: mine.oom_kills, lambda v: v > kills, 20)
    assert took is not None, f"with tautd gone a task meets its limit and is killed: {got}"
    raised, took = watch(lambda: mine.memory_limit, lambda v: v > limit, 20)
    assert took is not None and raised >= 1.2 * limit, f"its limit is raised here and at once: {(limit, raised)}"
    assert raised == 256 * MIB, "to the owner's limit, as the one that killed was lower"
    if took is not None:
        print(f"      figure: OOM kill to raised limit {took * 1000:.1f} ms (budget 100 ms)")
    more.kill()
    more.wait()
    # The need by the kill, the raise, the stop of tautd, and its last decision before it.
    story.kill = max(1.2 * limit, limit + 100 * MIB), raised, away_from, last


def check_raise_holds(stage, c, seen, asked, raised, last):
    """Checks the limits `seen` since the raise: tautd lowers a limit only by a later decision."""
    since = [d for d in memory_decisions(c, "mine/job") if d["id"] > last]
    said = [(d["id"], d["time"], d["kind"], d["before"], d["after"], d["outcome"]) for d in since]
    answer, newer = since[0] if since else {}, since[1:]
    assert answer.get("kind") == "oom_raise" and answer["after"] >= 0.99 * raised, f"its own decision does not take the raise back: {(said, raised)}"
    assert all(d["time"] - answer["time"] >= CHANGE_PERIOD_S for d in newer if d["after"] < 0.99 * raised), (
        f"a lower limit waits for the windows after it: {said}")
    assert min([raised] + [d["after"] for d in newer]) >= 0.99 * asked, f"and leaves the room that the kill asks for: {(said, asked)}"
    assert min(seen) >= 0.99 * min([raised] + [d["after"] for d in newer]), f"no order from before the raise undoes it: {(seen, said)}"


def test_tautd_comes_back_and_does_not_take_the_raise_back(stage, c, mine, story):
    asked, raised, away_from, last = story.kill
    trail = Trail(mine)
    queue = stage.dir / "state" / "queue"
    assert daemon.eventually(lambda: sum(f.stat().st_size for f in queue.rglob("*")) > 0, 20), "what it should know is kept on disk"
    c.start_daemon()
    assert daemon.eventually(lambda: c.tautd.get("/api/v1/ooms")["ooms"], 30), "it comes back and is told of the kill"
    # It waits until agents have delivered their queued windows before it closes windows again.
    before = c.tautd.get("/api/v1/fleet")["time"]
    daemon.eventually(lambda: c.tautd.get("/api/v1/fleet")["time"] > before + 1500, 30)
    ooms = c.tautd.get("/api/v1/ooms")["ooms"]
    assert len(ooms) == 1, "once"
    check_raise_holds(stage, c, trail.end(), asked, raised, last)
    times = [t for t in c.tautd.get("/api/v1/fleet/history?points=5000")["time"] if t >= away_from - 300]
    gaps = [b - a for a, b in zip(times, times[1:]) if b - a != 300]
    assert len(times) > 4 and len(gaps) == 0, f"no window is missing from the time that it was away, and none is double: {(times, gaps)}"


def test_a_new_store_gives_back_what_another_one_set(stage, c, mine, original, story):
    """The store is lost: another tautd, which may manage nothing, has no orders."""
    assert state_of(mine) != original, "limits are set"
    c.tautd.kill()
    c.start_daemon(store="new.db", mode="observe")
    got, took = watch(lambda: state_of(mine), lambda v: v == original, 60, 0.05)
    assert took is not None, f"a tautd with a new store that only observes gives back what another one set: {got}"
    c.await_windows(2)
    assert state_of(mine) == original, "for good"
    assert owner_of(c, "mine/job") == 256 * MIB, "and knows the owner's limit"
    c.tautd.kill()
    c.start_daemon()
    got, took = watch(lambda: state_of(mine), lambda v: v[0] != original[0] and v[1] != original[1], 60, 0.05)
    assert took is not None, f"the store is back: its limits are set again: {got}"


def test_a_limit_set_by_hand_is_the_owners(stage, c, mine, story):
    mine.memory_limit = 300 * MIB
    known = daemon.eventually(lambda: owner_of(c, "mine/job") == 300 * MIB, 20)
    assert known, f"a limit that somebody sets by hand is their word: the owner's from now on: {owner_of(c, 'mine/job')}"


def test_observe_changes_nothing_and_release_gives_everything_back(stage, c, mine, original, story):
    assert c.agent.stop() == 0, "TERM ends it well"
    c.start_agent("--observe")
    before = state_of(mine)
    c.tautd.ask("/api/v1/jobs/mine%2Fjob/settings", "PATCH", '{"memory.upper": "100MiB"}',
                {"Content-Type": "application/json"})
    c.await_windows(2)
    assert state_of(mine) == before, "--observe changes nothing"
    c.agent.stop()
    mine.memory_limit = 256 * MIB  # the owner's change is reverted
    released = c.tautlet("--release")
    assert released.returncode == 0, "--release gives everything back"
    print("      " + released.stdout.strip().replace("\n", "\n      "))
    assert state_of(mine) == original, "all limits are what they were before"
    again = c.tautlet("--release")
    assert "no limits to restore" in again.stdout, "and then there is nothing more to restore"


def test_nonsense_is_refused(stage):
    for text, wanted in (("tasks: [{cgroup: x}]", "begins with /"), ("speed: fast", "not a number"), ("a: [", "bad.yaml")):
        path = stage.file("bad.yaml", text)
        said = subprocess.run([stage.args.tautlet, "--config", path], capture_output=True, text=True, timeout=20, check=False)
        assert said.returncode == 2 and wanted in said.stderr, f"refuses {text!r}"
