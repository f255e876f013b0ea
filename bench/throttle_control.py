#!/usr/bin/env python3
"""Measures what control of throttling costs and gains for a service with latency: a real tautd, a real tautlet and real cgroups.

The service answers requests one after the other. Requests arrive at random times, and each needs CPU time. tautd decides a limit from calm
traffic, and the traffic then has bursts until the end. The program prints the mean limit, the share of throttled periods and the latency of
requests for the owner's limit, for tautd's limit, which the agent raises by a quarter after throttling, and for tautd's limit with the control
(cpu.throttle_target).

    bench/throttle_control.py [--bin build/release/bin] [--seconds 90] [--target 0.05]
"""
import pathlib
import random
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "agent"))

OWNER, ORDERED = 1.5, 0.4  # cores; tautd orders ORDERED, because the mean of calm traffic is below this lower bound
SPEED, LEARN_S = 300, 30  # of the node's clock; time of calm traffic from which tautd decides
WORK_S, CALM, BURST = 0.015, 8, 24  # CPU time of a request, requests a second
CALM_S, BURST_S = 20, 10


def serve(seed, calm_s, seconds):
    """The service: prints one latency per line, of requests that arrive after `calm_s`."""
    rng = random.Random(seed)
    start = time.monotonic()
    due, free = 0.0, []
    while due < calm_s + seconds:
        in_burst = due >= calm_s and (due - calm_s) % (CALM_S + BURST_S) >= CALM_S
        due += rng.expovariate(BURST if in_burst else CALM)
        wait = start + due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        end = time.process_time() + WORK_S * rng.lognormvariate(0, 0.3)
        while time.process_time() < end:
            pass
        if due >= calm_s:
            free.append(time.monotonic() - start - due)
    print("\n".join(f"{latency:.6f}" for latency in free), flush=True)


def measure(args, name, mode, more):
    import agent_bench
    import cell
    settings = f"""\
defaults: {{mode: {mode}, recommender: moving_window, change_period: 365d, watch_version: 0s, class: batch, cpu.lower: {ORDERED}{more}}}
recommenders: {{moving_window: {{min_history: 30m, cpu_half_life: 2h, hold_windows: 3}}}}
"""
    tree = agent_bench.own_tree()
    group = tree.group("serves")
    group.cpu_limit = OWNER
    rules = f"  - {{cgroup: \"/{tree.name}/*\", job: \"bench/{{1}}\", manage: true, cpu: hard, startup_grace: 0s}}\n"
    try:
        with agent_bench.daemon.Stage(args) as stage:
            its = cell.Cell(stage, tree, SPEED, rules, settings)
            its.start_daemon()
            its.start_agent()
            service = group.run(sys.executable, __file__, "--serve", str(LEARN_S), str(args.seconds), output=subprocess.PIPE)
            time.sleep(LEARN_S)
            ordered, before, limits = group.cpu_limit, group.throttling, []
            end = time.monotonic() + args.seconds
            while time.monotonic() < end:
                limits.append(group.cpu_limit)
                time.sleep(0.25)
            periods, throttled = (after - was for after, was in zip(group.throttling, before))
            latencies = sorted(float(x) for x in service.communicate(timeout=300)[0].split())
            p50, p95, p99 = (latencies[int(q * (len(latencies) - 1))] * 1000 for q in (.5, .95, .99))
            print(f"| {name} | {ordered:.2f} | {sum(limits) / len(limits):.2f} | {throttled / max(1, periods):.1%} | {p50:.0f} | {p95:.0f} "
                  f"| {p99:.0f} | {len(latencies)} |", flush=True)
    finally:
        group.kill()
        tree.remove()


def main():
    if "--serve" in sys.argv:
        return serve(1, float(sys.argv[2]), float(sys.argv[3]))
    import agent_bench
    args = agent_bench.arguments(__doc__, seconds=(90.0, "measured time of each limit"), target=(0.05, "share of throttled periods"))
    print("| limit | at the start, cores | mean | throttled periods | p50, ms | p95 | p99 | requests |\n|---|---|---|---|---|---|---|---|")
    measure(args, "the owner's", "observe", "")
    measure(args, "tautd's, raised by a quarter after throttling", "auto", "")
    measure(args, f"tautd's, control at {args.target:.0%}", "auto", f", cpu.throttle_target: {args.target}, cpu.throttle_high: 4")
    return 0


if __name__ == "__main__":
    sys.exit(main())
