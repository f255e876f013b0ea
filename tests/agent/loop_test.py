"""The closed loop with real processes: the effect of tautd and tautlet together on jobs that grow, are killed, shrink, and serve. A window
of five minutes passes in a second."""
import pytest

from cell import MIB, watch

SPEED = 300
WINDOW_S = 300 / SPEED

SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, oom_tolerance: low, change_period: 20m}
recommenders:
  moving_window: {min_history: 30m, memory_half_life: 18m, cpu_half_life: 2h, hold_windows: 3}
  oom: {hold: 12h}
"""

LOADS = {
    # Doubles in 12 windows, and then once more, beyond its owner's limit.
    "grows": (["--memory", f"grow:50MiB..200MiB/{24 * WINDOW_S:g}s", "--cpu", "0.02"], 120 * MIB),
    "bursts": (["--memory", f"step:50MiB..190MiB@{20 * WINDOW_S:g}s", "--cpu", "0.02", "--restart"], 160 * MIB),
    # Starts small: no limit is lowered below the usage at the start.
    "shrinks": (["--memory", "20MiB", "--cpu", "0.02"], 400 * MIB),
    "serves": (["--memory", "50MiB", "--cpu", "0.2~15%"], 200 * MIB),
}
# A second process of "shrinks", which starts when the first has started, and before its first limit.
FALLS = ["--memory", f"fall:280MiB..40MiB@{20 * WINDOW_S:g}s", "--cpu", "0.02"]
FALLS_AFTER = 2  # windows: early enough to fill its memory before the sixth, even on a busy machine
# Time at which "grows" has its maximum, and the serving job the limit that its usage needs.
SETTLED_AFTER = 27  # windows


@pytest.fixture(scope="module")
def groups(tree):
    return {name: tree.group(name) for name in LOADS}


@pytest.fixture(scope="module")
def c(agent, tree, groups):
    its = agent(SPEED, f"  - {{cgroup: \"/{tree.name}/*\", job: \"loop/{{1}}\", manage: true, add_limits: true, cpu: hard}}\n", SETTINGS)
    its.start_daemon()
    its.start_agent()
    for name, (load, memory) in LOADS.items():
        groups[name].memory_limit, groups[name].cpu_limit = memory, 1.0
        its.load(groups[name], *load, "--duration", "600s")
    return its


def test_a_serving_job_is_held_to_what_it_needs(stage, c, groups, story):
    c.await_windows(FALLS_AFTER)
    c.load(groups["shrinks"], *FALLS, "--duration", "600s")
    c.await_windows(SETTLED_AFTER - FALLS_AFTER)
    story.serves = groups["serves"]
    assert story.serves.cpu_limit < 0.5, "a serving job is held to what it needs"
    story.settled = c.tautd.get("/api/v1/fleet")["time"]
    story.periods, story.throttled = story.serves.throttling


def test_a_job_that_grows_is_raised_before_it_is_killed(stage, groups, story):
    grows = groups["grows"]
    assert grows.oom_kills == 0, "a job whose memory doubles over several windows is raised before it is killed"
    assert grows.memory_used > 190 * MIB and grows.memory_limit > grows.memory_used, (
        f"past its owner's limit, to four times what it was: {(grows.memory_used, grows.memory_limit)}")


def test_a_job_that_bursts_comes_back_with_more(stage, c, groups, story):
    bursts = groups["bursts"]
    back, took = watch(lambda: bursts.memory_used, lambda v: v > 180 * MIB, 45 * WINDOW_S, 0.1)
    assert bursts.oom_kills >= 1, "a job that wants much more at once is killed"
    assert took is not None, f"it comes back with more and holds all it wants: {back}"
    records = [o for o in c.tautd.get("/api/v1/ooms")["ooms"] if o["job"] == "loop/bursts"]
    limits = [o["limit"] for o in records]
    print(f"      killed at {[round(x / MIB) for x in sorted(limits)]} MiB, now {bursts.memory_limit / MIB:.0f} MiB")
    assert len(limits) == len(set(limits)), "and never twice at the same level"


def test_a_job_that_shrinks_gives_back_its_slack(stage, groups, story):
    shrinks = groups["shrinks"]
    limit, took = watch(lambda: shrinks.memory_limit, lambda v: v < (350 + 60) / 2 * MIB, 60 * WINDOW_S, 0.1)
    assert took is not None, f"a job that shrinks gives back at least half of its slack: {(shrinks.memory_used, limit)}"
    assert shrinks.oom_kills == 0, "without being killed"


def test_the_serving_job_is_hardly_throttled(stage, c, story):
    c.await_windows(20 - (c.tautd.get("/api/v1/fleet")["time"] - story.settled) // 300)
    more_periods, more_throttled = story.serves.throttling
    share = (more_throttled - story.throttled) / max(1, more_periods - story.periods)
    print(f"      figure: {share:.2%} of {more_periods - story.periods} periods throttled at {story.serves.cpu_limit:.2f} cores")
    assert share < 0.01, "and throttled in under 1 % of the periods after it has settled"
    late = [d for d in c.decisions("loop/serves") if d["outcome"] == "failed"]
    assert late == [], "no decision has failed"
