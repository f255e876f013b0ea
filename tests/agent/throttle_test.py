"""Control of throttling on real cgroups: tautlet brings the share of throttled periods to its target around the limit that tautd ordered, and
the limit that tautd ordered returns when tautlet stops."""
import time

import pytest

from cell import watch

SPEED = 300
TARGET = 0.1
HIGH = 3
# tautd decides once: the next decision is later than the test.
SETTINGS = f"""\
defaults: {{mode: auto, recommender: moving_window, change_period: 365d, watch_version: 0s, cpu.throttle_target: {TARGET}, cpu.throttle_high: {HIGH}}}
recommenders:
  moving_window: {{min_history: 30m, cpu_half_life: 2h, hold_windows: 3}}
"""


@pytest.fixture(scope="module")
def group(tree):
    its = tree.group("serves")
    its.memory_limit, its.cpu_limit = 256 << 20, 2.0
    return its


@pytest.fixture(scope="module")
def c(agent, tree, group):
    its = agent(SPEED, f"  - {{cgroup: \"/{tree.name}/*\", job: \"throttle/{{1}}\", manage: true, cpu: hard, startup_grace: 0s}}\n", SETTINGS)
    its.start_daemon()
    its.start_agent()
    its.load(group, "--cpu", "0.15", "--duration", "600s")
    return its


def share_of(group, seconds):
    """Returns the share of throttled periods in the next seconds."""
    periods, throttled = group.throttling
    time.sleep(seconds)
    more_periods, more_throttled = group.throttling
    return (more_throttled - throttled) / max(1, more_periods - periods)


def test_a_task_that_is_throttled_gets_a_higher_limit_within_seconds(stage, c, group, story):
    got, took = watch(lambda: group.cpu_limit, lambda v: v is not None and v < 0.5, 60, 0.05)
    assert took is not None, f"tautd orders a limit for .15 cores: {got}"
    story.ordered = group.cpu_limit
    c.load(group, "--cpu", f"{story.ordered:.3f}", "--duration", "600s")
    got, took = watch(lambda: group.cpu_limit, lambda v: v > story.ordered * 1.3, 40, 0.05)
    assert took is not None, f"the limit rises above the ordered {story.ordered}: {got}"
    assert group.cpu_limit <= story.ordered * HIGH + 0.011
    share = [1.0]

    def calm():
        share[0] = share_of(group, 5)
        return share[0]

    got, took = watch(calm, lambda v: v <= 1.5 * TARGET, 60)
    assert took is not None, f"the share of throttled periods comes to its target: {got:.0%} at {group.cpu_limit} cores"
    print(f"      figure: ordered {story.ordered:.2f} cores, in force {group.cpu_limit:.2f}, {got:.1%} of periods throttled")


def test_the_ordered_limit_returns_when_tautlet_stops(stage, c, group, story):
    assert c.agent.stop() == 0, "TERM ends it well"
    got, took = watch(lambda: group.cpu_limit, lambda v: abs(v - story.ordered) < 0.011, 5, 0.05)
    assert took is not None, f"the ordered limit {story.ordered}: {got}"
