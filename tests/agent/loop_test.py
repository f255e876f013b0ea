#!/usr/bin/env python3
"""The closed loop with real processes: what tautd and tautlet together do to jobs that grow, are killed, shrink, serve.
A window of five minutes goes by in a second."""
import time

import cell
from cell import MIB, daemon, watch

SPEED = 300
WINDOW_S = 300 / SPEED

SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, oom_tolerance: low, change_period: 20m}
recommenders:
  moving_window: {min_history_h: 0.5, memory_half_life_h: 0.3, cpu_half_life_h: 2, hold_windows: 3}
  oom: {hold_h: 12}
"""

LOADS = {
    # Doubles in 12 windows, and then once more, past its owner's limit.
    "grows": (["--memory", f"grow:50MiB..200MiB/{24 * WINDOW_S:g}s", "--cpu", "0.02"], 120 * MIB),
    "bursts": (["--memory", f"step:50MiB..190MiB@{20 * WINDOW_S:g}s", "--cpu", "0.02", "--restart"], 160 * MIB),
    # Starts small: no limit goes below what a job needed to start.
    "shrinks": (["--memory", "20MiB", "--cpu", "0.02"], 400 * MIB),
    "serves": (["--memory", "50MiB", "--cpu", "0.2~15%"], 200 * MIB),
}
# A second process of "shrinks", which comes when it has started, and before its first limit.
FALLS = ["--memory", f"fall:280MiB..40MiB@{20 * WINDOW_S:g}s", "--cpu", "0.02"]
FALLS_AFTER_S = 4.5 * WINDOW_S
# When "grows" has its most, and the serving job the limit that its usage asks for.
SETTLED_AFTER_S = 27 * WINDOW_S


def main():
    args = cell.arguments(__doc__)
    tree = cell.tree("taut-loop")
    groups = {name: tree.group(name) for name in LOADS}
    rules = f"  - {{cgroup: \"/{tree.name}/*\", job: \"loop/{{1}}\", manage: true, add_limits: true, cpu: hard}}\n"
    with daemon.Stage(args) as stage:
        c = cell.Cell(stage, tree, SPEED, rules, SETTINGS)
        c.start_daemon()
        c.start_agent()
        for name, (load, memory) in LOADS.items():
            groups[name].memory_limit, groups[name].cpu_limit = memory, 1.0
        loads = [c.load(groups[name], *load, "--duration", "600s") for name, (load, _) in LOADS.items()]

        time.sleep(FALLS_AFTER_S)
        loads.append(c.load(groups["shrinks"], *FALLS, "--duration", "600s"))
        time.sleep(SETTLED_AFTER_S - FALLS_AFTER_S)
        serves = groups["serves"]
        stage.check(serves.cpu_limit < 0.5, "a serving job is held to what it needs", serves.cpu_limit)
        settled = time.monotonic()
        periods, throttled = serves.throttling

        grows = groups["grows"]
        stage.equal(grows.oom_kills, 0, "a job whose memory doubles over several windows is raised before it is killed")
        stage.check(grows.memory_used > 190 * MIB and grows.memory_limit > grows.memory_used,
                    "past its owner's limit, to four times what it was", (grows.memory_used, grows.memory_limit))

        bursts = groups["bursts"]
        back, took = watch(lambda: bursts.memory_used, lambda v: v > 180 * MIB, 45 * WINDOW_S, 0.1)
        stage.check(bursts.oom_kills >= 1, "a job that wants much more at once is killed", bursts.oom_kills)
        stage.check(took is not None, "it comes back with more and holds all it wants", back)
        records = [o for o in c.tautd.get("/api/v1/ooms")["ooms"] if o["job"] == "loop/bursts"]
        limits = [o["limit"] for o in records]
        print(f"      killed at {[round(x / MIB) for x in sorted(limits)]} MiB, now {bursts.memory_limit / MIB:.0f} MiB")
        stage.equal(len(limits), len(set(limits)), "and never twice at the same level")

        shrinks = groups["shrinks"]
        limit, took = watch(lambda: shrinks.memory_limit, lambda v: v < (350 + 60) / 2 * MIB, 60 * WINDOW_S, 0.1)
        stage.check(took is not None, "a job that shrinks gives back at least half of its slack",
                    (shrinks.memory_used, limit))
        stage.equal(shrinks.oom_kills, 0, "without being killed")

        time.sleep(max(0.0, settled + 20 * WINDOW_S - time.monotonic()))
        more_periods, more_throttled = serves.throttling
        share = (more_throttled - throttled) / max(1, more_periods - periods)
        print(f"      figure: {share:.2%} of {more_periods - periods} periods throttled at {serves.cpu_limit:.2f} cores")
        stage.check(share < 0.01, "and throttled in under 1 % of the periods after it has settled", share)
        late = [d for d in c.decisions("loop/serves") if d["outcome"] == "failed"]
        stage.equal(late, [], "no decision has failed")
        for load in loads:
            load.kill()
            load.wait()
        tree.remove()
        stage.finish()


if __name__ == "__main__":
    main()
