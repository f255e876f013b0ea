"""Victims when memory ends, on real cgroups: a group of 700 MiB, production with 600 of it, and a batch task that allocates its memory at
once or grows by 80 MiB a second. Production is never killed, and a kill by the kernel is reported for the group. Every process has its
original oom_score_adj after --release, also when tautlet was killed."""
import pathlib

import pytest

from cell import MIB, daemon, watch

ROUNDS = 5
CONFIG = """\
name: here
state: "STATE"
find: 1s
daemon: {address: "127.0.0.1:PORT"}
tiers:
  cpu_weight: {production: 400, mid: 100, batch: 20, free: 1}
  guard: {GUARD, of: "/TREE"}
tasks:
  - {cgroup: "/TREE/web-*", job: shop/web, manage: true, cpu: none, memory: none, tier: production}
  - {cgroup: "/TREE/batch-*", job: "batch/{1}", manage: true, tier: batch}
  - {cgroup: "/TREE/free-*", job: "free/{1}", manage: true, cpu: none, memory: none, tier: free}
  - {cgroup: "/TREE/mid-*", job: "mid/{1}", manage: true, cpu: none, memory: none, tier: mid}
"""


def can_lower():
    """Returns whether this process may lower oom_score_adj (CAP_SYS_RESOURCE); some containers' root may not."""
    status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    return bool(int(status["CapEff"], 16) >> 24 & 1)


PRODUCTION = -800 if can_lower() else 0


def score(process):
    return int(pathlib.Path(f"/proc/{process.pid}/oom_score_adj").read_text())


def lines(agent, action):
    return [line for line in agent.output().splitlines() if f" {action} " in line]


class Machine:
    """A group that represents a machine, with production in it."""

    def __init__(self, stage, tree, agent):
        self.stage, self.tree = stage, tree
        self.web, self.batch, self.other, self.free, self.mid = (
            tree.group(name) for name in ("web-1", "batch-1", "unmanaged", "free-1", "mid-1"))
        home = tree.hierarchies["unified" if tree.v2 else "memory"] / tree.name
        (home / ("memory.max" if tree.v2 else "memory.limit_in_bytes")).write_text(str(700 * MIB))
        self.c = agent(1, "", "")
        self.production = None
        self.start_production()

    def start_production(self):
        self.production = self.c.load(self.web, "--memory", "600MiB", "--duration", "1000s")
        assert watch(lambda: self.web.memory_used, lambda v: v >= 595 * MIB, 60, 0.02)[1] is not None, (
            f"production holds 600 of 700 MiB: {self.web.memory_used}")

    def start_agent(self, guard):
        self.c.agent_config = self.stage.file("victims.yaml", CONFIG.replace("GUARD", guard).replace("TREE", self.tree.name)
                                              .replace("STATE", f"{self.stage.dir}/state")
                                              .replace("PORT", str(self.c.agent_port)))
        self.c.start_agent()
        assert daemon.eventually(lambda: score(self.production) == PRODUCTION, 30), (
            f"production has oom_score_adj {PRODUCTION}: {self.c.agent.output()}")
        if PRODUCTION == 0:
            assert daemon.eventually(lambda: "-800 is refused; give tautlet CAP_SYS_RESOURCE" in self.c.agent.output(), 30), (
                f"and what the kernel refuses is said: {self.c.agent.output()}")

    def hit(self, *load, after_score=False):
        """Runs a batch task that needs more memory than there is, at once or when it has its tier's oom_score_adj. Returns whether it ended
        and production continues."""
        wait = "until [ $(cat /proc/self/oom_score_adj) = 800 ]; do sleep 0.1; done; " if after_score else ""
        task = self.batch.run("/bin/sh", "-c", f'{wait}exec "$@"', "sh", self.stage.args.load, *load, "--duration", "60s")
        ended = daemon.eventually(lambda: task.poll() is not None, 40)
        lives = not daemon.eventually(lambda: self.production.poll() is not None, 0.3 / daemon.PATIENCE, 0.05)
        if not ended:
            task.kill()
            task.wait()
        if not lives:
            self.start_production()
        return ended and lives


@pytest.fixture(scope="module")
def m(stage, tree, agent):
    return Machine(stage, tree, agent)


def test_batch_dies_and_production_lives(stage, m, story):
    m.start_agent("throttle: true, kill: true")
    for what, load in (("takes 450 MiB at once", "450MiB"), ("grows by 80 MiB a second", "grow:1MiB..450MiB/5.6s")):
        done = [m.hit("--memory", load) for _ in range(ROUNDS)]
        assert done == [True] * ROUNDS, f"production lives, and the batch task that {what} ends, {ROUNDS} of {ROUNDS} times"
    assert m.web.oom_kills == 0, "the kernel never killed production"
    print(f"      {len(lines(m.c.agent, 'task_killed'))} kills by the guard, {m.batch.oom_kills} by the kernel")
    assert lines(m.c.agent, "task_killed"), f"the guard acts on what grows: {m.c.agent.output()}"
    assert m.c.agent.stop() == 0, "TERM ends it well"
    assert score(m.production) == 0, "and gives production's oom_score_adj back"


def test_a_kill_of_the_kernels_is_told_as_the_groups(stage, m, story):
    """The kernel kills if tiers.guard.kill is not set."""
    m.c.start_daemon()
    m.start_agent("throttle: true")
    before = m.batch.oom_kills
    assert m.hit("--memory", "450MiB", after_score=True), f"the kernel ends the batch task, not production: {m.c.agent.output()}"
    assert m.batch.oom_kills > before, "by its OOM killer"
    assert daemon.eventually(lambda: lines(m.c.agent, "oom_kill"), 20), f"which is logged: {m.c.agent.output()}"
    said = lines(m.c.agent, "oom_kill")[0]
    print("      " + said)
    assert f"at the limit of cgroup /{m.tree.name} above it (700 MiB)" in said and "no limit is raised" in said, (
        "as the group's limit, which raises nothing")
    assert not lines(m.c.agent, "limit_raised"), f"and none is raised: {m.c.agent.output()}"
    acts = daemon.eventually(lambda: [a for a in m.c.tautd.get("/api/v1/tier_acts?limit=100")["acts"]
                                      if a["kind"] == "kernel_kill"], 60)
    assert acts and acts[0]["job"] == "batch/1", "tautd has it as that"
    assert m.c.tautd.get("/api/v1/ooms")["ooms"] == [], "and not as a kill of the task's own limit"


def test_every_process_has_its_tiers_score_and_gets_its_own_back(stage, m, story):
    parent = m.batch.run("/bin/sh", "-c", "sleep 1000 & sleep 1000")
    assert daemon.eventually(lambda: score(parent) == 800, 30), f"a process that came later gets its tier's: {m.c.agent.output()}"
    forks = stage.dir / "forks"
    late = m.batch.run("/bin/sh", "-c", f"until [ -e {forks} ]; do sleep 0.1; done; sleep 1000 & sleep 1000")
    assert daemon.eventually(lambda: score(late) == 800, 30), "and the next one"
    forks.touch()
    pids = lambda: [int(p) for p in m.batch._read("memory", "cgroup.procs").split()]
    scores = lambda: {int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in pids()}
    assert daemon.eventually(lambda: len(pids()) >= 6, 20), f"both have forked: {pids()}"
    assert scores() == {800}, "what they fork has it, too"
    assert score(m.production) == PRODUCTION, "and production its own"
    m.c.agent.kill()
    released = m.c.tautlet("--release")
    assert released.returncode == 0, "after a SIGKILL --release works"
    assert "oom_score_adj 800 -> 0" in released.stdout, "and tells"
    assert (scores(), score(m.production)) == ({0}, 0), "every process has its owner's"
    assert m.c.tautlet("--release").stdout == "no limits to restore\n", "nothing is left"


def test_the_list_has_limits_weights_and_what_is_skipped(stage, m, story):
    strange = m.tree.group("mid-a\tb")
    (strange.dir("memory") / "cgroup.procs").read_text()
    listed = m.c.tautlet("--list").stdout
    print("      " + "      ".join(listed.splitlines(True)).rstrip())
    web = next(line for line in listed.splitlines() if line.startswith("shop/web"))
    assert "700MiB" in web and web.endswith(f" /{m.tree.name}"), "--list has the limit in force, and whose it is"
    assert "1 skipped:" in listed and "mid-a\\x09b" in listed, "and a group whose name cannot be shown, escaped"
    weights = next(line for line in listed.splitlines() if line.startswith("cpu weights: "))
    for wanted in ("production 400", "unmanaged groups 100", "batch 20", "free 1"):
        assert wanted in weights, f"and the weights: {wanted}"
    assert weights.index("production") < weights.index("unmanaged") < weights.index("batch"), "in their order"
    strange.remove()


def test_weights_have_the_ratios_that_are_configured(stage, m, story):
    m.start_agent("throttle: true")
    got = lambda: [g.cpu_weight for g in (m.web, m.other, m.mid, m.batch, m.free)]
    wanted = [400, 100, 100, 20, 1] if m.tree.v2 else [4096, 1024, 1024, 205, 10]
    assert watch(got, lambda v: v == wanted, 20, 0.1)[0] == wanted, "weights have the ratios that were configured"
    assert m.c.agent.stop() == 0, "TERM ends it well"
