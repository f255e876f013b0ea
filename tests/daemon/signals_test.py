"""The number of tasks follows the owner's function of two named signals; across a kill, without samples, and with wrong
names refused."""
import signal

import daemon
import scaled_cell

CONFIG = """clock: samples
log: {level: debug}
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {name: requests, metric: http_requests_total, kind: load_total, signal: requests,
       job: "{namespace}/deployment/web", task: "{pod}"}
defaults:
  {mode: auto, recommender: moving_window, replicas.max: 100}
rules:
  - {name: by signals, match: {job: "*/web"}, set: {replicas.policy: function, replicas.autopilot.small_change: 0, replicas.autopilot.half_life: 0,
     replicas.function.target: "ceil(max(requests, 15m) / 50) + avg(cpu, 5m)"}}
"""


def test_a_name_that_no_rule_gives_is_refused_at_the_start(stage, story):
    wrong = stage.file("wrong.yaml", CONFIG.replace("max(requests", "max(request"))
    said = stage.run(stage.args.tautd, "--check-config", "--config", wrong)
    assert said.returncode != 0 and 'unknown name "request"; did you mean "requests"' in said.stderr, (
        "a name that no rule gives is refused at the start")


def test_the_number_follows_the_owners_function(stage, story):
    story.cell = scaled_cell.Cell()
    story.store = stage.dir / "tautd.db"
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    story.cell.send(story.tautd, 2, 4, 0.5, requests_each=75)
    story.web = next(job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
    story.path = f"/api/v1/jobs/{daemon.quoted(story.web)}"
    assert story.tautd.get(story.path)["replicas"]["would_be"] == 8, "6 for 300 requests a second, 2 for two cores"
    said = stage.taut(story.tautd, "explain", story.web).stdout
    assert "requests: 300" in said or "requests 300" in said, "taut explain says the signals"


def test_the_span_holds_requests_of_before(story):
    story.cell.send(story.tautd, 1, 4, 0.5, requests_each=10)
    assert story.tautd.get(story.path)["replicas"]["would_be"] == 8, "the span holds the requests of before"


def test_windows_are_stored_with_their_signals(stage, story):
    story.tautd.stop(signal.SIGKILL)
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    story.cell.send(story.tautd, 1, 4, 0.5, requests_each=10)
    assert story.tautd.get(story.path)["replicas"]["would_be"] == 8, "after a kill too: windows are stored with their signals"
    story.cell.send(story.tautd, 2, 4, 0.5, requests_each=10)
    assert story.tautd.get(story.path)["replicas"]["would_be"] == 3, "until it is over"


def test_a_silent_signal_holds_the_number(stage, story):
    story.cell.send(story.tautd, 2, 4, 0.5)
    said = stage.taut(story.tautd, "explain", story.web).stdout
    assert "requests was not measured, so the count stays 3" in said, "a silent signal holds the number"
    assert story.tautd.get(story.path)["replicas"]["held"]["cause"] == "not_measured", "the API says that it is held, and why"
    story.gauge = 'tautd_replica_jobs_held{cause="not_measured"} %d'
    assert ("replicas held since" in said and story.gauge % 1 in story.tautd.ask("/metrics").text and
                "replicas_held" in story.tautd.output()), "so do taut explain, a metric and an event"


def test_a_hold_ends_after_an_hour_or_with_the_signal(story):
    story.cell.send(story.tautd, 12, 4, 0.5)
    replicas = story.tautd.get(story.path)["replicas"]
    assert replicas["would_be"] == 8, "for an hour; then the highest of the last day is safe"
    story.cell.send(story.tautd, 2, 4, 0.5, requests_each=10)
    assert (story.tautd.get(story.path)["replicas"]["held"] is None and story.gauge % 0 in story.tautd.ask("/metrics").text and
                "replicas_hold_ended" in story.tautd.output()), "and that it is over"


def test_wrong_functions_are_refused(stage, story):
    said = stage.taut(story.tautd, "set", story.web, "replicas.function.target=-1")
    assert said.returncode != 0 and "the value is always -1: expected a number of tasks" in said.stderr, (
        "a function that is always negative is refused")
    said = stage.taut(story.tautd, "set", story.web, "replicas.function.target=requets / 50")
    assert said.returncode != 0 and 'did you mean "requests"' in said.stderr, "a wrong name is refused"
    said = stage.taut(story.tautd, "set", story.web, "replicas.function.target=requests / 0")
    assert said.returncode == 2, "and a division by zero"


def test_mode_off_ends_the_hold_at_once(stage, story):
    ended = story.tautd.output().count("replicas_hold_ended")
    story.cell.send(story.tautd, 2, 4, 0.5)
    assert story.tautd.get(story.path)["replicas"]["held"] is not None, "silent once more"
    assert stage.taut(story.tautd, "set", story.web, "mode=off").returncode == 0, "mode off"
    replicas = story.tautd.get(story.path)["replicas"]
    assert (replicas["held"] is None and replicas["hold"] == "" and story.gauge % 0 in story.tautd.ask("/metrics").text and
                daemon.eventually(lambda: story.tautd.output().count("replicas_hold_ended") == ended + 1, 10)), (
        f"ends the hold at once: the API, the metric and an event: {replicas}")
    assert story.tautd.output().count("warning replicas_held") == 1, "of the two holds of one cause, one is a warning"


def test_after_a_kill_nothing_is_held_of_a_job_that_nobody_scales(stage, story):
    story.tautd.stop(signal.SIGKILL)
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    assert story.tautd.get(story.path)["replicas"]["held"] is None, "and so it is after a kill"
    story.cell.send(story.tautd, 2, 4, 0.5)
    assert story.tautd.get(story.path)["replicas"]["held"] is None and "replicas_held" not in story.tautd.output(), (
        "nothing is held of a job that nobody scales")
