#!/usr/bin/env python3
"""tautlet on real cgroups: what it must touch, what it must never touch, and what stays when somebody dies."""
import subprocess
import threading
import time

import cell
from cell import MIB, daemon, watch

SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history_h: 0.25, memory_half_life_h: 2, hold_windows: 2}
"""
CHANGE_PERIOD_S = 600


def state_of(group):
    """Every limit of a group, as its files say."""
    return group.memory_limit, group.cpu_limit, group.cpu_weight


def owner_of(c, job):
    return c.job(job).get("memory", {}).get("owner_limit")


def check_takes_care_of_its_own(stage, c, mine, others):
    before = {g.name: state_of(g) for g in others}
    c.start_daemon()
    c.start_agent()
    got, took = watch(lambda: mine.memory_limit, lambda v: v < 120 * MIB, 60, 0.05)
    stage.check(took is not None, "a job that uses 60 of 256 MiB is given a lower memory limit", got)
    got, took = watch(lambda: mine.cpu_limit, lambda v: v is not None and v < 0.6, 60, 0.05)
    stage.check(took is not None, "and a lower CPU limit than its one core", got)
    stage.check(mine.memory_limit > mine.memory_used, "the limit is above what is in use")
    stage.equal({g.name: state_of(g) for g in others}, before, "nobody else's limits have changed")
    stage.equal(owner_of(c, "mine/job"), 256 * MIB, "the daemon knows the owner's limit, not ours, as the owner's")

    def applied():
        return [d for d in c.decisions("mine/job") if d["outcome"] == "applied"]

    stage.check(daemon.eventually(applied, 20), "the decisions are told to be applied", c.decisions("mine/job"))
    held = [d for d in c.decisions("left/alone") if d["outcome"] == "dry_run" and "manage: false" in d["outcome_text"]]
    stage.check(held, "decisions for a job that is only measured say so", c.decisions("left/alone"))


def check_outlives_itself(stage, c, mine):
    ours = state_of(mine)
    c.agent.kill()
    time.sleep(1)
    stage.equal(state_of(mine), ours, "tautlet is killed: limits stay")
    c.start_agent()
    daemon.eventually(lambda: " connected " in c.agent.output(), 20)
    time.sleep(6)
    stage.check(mine.memory_limit < 150 * MIB, "it is started again: limits stay", state_of(mine))
    stage.equal(owner_of(c, "mine/job"), 256 * MIB, "and it still knows what was the owner's")
    second = c.tautlet()
    stage.check(second.returncode == 1 and "another tautlet uses" in second.stderr, "a second tautlet is refused",
                second.stderr)


def memory_decisions(c, job):
    """In the order in which they were decided."""
    return [d for d in reversed(c.decisions(job)) if d["target"] == "memory"]


class Trail:
    """Every memory limit that a group has had since."""

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


def check_oom_without_daemon(stage, c, mine):
    """Leaves what the kill asks for, the raise, when tautd went away, and its last decision before that."""
    last = memory_decisions(c, "mine/job")[-1]["id"]
    away_from = c.tautd.get("/api/v1/fleet")["time"]
    c.tautd.kill()
    time.sleep(1)
    limit = mine.memory_limit
    kills = mine.oom_kills
    more = hog(c, mine, limit)
    got, took = watch(lambda: mine.oom_kills, lambda v: v > kills, 20)
    stage.check(took is not None, "with tautd gone a task meets its limit and is killed", got)
    raised, took = watch(lambda: mine.memory_limit, lambda v: v > limit, 20)
    stage.check(took is not None and raised >= 1.2 * limit, "its limit is raised here and at once", (limit, raised))
    stage.equal(raised, 256 * MIB, "to the owner's limit, as the one that killed was lower")
    if took is not None:
        print(f"      figure: OOM kill to raised limit {took * 1000:.1f} ms (budget 100 ms)")
    more.kill()
    more.wait()
    return max(1.2 * limit, limit + 100 * MIB), raised, away_from, last


def check_raise_holds(stage, c, seen, asked, raised, last):
    """By `seen`, the limits since the raise. Of its own accord tautd lowers a limit only by a later decision."""
    since = [d for d in memory_decisions(c, "mine/job") if d["id"] > last]
    said = [(d["id"], d["time"], d["kind"], d["before"], d["after"], d["outcome"]) for d in since]
    answer, newer = since[0] if since else {}, since[1:]
    stage.check(answer.get("kind") == "oom_raise" and answer["after"] >= 0.99 * raised,
                "its own decision does not take the raise back", (said, raised))
    stage.check(all(d["time"] - answer["time"] >= CHANGE_PERIOD_S for d in newer if d["after"] < 0.99 * raised),
                "a lower limit waits for the windows after it", said)
    stage.check(min([raised] + [d["after"] for d in newer]) >= 0.99 * asked,
                "and leaves the room that the kill asks for", (said, asked))
    stage.check(min(seen) >= 0.99 * min([raised] + [d["after"] for d in newer]),
                "no order from before the raise undoes it", (seen, said))


def check_daemon_comes_back(stage, c, mine, asked, raised, away_from, last):
    trail = Trail(mine)
    queue = stage.dir / "state" / "queue"
    time.sleep(3)
    stage.check(sum(f.stat().st_size for f in queue.rglob("*")) > 0, "what it should know is kept on disk")
    c.start_daemon()
    stage.check(daemon.eventually(lambda: c.tautd.get("/api/v1/ooms")["ooms"], 30), "it comes back and is told of the kill")
    # It waits for agents to bring what they kept before it closes windows again.
    before = c.tautd.get("/api/v1/fleet")["time"]
    daemon.eventually(lambda: c.tautd.get("/api/v1/fleet")["time"] > before + 1500, 30)
    ooms = c.tautd.get("/api/v1/ooms")["ooms"]
    stage.equal(len(ooms), 1, "once")
    check_raise_holds(stage, c, trail.end(), asked, raised, last)
    times = [t for t in c.tautd.get("/api/v1/fleet/history?points=5000")["time"] if t >= away_from - 300]
    gaps = [b - a for a, b in zip(times, times[1:]) if b - a != 300]
    stage.check(len(times) > 4 and len(gaps) == 0, "no window is missing from the time that it was away, and none is double",
                (times, gaps))


def check_new_store(stage, c, mine, original):
    """The store is lost: another tautd, in which nothing may be managed, knows of no order."""
    stage.check(state_of(mine) != original, "limits are set", state_of(mine))
    c.tautd.kill()
    c.start_daemon(store="new.db", mode="observe")
    got, took = watch(lambda: state_of(mine), lambda v: v == original, 60, 0.05)
    stage.check(took is not None, "a tautd with a new store that only observes gives back what another one set", got)
    time.sleep(3)
    stage.equal(state_of(mine), original, "for good")
    stage.equal(owner_of(c, "mine/job"), 256 * MIB, "and knows the owner's limit")
    c.tautd.kill()
    c.start_daemon()
    got, took = watch(lambda: state_of(mine), lambda v: v[0] != original[0] and v[1] != original[1], 60, 0.05)
    stage.check(took is not None, "the store is back: its limits are set again", got)


def check_hands_of_others(stage, c, mine):
    mine.memory_limit = 300 * MIB
    known = daemon.eventually(lambda: owner_of(c, "mine/job") == 300 * MIB, 20)
    stage.check(known, "a limit that somebody sets by hand is their word: the owner's from now on", owner_of(c, "mine/job"))


def check_observe_and_release(stage, c, mine, original):
    stage.equal(c.agent.stop(), 0, "TERM ends it well")
    c.start_agent("--observe")
    before = state_of(mine)
    c.tautd.ask("/api/v1/jobs/mine%2Fjob/settings", "PATCH", '{"memory.upper": "100MiB"}',
                {"Content-Type": "application/json"})
    time.sleep(5)
    stage.equal(state_of(mine), before, "--observe changes nothing")
    c.agent.stop()
    mine.memory_limit = 256 * MIB  # the owner's hand is taken back
    released = c.tautlet("--release")
    stage.equal(released.returncode, 0, "--release gives everything back")
    print("      " + released.stdout.strip().replace("\n", "\n      "))
    stage.equal(state_of(mine), original, "all limits are what they were before")
    again = c.tautlet("--release")
    stage.check("no limits to restore" in again.stdout, "and then there is nothing more to restore", again.stdout)


def check_nonsense(stage, c):
    for text, wanted in (("tasks: [{cgroup: x}]", "begins with /"), ("speed: fast", "not a number"), ("a: [", "bad.yaml")):
        path = stage.file("bad.yaml", text)
        said = subprocess.run([stage.args.tautlet, "--config", path], capture_output=True, text=True, timeout=20, check=False)
        stage.check(said.returncode == 2 and wanted in said.stderr, f"refuses {text!r}", said.stderr)


def main():
    args = cell.arguments(__doc__)
    tree = cell.tree("taut-test")
    mine, alone, strange = tree.group("mine"), tree.group("alone"), tree.group("strange")
    for group in (mine, alone, strange):
        group.memory_limit, group.cpu_limit = 256 * MIB, 1.0
    original = state_of(mine)
    rules = (f"  - {{cgroup: /{tree.name}/mine, job: mine/job, manage: true, add_limits: true, cpu: hard}}\n"
             f"  - {{cgroup: /{tree.name}/alone, job: left/alone}}\n")
    with daemon.Stage(args) as stage:
        # Loads end with the test.
        loads = [group.run(args.load, "--memory", "60MiB", "--cpu", "0.15", "--duration", "600s", "--restart")
                 for group in (mine, alone, strange)]
        c = cell.Cell(stage, tree, 120, rules, SETTINGS)
        check_nonsense(stage, c)
        check_takes_care_of_its_own(stage, c, mine, (alone, strange))
        check_outlives_itself(stage, c, mine)
        check_daemon_comes_back(stage, c, mine, *check_oom_without_daemon(stage, c, mine))
        check_new_store(stage, c, mine, original)
        check_hands_of_others(stage, c, mine)
        check_observe_and_release(stage, c, mine, original)
        for load in loads:
            load.kill()
            load.wait()
        tree.remove()
        stage.finish()


if __name__ == "__main__":
    main()
