"""tautd calls examples/external_recommender.py, a service in Python, and uses its limits and numbers of tasks; without
it the jobs' own recommenders continue."""
import pathlib
import subprocess

import pytest

import daemon
import scaled_cell

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "external_recommender.py"
PYTHON = "/usr/bin/python3"  # whose modules Debian's packages are

CONFIG = """clock: samples
external_recommender: {{address: "127.0.0.1:{port}", deadline: 5s, hold: 15m}}
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {{name: requests, metric: http_requests_total, kind: load_total, signal: requests,
       job: "{{namespace}}/deployment/web", task: "{{pod}}"}}
defaults:
  {{mode: auto, recommender: moving_window, min_change: 0, change_period: 0s, replicas.policy: hpa, replicas.max: 20}}
rules:
  - {{name: answered, match: {{job: "*/web"}}, set: {{external: true}}}}
  - {{name: no scaling here, match: {{job: "*/db"}}, set: {{replicas.policy: none}}}}
"""


def has_grpc():
    found = subprocess.run([PYTHON, "-c", "import grpc, google.protobuf"], capture_output=True)
    return found.returncode == 0


pytestmark = [daemon.needs("protoc"), pytest.mark.skipif(not has_grpc(), reason="python3-grpcio is not installed (see tools/packages.txt)")]


def decisions(tautd, job, target):
    return tautd.get(f"/api/v1/decisions?job={job}&target={target}")["decisions"]


def start_service(stage, port, *more):
    return stage.start("service", [PYTHON, EXAMPLE, "--listen", f"127.0.0.1:{port}", *more],
                       ready=lambda process: "listening" in process.output())


def test_its_answers_are_taken(stage, story):
    story.cell = scaled_cell.Cell()
    story.port = daemon.free_port()
    story.service = start_service(stage, story.port)
    story.tautd = stage.tautd(config=CONFIG.format(port=story.port), store=stage.dir / "tautd.db")

    story.cell.send(story.tautd, 2, 4, 0.5)
    story.web = next(job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
    story.taken = 'tautd_external_recommender_answers_total{result="taken"}'
    assert daemon.eventually(lambda: (daemon.metric(story.tautd, story.taken) or 0) >= 3, 20), (
        f"its answers are taken: {story.tautd.ask('/metrics').text}")


def test_decisions_follow_it_and_say_why(stage, story):
    assert daemon.eventually(lambda: decisions(story.tautd, story.web, "memory"), 20), "a decision follows the answer"
    newest = decisions(story.tautd, story.web, "memory")[0]
    assert abs(newest["after"] / 2.4e8 - 1) < 0.1, f"memory: 200 MB and 20 %: {newest}"
    assert "the highest usage of the last" in newest["sentence"] + str(newest.get("reason", "")), f"the decision says why: {newest}"
    assert decisions(story.tautd, story.web, "replicas")[0]["after"] == 4, "2 cores of load on tasks of 1 core at 60 %"
    assert decisions(story.tautd, story.web.replace("web", "db"), "memory") == [], "a job without the setting is not asked about"
    explained = stage.taut(story.tautd, "explain", "--job", story.web).stdout
    assert "The external recommender: the highest usage" in explained, "taut explain says so"


def test_more_load_is_more_tasks(story):
    story.cell.send(story.tautd, 2, 4, 0.9)
    assert daemon.eventually(lambda: decisions(story.tautd, story.web, "replicas")[0]["after"] == 6, 20), (
        f"3.6 cores on tasks of 1 core at 60 % are 6 tasks: {decisions(story.tautd, story.web, 'replicas')}")


def test_a_service_that_was_killed_is_seen(story):
    story.service.kill()
    story.cell.send(story.tautd, 2, 6, 0.6)
    down = "tautd_external_recommender_up"
    assert daemon.eventually(lambda: daemon.metric(story.tautd, down) == 0, 20), "a service that was killed is seen"
    warnings = story.tautd.get("/api/v1/status")["warnings"]
    assert any("external recommender does not answer" in w for w in warnings), f"status says it: {warnings}"
    assert "external recommender" in story.tautd.output(), "and the log"


def test_its_last_answer_holds_over_a_kill_of_tautd(stage, story):
    assert decisions(story.tautd, story.web, "replicas")[0]["after"] == 6, "the last answer holds"
    story.tautd.kill()
    story.tautd = stage.tautd(config=CONFIG.format(port=story.port), store=stage.dir / "tautd.db")
    assert decisions(story.tautd, story.web, "replicas")[0]["after"] == 6, "over a kill of tautd, too"


def test_then_the_jobs_own_recommender_takes_over(stage, story):
    story.cell.send(story.tautd, 6, 6, 0.6)
    explained = stage.taut(story.tautd, "explain", "--job", story.web).stdout
    assert "answer has expired" in explained, "then the job's own recommender takes over"


def test_a_service_that_is_back_is_asked(stage, story):
    start_service(stage, story.port, "--signal", "requests", "--per-task", "50")
    before = daemon.metric(story.tautd, story.taken) or 0

    def taken_again():  # gRPC connects again within some seconds
        story.cell.send(story.tautd, 1, 6, 0.6)
        return daemon.eventually(lambda: (daemon.metric(story.tautd, story.taken) or 0) > before, 2)

    assert daemon.eventually(taken_again, 30), "a service that is back is asked"


def test_a_named_signal_is_the_load(story):
    story.cell.send(story.tautd, 2, 6, 0.6, requests_each=100)
    assert daemon.eventually(lambda: decisions(story.tautd, story.web, "replicas")[0]["after"] == 12, 20), (
        f"600 requests a second, a named signal of the job, are 12 tasks: {decisions(story.tautd, story.web, 'replicas')}")


def test_requests_that_are_not_measured_are_not_zero(story):
    story.cell.send(story.tautd, 2, 12, 0.3)
    assert decisions(story.tautd, story.web, "replicas")[0]["after"] == 12, "requests that are not measured are not 0"
