#!/usr/bin/env python3
"""Measures the cost of tautlet on its machine, without and with the memory guard. tautlet samples 200 tasks in real cgroups
once a second and reports them to a real tautd. A run without tasks shows the cost of the connection and the loop.

    bench/agent_cost.py [--bin build/release/bin] [--tasks 200] [--seconds 60] [--warmup 15]
"""
import sys
import time

import agent_bench as bench
from agent_bench import MIB, daemon, row

CPU_BUDGET, MEMORY_BUDGET = 1.0, 30.0  # per cent of one core; MiB
BUSY = 5  # number of tasks with load; all other tasks sleep


def fill(tree, args):
    for i in range(args.tasks):
        group = tree.group(f"t{i:03}")
        group.memory_limit, group.cpu_limit = 64 * MIB, 0.5
        if i < BUSY:
            group.run(args.load, "--cpu", "0.01..0.03~20%", "--memory", "8MiB~10%", "--duration", "1h")
        else:
            group.run("/bin/sleep", "3600")


def measure(stage, args, what, rules, tasks):
    node = bench.Node(stage, rules)
    if not daemon.eventually(lambda: node.agent()["tasks"] == tasks, 60):
        sys.exit(f"the agent has {node.agent()['tasks']} of {tasks} tasks: {node.tautlet.output()[-1000:]}")
    time.sleep(args.warmup)
    cost = bench.Cost(node.tautlet.popen.pid)
    time.sleep(args.seconds)
    user, system = cost.shares()
    budget = CPU_BUDGET if tasks else None
    row(f"tautlet, {what}: CPU of one core", user + system, "%", budget)
    row("  of it: its own code", user, "%")
    row("  of it: the kernel", system, "%")
    row(f"tautlet, {what}: resident", cost.resident_mib(), "MiB", MEMORY_BUDGET)
    row("  threads", cost.threads(), "")
    node.stop()


def main():
    args = bench.arguments(__doc__, tasks=(200, "tasks"), seconds=(60, "of measuring"),
                           warmup=(15, "seconds before it"))
    tree = bench.own_tree()
    with daemon.Stage(args) as stage:
        print(f"  {bench.load()} at the start", flush=True)
        measure(stage, args, "connected, no tasks", "[]", 0)
        fill(tree, args)
        rule = f"[{{cgroup: \"/{tree.name}/*\", job: \"bench/{{1}}\", manage: true, add_limits: true, cpu: hard, startup_grace: 0s}}]"
        measure(stage, args, f"{args.tasks} tasks a second", rule, args.tasks)
        batch = rule.replace("manage: true", "manage: true, tier: batch")
        guard = "\ntiers: {guard: {throttle: true, kill: true"
        measure(stage, args, f"{args.tasks} tasks, guard of memory", batch + guard + "}}", args.tasks)
        # With this threshold, the machine's free memory is always less than twice throttle_free.
        near = ", throttle_share: 0.9, throttle_free: 1000TiB, kill_share: 0.001, last_share: 0.0001}}"
        measure(stage, args, f"{args.tasks} tasks, guard, little free", batch + guard + near, args.tasks)
        print(f"  {bench.load()} at the end", flush=True)
        tree.remove()


if __name__ == "__main__":
    main()
