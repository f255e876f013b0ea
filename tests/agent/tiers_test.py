#!/usr/bin/env python3
"""tautlet's tiers on real cgroups: a group of 256 MiB stands for the machine; the lowest tier dies before its memory ends,
production lives, and the log says why. tautd is stopped meanwhile, receives each act later, and none twice."""
import re
import time

import cell
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


def fill(stage, c, web, small, large, seen):
    """233 of 256 MiB: less than 15 % are left."""
    loads = {}
    for group, mib in ((web, 90), (small, 20), (seen, 20), (large, 95)):
        loads[group.name] = c.load(group, "--memory", f"{mib}MiB", "--duration", "600s")
        stage.check(held(group, mib), f"{group.name} holds {mib} MiB", group.memory_used)
    return loads


def acts(c, action):
    return [line for line in c.agent.output().splitlines() if f" {action} " in line]


def check_observe(stage, c, loads):
    c.start_agent("--observe")
    seen = daemon.eventually(lambda: acts(c, "task_killed"), 30)
    stage.check(seen and "observe, not done" in acts(c, "task_killed")[0], "--observe says what it would kill",
                c.agent.output())
    stage.check(all(load.poll() is None for load in loads.values()), "and kills nothing")
    c.agent.stop()


def check_kill(stage, c, loads, large, others):
    c.start_agent()
    code, took = watch(loads[large.name].poll, lambda v: v is not None, 60, 0.01)
    stage.equal(code, -9, "the batch task that is furthest over its request is killed before memory ends")
    stage.check(daemon.eventually(lambda: acts(c, "task_killed"), 20), "and the log says so", c.agent.output())
    said = acts(c, "task_killed")[0]
    print("      " + said)
    for wanted in ("tier=batch", "job=batch/large", "request_bytes=16777216", "is below", "over its request of 16.0 MiB"):
        stage.check(wanted in said, f"with {wanted}", said)
    free = int(float(re.search(r"free_bytes=([0-9.]+)", said)[1]))
    stage.check(0 < free < 0.15 * 256 * MIB, "and how much was free", free)
    stage.equal(bool(acts(c, "task_throttled")), large.v2, "it was throttled before where the kernel can (v2)")
    time.sleep(3)
    stage.check(all(loads[g.name].poll() is None for g in others), "all others live", c.agent.output())
    stage.equal([g.oom_kills for g in (large, *others)], [0, 0, 0, 0], "it is no OOM kill of the kernel's")
    stage.check(not acts(c, "oom_kill") and not acts(c, "limit_raised"), "and is not taken for one", c.agent.output())


def told(c):
    """The acts that tautd has, the oldest first; without those that --observe would have done."""
    return [act for act in reversed(c.tautd.get("/api/v1/tier_acts?limit=1000")["acts"]) if not act["observed"]]


def check_tautd(stage, c):
    """tautd was away; then it is killed, and so is tautlet."""
    c.start_daemon()
    stage.check(daemon.eventually(lambda: [a for a in told(c) if a["kind"] == "kill"], 60), "tautd hears of the kill when it is there", c.tautd.output())
    kills = [act for act in told(c) if act["kind"] == "kill"]
    stage.equal(len(kills), 1, "of one")
    act = kills[0]
    stage.equal((act["machine"], act["job"], act["tier"], act["request"]), ("here", "batch/large", "batch", 16 * MIB), "with machine, job, tier and request")
    stage.check(0 < act["free"] < 0.15 * 256 * MIB and act["total"] == 256 * MIB, "and free memory", act)
    stage.check(act["usage"] > 80 * MIB and "over its request of 16.0 MiB" in act["text"], "and usage", act)
    stage.check('tautd_tier_acts_total{kind="kill",tier="batch"} 1' in c.tautd.ask("/metrics").text
                or 'tautd_tier_acts_total{tier="batch",kind="kill"} 1' in c.tautd.ask("/metrics").text, "the metric counts it")
    stage.check(not c.tautd.get("/api/v1/ooms")["ooms"], "it is no OOM kill")
    listed = stage.run(stage.args.taut, "events", "--server", f"http://127.0.0.1:{c.port}")
    stage.check(listed.returncode == 0 and "here: kill of batch/large" in listed.stdout, "taut events lists it", listed.stdout + listed.stderr)
    print("      " + "      ".join(listed.stdout.splitlines(True)[:4]).rstrip())
    before = told(c)
    c.tautd.kill()
    c.agent.kill()
    c.start_agent()
    c.start_daemon()
    stage.check(daemon.eventually(lambda: c.tautd.get("/api/v1/agents")["agents"], 60), "both are killed, and meet again")
    time.sleep(3)
    stage.equal([act for act in told(c) if act["time"] <= before[-1]["time"]], before, "no act is lost, and none is told twice")


def main():
    args = cell.arguments(__doc__)
    tree = cell.tree("taut-tiers")
    web, small, large, seen = (tree.group(name) for name in ("web-1", "batch-small", "batch-large", "seen-1"))
    limit_parent(tree, 256 * MIB)
    weights = [g.cpu_weight for g in (web, small, seen)]
    with daemon.Stage(args) as stage:
        c = cell.Cell(stage, tree, 1, RULES.replace("TREE", tree.name), limits=TIERS.replace("TREE", tree.name))
        c.agent_config = stage.file("tiers.yaml", f"name: here\nstate: \"{stage.dir}/state\"\nsample_ms: 100\nfind: 1s\n"
                                                  + f"daemon: {{address: \"127.0.0.1:{c.agent_port}\"}}\n"
                                                  + TIERS.replace("TREE", tree.name) + "tasks:\n"
                                                  + RULES.replace("TREE", tree.name))
        loads = fill(stage, c, web, small, large, seen)
        check_observe(stage, c, loads)
        stage.equal([g.cpu_weight for g in (web, small, seen)], weights, "--observe sets no weight")
        check_kill(stage, c, loads, large, (web, small, seen))
        stage.check(web.cpu_weight > weights[0] and small.cpu_weight < weights[1], "weights follow the tiers",
                    (web.cpu_weight, small.cpu_weight))
        stage.equal(seen.cpu_weight, weights[2], "what is only measured is left alone")
        check_tautd(stage, c)
        stage.equal(c.agent.stop(), 0, "TERM ends it well")
        stage.equal([g.cpu_weight for g in (web, small, seen)], weights, "and gives the weights back")
        stage.check("memory.high is not restored" not in c.agent.output(), "and ends all throttling")
        for load in loads.values():
            load.kill()
            load.wait()
        tree.remove()
        stage.finish()


if __name__ == "__main__":
    main()
