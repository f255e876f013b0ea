"""tautlet's tiers on real cgroups: a group of 256 MiB represents the machine. The lowest tier is killed before the memory ends, production
continues, and the log has the reason. tautd is stopped meanwhile, and receives each act later and once."""
import re

import pytest

from cell import MIB, daemon, watch

TIERS = """\
tiers:
  cpu_weight: {production: 400, batch: 10}
  guard: {throttle: true, kill: true, of: "/TREE", throttle_share: 0.25, kill_share: 0.15, after: 2s}
"""
RULES = """\
  - {cgroup: "/TREE/web-*", job: shop/web, manage: true, cpu: none, memory: none, tier: production}
  - {cgroup: "/TREE/batch-*", job: "batch/{1}", manage: true, cpu: none, memory: none, tier: batch, memory_request: 16MiB}
  - {cgroup: "/TREE/seen-*", job: "seen/{1}", tier: free}
"""


def limit_parent(tree, bytes_):
    home = tree.hierarchies["unified" if tree.v2 else "memory"] / tree.name
    (home / ("memory.max" if tree.v2 else "memory.limit_in_bytes")).write_text(str(bytes_))


def held(group, mib):
    return watch(lambda: group.memory_used, lambda v: v >= mib * MIB, 30, 0.02)[1] is not None


class Groups:
    """Groups of a production task, two batch tasks and a measured one: 233 of 256 MiB, so that less than 15 % are left."""

    def __init__(self, tree):
        self.web, self.small, self.large, self.seen = (tree.group(name) for name in ("web-1", "batch-small", "batch-large", "seen-1"))
        self.others = (self.web, self.small, self.seen)
        limit_parent(tree, 256 * MIB)
        self.weights = [g.cpu_weight for g in self.others]
        self.loads = {}

    def fill(self, c):
        for group, mib in ((self.web, 90), (self.small, 20), (self.seen, 20), (self.large, 95)):
            self.loads[group.name] = c.load(group, "--memory", f"{mib}MiB", "--duration", "600s")
            assert held(group, mib), f"{group.name} holds {mib} MiB: {group.memory_used}"


@pytest.fixture(scope="module")
def ours(tree):
    return Groups(tree)


@pytest.fixture(scope="module")
def c(stage, agent, tree, ours):
    its = agent(1, "", "")
    its.agent_config = stage.file("tiers.yaml", f"name: here\nstate: \"{stage.dir}/state\"\nsample: 100ms\nfind: 1s\n"
                                                + f"daemon: {{address: \"127.0.0.1:{its.agent_port}\"}}\n"
                                                + TIERS.replace("TREE", tree.name) + "tasks:\n"
                                                + RULES.replace("TREE", tree.name))
    ours.fill(its)
    return its


def acts(c, action):
    return [line for line in c.agent.output().splitlines() if f" {action} " in line]


def test_observe_kills_nothing_and_sets_no_weight(stage, c, ours, story):
    c.start_agent("--observe")
    seen = daemon.eventually(lambda: acts(c, "task_killed"), 30)
    assert seen and "observe, not done" in acts(c, "task_killed")[0], f"--observe says what it would kill: {c.agent.output()}"
    assert all(load.poll() is None for load in ours.loads.values()), "and kills nothing"
    c.agent.stop()
    assert [g.cpu_weight for g in ours.others] == ours.weights, "--observe sets no weight"


def test_the_lowest_tier_dies_before_memory_ends(stage, c, ours, story):
    large, others = ours.large, ours.others
    c.start_agent()
    code, took = watch(ours.loads[large.name].poll, lambda v: v is not None, 60, 0.01)
    assert code == -9, "the batch task that is furthest over its request is killed before memory ends"
    assert daemon.eventually(lambda: acts(c, "task_killed"), 20), f"and the log says so: {c.agent.output()}"
    said = acts(c, "task_killed")[0]
    print("      " + said)
    for wanted in ("tier=batch", "job=batch/large", "request_bytes=16777216", "is below", "over its request of 16.0 MiB"):
        assert wanted in said, f"with {wanted}"
    free = int(float(re.search(r"free_bytes=([0-9.]+)", said)[1]))
    assert 0 < free < 0.15 * 256 * MIB, "and how much was free"
    assert bool(acts(c, "task_throttled")) == large.v2, "it was throttled before where the kernel can (v2)"
    dead = lambda: [g.name for g in others if ours.loads[g.name].poll() is not None]  # noqa: E731
    assert not daemon.eventually(dead, 3 / daemon.PATIENCE), f"all others live, for longer than the guard waits: {c.agent.output()}"
    assert [g.oom_kills for g in (large, *others)] == [0, 0, 0, 0], "it is no OOM kill of the kernel's"
    assert not acts(c, "oom_kill") and not acts(c, "limit_raised"), f"and is not taken for one: {c.agent.output()}"
    assert ours.web.cpu_weight > ours.weights[0] and ours.small.cpu_weight < ours.weights[1], (
        f"weights follow the tiers: {(ours.web.cpu_weight, ours.small.cpu_weight)}")
    assert ours.seen.cpu_weight == ours.weights[2], "what is only measured is left alone"


def told(c):
    """Returns the acts that tautd has received, oldest first, without those of --observe."""
    return [act for act in reversed(c.tautd.get("/api/v1/tier_acts?limit=1000")["acts"]) if not act["observed"]]


def test_tautd_receives_each_act_later(stage, c, story):
    """tautd was stopped; then it is killed, and so is tautlet."""
    c.start_daemon()
    assert daemon.eventually(lambda: [a for a in told(c) if a["kind"] == "kill"], 60), f"tautd hears of the kill when it is there: {c.tautd.output()}"
    kills = [act for act in told(c) if act["kind"] == "kill"]
    assert len(kills) == 1, "of one"
    act = kills[0]
    assert (act["machine"], act["job"], act["tier"], act["request"]) == ("here", "batch/large", "batch", 16 * MIB), (
        "with machine, job, tier and request")
    assert 0 < act["free"] < 0.15 * 256 * MIB and act["total"] == 256 * MIB, "and free memory"
    assert act["usage"] > 80 * MIB and "over its request of 16.0 MiB" in act["text"], "and usage"
    assert ('tautd_tier_acts_total{kind="kill",tier="batch"} 1' in c.tautd.ask("/metrics").text
                or 'tautd_tier_acts_total{tier="batch",kind="kill"} 1' in c.tautd.ask("/metrics").text), "the metric counts it"
    assert not c.tautd.get("/api/v1/ooms")["ooms"], "it is no OOM kill"
    listed = stage.taut(c.tautd, "get", "events")
    assert listed.returncode == 0 and "here: kill of batch/large" in listed.stdout, f"taut get events lists it: {listed.stdout + listed.stderr}"
    print("      " + "      ".join(listed.stdout.splitlines(True)[:4]).rstrip())


def test_no_act_is_lost_or_told_twice_over_kills(stage, c, story):
    before = told(c)
    c.tautd.kill()
    c.agent.kill()
    c.start_agent()
    c.start_daemon()
    c.await_agent()  # both were killed, and connect again
    old = lambda: [act for act in told(c) if act["time"] <= before[-1]["time"]]  # noqa: E731
    assert daemon.eventually(lambda: old() == before, 20), f"no act is lost: {old()}"
    assert not daemon.eventually(lambda: old() != before, 3 / daemon.PATIENCE), "and none is told twice"


def test_an_end_gives_weights_back(stage, c, ours, story):
    assert c.agent.stop() == 0, "TERM ends it well"
    assert [g.cpu_weight for g in ours.others] == ours.weights, "and gives the weights back"
    assert "memory.high is not restored" not in c.agent.output(), "and ends all throttling"
