"""The machines of a tautd: a cluster's node with its pods is measured and learnt, tautd is killed, and its file is damaged.

The cluster is that of fake_cluster.py, whose days pass in seconds.
"""
import re

import pytest

import daemon
import fake_cluster
import schema
from fake_cluster import MIB

DAY = 86400
PODS = ("web-5d4f8c7b9d-2bxnz", "web-5d4f8c7b9d-4vqtr")


def page(tautd, query=""):
    return tautd.get("/api/v1/machines" + query)


def node(tautd):
    """Returns the only machine; None if there is none."""
    machines = page(tautd)["machines"]
    return machines[0] if machines else None


@pytest.fixture(scope="module")
def cluster():
    its = fake_cluster.Cluster()
    its.nodes = its.nodes[:1]
    with fake_cluster.serving(its):
        yield its


@pytest.mark.settings("")
def test_without_a_source_there_are_no_machines(stage, tautd):
    assert (page(tautd)["enabled"], page(tautd)["machines"]) == (False, []), "without agents and a cluster there are no machines"
    assert tautd.ask("/api/v1/machines/node-1").status == 404, "and none is found"
    said = stage.taut(tautd, "get", "machines")
    assert said.returncode == 0 and "agents.listen" in said.stdout, f"taut get machines says what is missing: {said.stdout + said.stderr}"


def still(cluster, tautd):
    """Stops the usage and waits until all of it is processed; returns the page as it then stays."""
    cluster.scrape_seconds = 0
    seen = []

    def settled():
        seen.append(page(tautd))
        return len(seen) > 15 and all(p == seen[-1] for p in seen[-15:])

    assert daemon.eventually(settled, 60, 0.2), "the figures stand still without usage"
    return seen[-1]


def test_the_node_is_measured(stage, story, cluster):
    kubeconfig = stage.kubeconfig("kubeconfig", cluster.port)
    config = f"""clock: samples
ingest: {{kubernetes_jobs: containers}}
machines: {{risk: 0.05}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s}}
"""
    store = stage.dir / "tautd.db"
    story.start = lambda: stage.tautd(config=config, store=str(store))  # noqa: E731
    for pod in PODS:
        cluster.add(pod)
    story.tautd = story.start()
    measured = lambda: node(story.tautd) and (node(story.tautd)["memory"]["reservations"] or 1e12) < 60 * MIB  # noqa: E731
    assert daemon.eventually(measured, 60), f"the node is measured: {page(story.tautd)}"


def test_its_figures_are_those_of_its_pods(story):
    # Two pods request 100m and 256Mi each, use 0.1 cores and 20 MiB, and have limits of 1 core and 512Mi.
    one = node(story.tautd)
    cpu, memory = one["cpu"], one["memory"]
    assert (one["name"], one["source"], one["present"], one["ready"], one["tasks"]) == ("node-1", "kubernetes", True, True, 2), (
        "the node is a machine with two tasks")
    assert (cpu["capacity"], memory["capacity"]) == (8, 16384 * MIB), "its capacity is what is allocatable"
    assert abs(cpu["limits"] - 0.2) < 1e-6 and memory["limits"] == 512 * MIB, f"limits are the requests of the pods: {(cpu, memory)}"
    assert abs(cpu["usage"] - 0.2) < 0.01 and memory["usage"] == 40 * MIB, f"usage is that of the pods: {(cpu, memory)}"
    assert memory["usage"] < memory["reservations"] < 60 * MIB, "reservations have come down to usage and a margin"
    assert abs(memory["reclaimable_now"] - (memory["limits"] - memory["reservations"])) < 1, "reclaimable now: limits less reservations"
    assert abs(memory["reclaimable"] - (memory["capacity"] - memory["predicted"])) < 1, "reclaimable: capacity less prediction"
    story.detail = story.tautd.get("/api/v1/machines/node-1?source=kubernetes")
    assert sorted(t["task"] for t in story.detail["task_list"]) == sorted(PODS), "its tasks are the pods"
    assert {t["job"] for t in story.detail["task_list"]} == {fake_cluster.JOB}, "of the job of their container"
    assert all(abs(t["cpu"]["usage"] - 0.1) < 0.01 and t["memory"]["limit"] == 256 * MIB for t in story.detail["task_list"]), (
        f"each with its figures: {story.detail['task_list']}")


def test_it_is_not_learnt_yet(story):
    assert (page(story.tautd)["risk"], page(story.tautd)["horizon_seconds"]) == (0.05, DAY), "the ordered risk and the horizon are said"
    assert node(story.tautd)["memory"]["learnt"] == False, "the machine is not learnt yet"
    assert "known for less than 7 days" in " ".join(story.detail["explanation"]), "which the explanation says"


def test_answers_have_the_form_that_is_told(story):
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed (tools/packages.txt)")
    schemas = schema.Schemas(yaml.safe_load(story.tautd.ask("/api/v1/openapi.yaml").text))
    for path, name in (("/api/v1/machines", "MachinePage"), ("/api/v1/machines/node-1", "MachineDetail")):
        wrong = schemas.errors_of(story.tautd.get(path), {"$ref": f"#/components/schemas/{name}"})
        assert wrong == [], f"{path} is a {name}"


def test_what_cannot_be_asked_is_refused(story):
    for query, status in (("?sort=size", 400), ("?limit=0", 400), ("?order=up", 400), ("?colour=red", 400)):
        assert story.tautd.ask("/api/v1/machines" + query).status == status, f"{query} is refused"
    assert story.tautd.ask("/api/v1/machines/nobody").status == 404, "an unknown machine is not found"
    assert page(story.tautd, "?source=agents")["total"] == 0, "no agent has a machine"
    assert page(story.tautd, "?search=NODE&sort=cpu_reclaimable&limit=1")["total"] == 1, "a search finds it"


def test_taut_machines_shows_it(stage, story):
    table = stage.taut(story.tautd, "get", "machines").stdout
    assert "node-1" in table and max(map(len, table.splitlines())) <= 100, "taut get machines: a table of 100 columns"
    one = stage.taut(story.tautd, "get", "machines", "node-1").stdout
    assert PODS[0] in one and "Memory: the machine has 16.0 GiB" in one, "taut get machines node-1"


def test_metrics_have_each_resource_and_source(story):
    metrics = story.tautd.ask("/metrics").text
    for name in ("tautd_machines_capacity", "tautd_machines_reclaimable", "tautd_machines_usage"):
        assert f'{name}{{source="kubernetes",resource="memory"}}' in metrics, f"the metric {name}"
    assert len(re.findall(r"^tautd_machines_capacity\{", metrics, re.M)) == 2, "a series for each resource and source"


def test_a_kill_and_a_stop_change_no_figure(story, cluster):
    before = still(cluster, story.tautd)
    story.tautd.kill()
    story.tautd = story.start()
    assert page(story.tautd) == before, "a kill -9 and a restart give the same figures"
    assert story.tautd.stop() == 0, "tautd stops"
    story.tautd = story.start()
    assert page(story.tautd) == before, "and so does a stop"


def test_some_weeks_teach_the_pool_over_a_kill(story, cluster):
    cluster.scrape_seconds = DAY
    assert daemon.eventually(lambda: cluster.seconds > 15 * DAY, 240), "days go by"
    story.tautd.kill()
    story.tautd = story.start()
    learnt = lambda: node(story.tautd)["memory"]["learnt"]  # noqa: E731
    assert daemon.eventually(learnt, 300, 0.5), f"the pool has learnt the machine, over the kill: {node(story.tautd)}"


def test_promises_are_kept_and_predictions_near_the_usage(story, cluster):
    judged = lambda: page(story.tautd)["delivered"]["memory"]["promises"]["judged"]  # noqa: E731
    assert daemon.eventually(lambda: judged() >= 2, 60), f"what is promised is compared with what came: {page(story.tautd)['delivered']}"
    before = still(cluster, story.tautd)
    memory = before["machines"][0]["memory"]
    assert memory["predicted"] < 60 * MIB, "the prediction is near the usage, and not the limits"
    assert memory["promises"]["passed"] == 0, "no promise was broken"
    text = " ".join(story.tautd.get("/api/v1/machines/node-1")["explanation"])
    assert "reclaimable at a risk of 5 % of machine-days" in text and "machine-days of the cell" in text, "the explanation tells the risk"


def test_a_damaged_state_is_warned_of_and_begun_again(stage, story, cluster):
    assert story.tautd.stop() == 0, "tautd stops"
    store = stage.dir / "tautd.db"
    data = bytearray(daemon.state_of(store, "machines"))
    data[len(data) // 2] ^= 1
    daemon.in_store(store, "UPDATE states SET bytes = ? WHERE name = 'machines'", bytes(data))
    story.tautd = story.start()
    assert "the row machines of its table states is damaged" in story.tautd.output(), f"a damaged state is warned of: {story.tautd.output()[-500:]}"
    assert page(story.tautd)["machines"] == [], "and begins from nothing"
    cluster.scrape_seconds = 3600
    assert daemon.eventually(lambda: node(story.tautd) and node(story.tautd)["memory"]["usage"], 60), "the next windows measure again"


def test_a_pod_that_is_gone_is_no_task(story, cluster):
    cluster.remove(PODS[1])
    assert daemon.eventually(lambda: node(story.tautd)["tasks"] == 1, 60), f"a pod that is gone is no task: {node(story.tautd)}"
