"""tautd recommends number and size of a job's tasks together, explains it, and keeps it across a kill."""
import math
import signal

import daemon
import scaled_cell

CONFIG = """clock: samples
ingest: {grace: 0s}
defaults:
  {mode: observe, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 40,
   replicas.size.min_saving: 0, replicas.size.min_cpu: 0.3}
"""


def hours(cell, tautd, first, last):
    for hour in range(first, last):
        cell.send(tautd, 12, 4, 0.35 - 0.25 * math.cos(hour * math.pi / 12))


def test_before_a_day_is_measured_the_size_is_the_owners(stage, story):
    story.cell = scaled_cell.Cell(step=150)
    story.store = stage.dir / "tautd.db"
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    hours(story.cell, story.tautd, 0, 23)
    story.web = next(job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
    story.path = f"/api/v1/jobs/{daemon.quoted(story.web)}"
    assert story.tautd.get(story.path)["cpu"]["would_be"] is None, "before a day is measured the size is the owner's"


def test_then_a_smaller_task_costs_less(story):
    hours(story.cell, story.tautd, 23, 26)
    job = story.tautd.get(story.path)
    story.size = job["cpu"]["would_be"]
    assert story.size is not None and story.size < 1, f"then a smaller task costs less: {job['cpu']}"
    assert job["replicas"]["task_capacity"] == story.size, "and the number of tasks is for that size"


def test_taut_explain_says_number_and_size(stage, story):
    said = stage.taut(story.tautd, "explain", story.web).stdout
    assert " x " in said and "at the peak of 2.4" in said, "taut explain says number and size"
    assert "would cost" in said and "(too small)" in said, "and what is wrong with the others"


def test_a_kill_changes_nothing(stage, story):
    story.tautd.stop(signal.SIGKILL)
    story.tautd = stage.tautd(config=CONFIG, store=story.store)
    hours(story.cell, story.tautd, 26, 27)
    assert story.tautd.get(story.path)["cpu"]["would_be"] == story.size, "a kill changes nothing"


def test_a_setting_is_in_force_within_the_hour(stage, story):
    assert stage.taut(story.tautd, "set", story.web, f"replicas.size.min_cpu={2 * story.size}").returncode == 0, "a setting of the size"
    hours(story.cell, story.tautd, 27, 29)
    assert story.tautd.get(story.path)["cpu"]["would_be"] >= 2 * story.size, "is in force within the hour"


def test_the_owners_size_stays(stage, story):
    assert stage.taut(story.tautd, "set", story.web, "replicas.size=owner").returncode == 0, "the owner's size"
    hours(story.cell, story.tautd, 29, 30)
    assert (story.tautd.get(story.path)["cpu"]["would_be"], story.tautd.get(story.path)["replicas"]["task_capacity"]) == (None, 1), (
        "stays, and the number of tasks is for it")


def test_an_unknown_size_is_refused(stage, story):
    said = stage.taut(story.tautd, "set", story.web, "replicas.size=huge")
    assert said.returncode != 0 and "cheapest, owner" in said.stderr, "nonsense is refused"
