#!/usr/bin/env python3
"""Measures the time from a decided limit to the kernel's file, with a real tautd (SQLite), a real tautlet in real time and
real cgroups.

This program writes the job's windows to tautd ahead of time, so it controls when a pass is due. Two durations have
budgets. The first is the pass' commit, before which nothing is ordered. The second lasts from the decision's event,
which tautd sends with the order, until the file has changed. The program also prints the total time from just before
the write that ends a window. The total includes HTTP, up to 20 ms until tautd checks for ended windows, and the pass.
Files are read every 0.2 ms.

    bench/agent_latency.py [--bin build/release/bin] [--rounds 100] [--kills 50]
"""
import os
import re
import sys
import time

import agent_bench as bench
import decision_stream
from agent_bench import MIB, daemon, row, rows_of_times

DECISION_BUDGET_MS, OOM_BUDGET_MS = 50.0, 100.0
PAUSE = 0.0002
PATIENCE = 5.0
WINDOW = 300
STEP_S = 1.1  # a memory limit is lowered at most once a second
SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 0s, min_change: 0}
recommenders: {moving_window: {min_history: 15m}}
"""
INGEST = """
  grace: 0s
  mapping:
    - {name: bench-cpu, metric: bench_cpu_cores, kind: cpu_cores, job: "{bench_job}", task: "{instance}"}
    - {name: bench-memory, metric: bench_memory_bytes, kind: memory_bytes, job: "{bench_job}", task: "{instance}"}
"""


class File:
    """A kernel file that is read repeatedly."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY)

    def text(self):
        return os.pread(self.fd, 4096, 0)


def files_of(group):
    names = ("memory.max", "cpu.max") if group.v2 else ("memory.limit_in_bytes", "cpu.cfs_quota_us")
    return {"memory": File(group.dir("memory") / names[0]), "cpu": File(group.dir("cpu") / names[1])}


def changes(files):
    """Reads the current contents. Returns a function that waits until each file has changed and returns the times of the changes."""
    before = {name: f.text() for name, f in files.items()}

    def wait():
        at, end = {}, time.perf_counter() + PATIENCE
        while len(at) < len(files) and time.perf_counter() < end:
            for name, f in files.items():
                if name not in at and f.text() != before[name]:
                    at[name] = time.perf_counter()
            time.sleep(PAUSE)
        return at

    return wait


class Clock:
    """Sends the job's windows in order. The first sample of a window ends the previous window."""

    def __init__(self, port, job):
        self.port, self.job = port, job
        self.window = int(time.time()) // WINDOW + 20

    def end_window(self):
        self.window += 1
        labels = {"bench_job": self.job, "instance": "written"}
        start = self.window * WINDOW
        body = daemon.write_body([({"__name__": name, **labels}, [(start + 1, value)])
                                  for name, value in (("bench_cpu_cores", 0.05),
                                                      ("bench_memory_bytes", 20.0 * MIB))])
        answer = daemon.write(self.port, body)
        if answer.status != 204:
            sys.exit(f"a write was not taken: {answer.status} {answer.text}")


def commit_of(node, window_end):
    """Waits for the end of the pass for a window, and returns the duration of the pass' commit in milliseconds."""
    def passed():
        last = node.tautd.get("/api/v1/status")["last_pass"]
        return last if last["window_end"] >= window_end else None

    last = daemon.eventually(passed, PATIENCE, 0.01)
    return last["steps"]["store"] if last else 1000 * PATIENCE


def decisions(args, node, group):
    """Raises and lowers both limits of one job repeatedly. The memory limit is lowered one step at a time."""
    job = f"bench/{group.name}"
    clock, files, events = Clock(node.tautd.port, job), files_of(group), decision_stream.Decisions(node.tautd.port)
    bounds = {"up": ("150MiB", "0.8"), "down": ("128MiB", "0.4")}

    def bound(way):
        memory, cpu = bounds[way]
        answer = node.tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings", "PATCH",
                                f'{{"memory.lower": "{memory}", "cpu.lower": "{cpu}"}}', {"Content-Type": "application/json"})
        if answer.status != 200:
            sys.exit(f"the settings were not taken: {answer.status} {answer.text}")

    bound("down")
    for _ in range(12):
        clock.end_window()
        time.sleep(0.2)
    time.sleep(8)  # the first limits are applied in steps
    took = {"up": [], "down": []}
    after_event, from_decision, missed = [], [], 0
    for i in range(2 * args.rounds):
        way = "down" if i % 2 else "up"
        bound(way)
        time.sleep(STEP_S if way == "down" else 0.1)
        wait = changes(files)
        events.heard.clear()
        start = time.perf_counter()
        clock.end_window()
        at = wait()
        missed += len(files) - len(at)
        time.sleep(0.02)  # an event may arrive after the change
        commit_ms = commit_of(node, clock.window * WINDOW)
        for name, t in at.items():
            took[way].append((t - start) * 1000)
            if name in events.heard:
                after_event.append(max(0, t - events.heard[name]) * 1000)
                from_decision.append(commit_ms + after_event[-1])
    for way, what in (("up", "raised"), ("down", "lowered")):
        rows_of_times(f"{what}: from the write that ends a window to the file", took[way])
    rows_of_times("from the decision's event to the file", after_event)
    rows_of_times("the same and the commit of the decision", from_decision, DECISION_BUDGET_MS)
    told = dict(re.findall(r'tautd_order_seconds\{statistic="(\w+)"\} (\S+)', node.tautd.ask("/metrics").text))
    row("tautd's own: order sent to its answer back, mean", float(told["mean"]) * 1000, "ms")
    row("  slowest", float(told["slowest"]) * 1000, "ms")
    row("decisions after which a file did not change", missed, "", 0)


def kills(args, tree, node):
    """Measures OOM kills: a task in each group exceeds its limit and is killed once, and the agent raises the limit."""
    took, missed = [], 0
    for i in range(args.kills):
        group = tree.groups[f"k{i:02}"]
        oom = File(group.dir("memory") / ("memory.events" if group.v2 else "memory.oom_control"))
        limit = files_of(group)["memory"]
        before, count = limit.text(), re.search(rb"^oom_kill .*", oom.text(), re.M).group()
        load = group.run(args.load, "--memory", "48MiB", "--duration", "20s")
        killed = raised = None
        end = time.perf_counter() + PATIENCE
        while raised is None and time.perf_counter() < end:
            # Check the kill before the raise, so that a raise is not measured as faster than it is.
            if killed is None and count not in oom.text():
                killed = time.perf_counter()
            if limit.text() != before:
                raised = time.perf_counter()
            time.sleep(PAUSE)
        load.kill()
        load.wait()
        if killed is None or raised is None:
            missed += 1
            continue
        took.append((raised - killed) * 1000)
    rows_of_times("from an OOM kill to the raised limit", took, OOM_BUDGET_MS)
    row("OOM kills after which nothing was raised", missed, "", 0)


def main():
    args = bench.arguments(__doc__, rounds=(100, "raises, and as many lowers"), kills=(50, "OOM kills"))
    tree = bench.own_tree()
    with daemon.Stage(args) as stage:
        print(f"  {bench.load()} at the start", flush=True)
        moved = tree.group("moved")
        moved.memory_limit, moved.cpu_limit = 140 * MIB, 0.5
        load = moved.run(args.load, "--memory", "20MiB", "--cpu", "0.02", "--duration", "1h")
        for i in range(args.kills):
            group = tree.group(f"k{i:02}")
            group.memory_limit, group.cpu_limit = 24 * MIB, 1.0
        rule = f"[{{cgroup: \"/{tree.name}/*\", job: \"bench/{{1}}\", manage: true, add_limits: true, cpu: hard, startup_grace: 0s}}]"
        node = bench.Node(stage, rule, SETTINGS, store=str(stage.dir / "tautd.db"), ingest=INGEST)
        if not daemon.eventually(lambda: node.agent()["tasks"] == args.kills + 1, 30):
            sys.exit(f"the agent does not find its tasks: {node.tautlet.output()[-1000:]}")
        time.sleep(1)  # the agent receives its permissions
        decisions(args, node, moved)
        kills(args, tree, node)
        print(f"  {bench.load()} at the end", flush=True)
        load.kill()
        load.wait()
        node.stop()
        tree.remove()


if __name__ == "__main__":
    main()
