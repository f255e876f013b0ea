"""The number of tasks follows a series of requests that a mapping rule makes the load of a job; across a kill, and back
to the CPU. kube-state-metrics says how many tasks run."""
import signal

import daemon
import scaled_cell

CONFIG = """clock: samples
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {name: requests, metric: http_requests_total, kind: load_total, job: "{namespace}/deployment/web", task: "{pod}"}
defaults:
  {mode: auto, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 20}
rules:
  - {name: by requests, match: {job: "*/web"}, set: {replicas.task_capacity: "100"}}
"""


def test_without_a_load_nothing_is_recommended(stage, story):
    story.cell = scaled_cell.Cell()
    story.store = stage.dir / "tautd.db"
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    story.cell.send(story.tautd, 4, 4, 0.1)
    story.web = next(job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
    story.path = f"/api/v1/jobs/{daemon.quoted(story.web)}"
    replicas = story.tautd.get(story.path)["replicas"]
    assert (replicas["load_of"], replicas["load"], replicas["would_be"]) == ("series", None, None), "without a load nothing is recommended"
    assert "replicas.task_capacity asks for series" in replicas["hold"], "and the job says what is missing"


def test_requests_are_the_load_whatever_the_cpu(stage, story):
    story.cell.send(story.tautd, 3, 4, 0.1, requests_each=75)
    replicas = story.tautd.get(story.path)["replicas"]
    assert (round(replicas["load"]), replicas["task_capacity"], replicas["would_be"]) == (300, 100, 6), (
        "300 requests a second at half of 100 each are 6 tasks, whatever the CPU")
    said = stage.taut(story.tautd, "get", "job", story.web).stdout
    assert "load 300 (of series)" in said, "taut get job says the load"


def test_a_kill_keeps_the_number_without_the_series(stage, story):
    story.tautd.stop(signal.SIGKILL)
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    story.cell.send(story.tautd, 1, 6, 0.1)
    assert story.tautd.get(story.path)["replicas"]["would_be"] == 6, "after a kill, and without the series, the number stays"


def test_the_history_is_of_the_series(story):
    history = story.tautd.get(f"{story.path}/replicas?columns=100")
    assert history["load_of"] == "series", "the history is of the series"
    loads = [round(load) for load in history["load"] if load is not None]
    assert 300 in loads and max(loads) <= 301, f"and has its load: {loads}"


def test_back_to_the_cpu_that_tasks_use(stage, story):
    assert stage.taut(story.tautd, "set", story.web, "replicas.task_capacity=0").returncode == 0, "back to the CPU"
    story.cell.send(story.tautd, 2, 6, 0.9)
    replicas = story.tautd.get(story.path)["replicas"]
    # 11 tasks, or 7 where the policy has ordered fewer in between and may add only four at a time.
    assert replicas["load_of"] == "cpu" and round(replicas["load"], 1) == 5.4 and replicas["would_be"] in (7, 11), "by the CPU that the tasks use"


def test_kube_state_metrics_says_how_many_tasks_run(stage, story):
    story.cell.send(story.tautd, 4, 4, 0.5, said=(9, 7))
    job = story.tautd.get(story.path)
    assert job["replicas"]["tasks"] == 9, "kube-state-metrics says how many tasks run, of which four are measured"
    assert any("9 tasks, and 4 are measured" in notice for notice in job["notices"]), f"a notice names both: {job['notices']}"
    shown = stage.taut(story.tautd, "explain", story.web).stdout
    assert "of them ready" in shown, "taut explain says how many are ready"
    assert [name for name in (j["name"] for j in story.tautd.get("/api/v1/jobs")["jobs"]) if "unmeasured" in name] == [], (
        "a number alone makes no job")


def test_a_kill_keeps_the_stored_number_of_tasks(stage, story):
    story.tautd.stop(signal.SIGKILL)
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    assert story.tautd.get(story.path)["replicas"]["tasks"] == 9, "after a kill, too: the number is stored"
    end = scaled_cell.START + story.cell.second // 300 * 300
    drawn = story.tautd.get(f"{story.path}/replicas?from={end - 900}&to={end - 600}")["tasks"]
    assert drawn == [9, 9], "and it is drawn over time"


def test_a_silent_series_says_nothing(story):
    story.cell.send(story.tautd, 2, 4, 0.5)
    assert story.tautd.get(story.path)["replicas"]["tasks"] == 4, "a silent series says nothing: the measured tasks count"


def test_a_negative_capacity_is_refused(stage, story):
    said = stage.taut(story.tautd, "set", story.web, "replicas.task_capacity=-1")
    assert said.returncode != 0 and "outside 0" in said.stderr, "nonsense is refused"
