"""tautd recommends and orders the number of tasks: by the load of all of them, across a kill, by a webhook, and
back to the owner."""
import json
import pathlib
import signal

import daemon
from scaled_cell import Cell

RECEIVER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "webhook_receiver.py"

CONFIG = """clock: samples
webhook: {{url: "http://127.0.0.1:{port}/", secret_file: {secret}, targets: replicas}}
ingest: {{grace: 0s, kubernetes_jobs: pods}}
defaults:
  {{mode: auto, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 20}}
rules:
  - {{name: no scaling here, match: {{job: "*/db"}}, set: {{replicas.policy: none}}}}
"""
def decisions(tautd):
    page = tautd.get("/api/v1/decisions?target=replicas")["decisions"]
    return [(d["kind"], d["before"], d["after"]) for d in reversed(page)]


def newest(tautd):
    return tautd.get("/api/v1/decisions?target=replicas")["decisions"][0]


def test_at_the_target_nothing_is_ordered(stage, story):
    story.cell = Cell()
    story.store = stage.dir / "tautd.db"
    port, secret, story.received = daemon.free_port(), stage.file("secret", "webhook-0123456789\n"), stage.dir / "orders"
    story.config = CONFIG.format(port=port, secret=secret)
    stage.start("receiver", ["python3", RECEIVER, "--secret-file", secret, "--state", story.received, "--port", port],
                lambda p: "listening" in p.output())
    story.tautd = stage.tautd(config=story.config, store=story.store)
    story.cell.send(story.tautd, 6, 4, 0.5)
    names = [job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"]]
    story.web = next(name for name in names if "web" in name)
    story.path = f"/api/v1/jobs/{daemon.quoted(story.web)}"
    assert decisions(story.tautd) == [], "at the target nothing is ordered"


def test_above_the_target_tasks_are_ordered(story):
    story.cell.send(story.tautd, 3, 4, 0.9)
    assert decisions(story.tautd) == [("set", 4, 8)], "3.6 cores at half of a core each are 8 tasks"
    story.replicas = story.tautd.get(story.path)["replicas"]
    assert (story.replicas["policy"], story.replicas["tasks"], story.replicas["would_be"], story.replicas["ordered"]) == ("hpa", 4, 8, 8), (
        "the job says so")
    assert abs(story.replicas["load"] - 3.6) < 0.05 and abs(story.replicas["utilization"] - 0.9) < 0.02, "with its load and utilization"


def test_the_webhook_takes_the_order_alone(story):
    assert daemon.eventually(lambda: newest(story.tautd)["outcome"] == "applied", 20), f"the webhook takes the order: {newest(story.tautd)}"
    assert (newest(story.tautd)["target"], newest(story.tautd)["resource"]) == ("replicas", None), "a decision on replicas"
    orders = [json.loads(line)["order"] for line in story.received.read_text().splitlines()]
    assert [(o["job"], o["target"], o["value"], o["unit"]) for o in orders] == [(story.web, "replicas", 8, "tasks")], (
        "and nothing but it is sent: limits go elsewhere")


def test_the_command_line_says_the_number_and_why(stage, story):
    said = stage.taut(story.tautd, "get", "job", story.web)
    assert "replicas (hpa): 4 tasks, would be 8 tasks, ordered 8 tasks" in said.stdout, "taut get job"
    said = stage.taut(story.tautd, "explain", story.web)
    assert "hpa · replicas: 8 tasks" in said.stdout, "taut explain says why"


def test_the_fleet_sums_up_scaled_jobs_and_overloaded_windows(stage, story):
    sums = story.tautd.get("/api/v1/fleet")["replicas"]
    assert {k: sums[k] for k in ("jobs", "tasks", "would_be", "jobs_overloaded", "jobs_held")} == {"jobs": 1, "tasks": 4, "would_be": 8, "jobs_overloaded": 1, "jobs_held": {"not_measured": 0, "no_number": 0}}, (
        "the fleet sums up its scaled jobs")
    story.overloaded = (story.replicas["overloaded_windows_day"], story.replicas["windows_day"])
    assert (1 <= story.overloaded[0] <= 4 and story.overloaded[0] < story.overloaded[1] <= 9 and
                story.overloaded == (sums["overloaded_windows_day"], sums["windows_day"])), (
        f"windows at 90 % are overloaded, those at 50 % are not: {(story.overloaded, sums)}")
    said = stage.taut(story.tautd, "get", "jobs")
    assert "replicas of 1 job: 4 tasks run, 8 recommended; overloaded in" in said.stdout, "taut get jobs, too"
    assert "tautd_replica_jobs_overloaded 1" in story.tautd.ask("/metrics").text, "and a metric"


def test_a_kill_keeps_the_order(stage, story):
    story.tautd.stop(signal.SIGKILL)
    story.tautd = stage.tautd(config=story.config, store=story.store)
    assert story.tautd.get("/api/v1/fleet")["replicas"]["overloaded_windows_day"] == story.overloaded[0], (
        "overloaded windows are those of before the kill")
    assert daemon.eventually(lambda: story.tautd.get(story.path)["replicas"]["ordered"] == 8, 20), "after a kill it is ordered still"
    story.cell.send(story.tautd, 3, 8, 0.45)
    assert decisions(story.tautd) == [("set", 4, 8)], "with 8 tasks nothing more is ordered"


def test_it_steps_back_when_another_sets_the_number(story):
    story.cell.send(story.tautd, 4, 5, 0.5)
    story.replicas = story.tautd.get(story.path)["replicas"]
    assert story.replicas["ordered"] is None and "without an order" in story.replicas["hold"], "another program sets the number: tautd steps back"
    assert any("another program may set it" in notice for notice in story.tautd.get(story.path)["notices"]), (
        f"a notice of the job says so: {str(story.tautd.get(story.path)['notices'])}")
    assert ("replicas_step_back" in story.tautd.output() and
                "tautd_replica_step_backs_total 1" in story.tautd.ask("/metrics").text), "and an event and a metric"


def test_settings_that_contradict_each_other_are_refused(stage, story):
    said = stage.taut(story.tautd, "set", story.web, "replicas.max=many")
    assert said.returncode == 2, "nonsense is refused"
    said = stage.taut(story.tautd, "set", story.web, "replicas.min=30")
    assert said.returncode == 2 and "replicas.max" in said.stderr, "and a minimum above the maximum"


def test_an_hour_later_it_orders_again(story):
    story.cell.send(story.tautd, 13, 5, 0.9)
    assert decisions(story.tautd)[-1][:2] == ("set", 5), "an hour later it orders again"


def test_without_a_policy_the_number_is_the_owners(stage, story):
    said = stage.taut(story.tautd, "set", story.web, "replicas.policy=none")
    assert said.returncode == 0, "the policy is taken away"
    assert (decisions(story.tautd)[-1][0], decisions(story.tautd)[-1][2]) == ("release", None), "the number is the owner's again"
    story.cell.send(story.tautd, 2, 5, 0.9)
    assert story.tautd.get(story.path)["replicas"] is None, "and nothing is recommended"


def test_an_unknown_target_is_refused(story):
    page = story.tautd.ask("/api/v1/decisions?target=limits")
    assert page.status == 400 and "cpu, memory or replicas" in page.text, "an unknown target is refused"
