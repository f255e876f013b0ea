"""tautd is killed with SIGKILL after a release and after a raise, before its next window closes: no start brings an older order back, neither to
the pods that are there nor to new ones. A tautd with another store gives back what this one has set, and a forged annotation is not believed."""
import base64
import copy
import http.client
import json
import ssl

import pytest

import daemon
import fake_cluster
from daemon import metric
from fake_cluster import JOB, MIB, decisions, owners_limit, review, setting

OWNERS = 1024  # MiB, in the Deployment's template
POD = "web-5d4f8c7b9d-2bxnz"


class Cluster(fake_cluster.Cluster):
    def __init__(self):
        super().__init__()
        self.kernel = {}  # bytes, by pod: the memory limit of its cgroup, where its kubelet reports one

    def usage(self):
        text = super().usage()
        for pod, limit in list(self.kernel.items()):
            text += f'container_spec_memory_limit_bytes{{container="",id="/kubepods/burstable/poduid-{pod}",image="",name="",namespace="shop",pod="{pod}"}} {limit}\n'
        return text

    def resize(self, name, patch):
        super().resize(name, patch)
        if name in self.kernel:
            self.kernel[name] = int(self.limit(name) * MIB)

    def admitted(self):
        """Returns the limit with which a new pod starts, in MiB."""
        with self.lock:
            bundle = base64.b64decode(self.webhook["webhooks"][0]["clientConfig"]["caBundle"]).decode()
        connection = http.client.HTTPSConnection("127.0.0.1", self.webhook_port, context=ssl.create_default_context(cadata=bundle), timeout=10)
        connection.request("POST", "/admit", json.dumps(review(f"{OWNERS}Mi")), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["response"]
        changes = {o["path"]: o["value"] for o in json.loads(base64.b64decode(answer.get("patch", "W10=")))}
        return fake_cluster.mebibytes(changes.get("/spec/containers/0/resources/limits/memory", f"{OWNERS}Mi"))


@pytest.fixture(scope="module")
def cluster():
    with fake_cluster.serving(Cluster()) as its:
        its.webhook_port = daemon.free_port()
        yield its


def config(stage, cluster):
    kubeconfig = stage.kubeconfig("kubeconfig", cluster.port)
    return f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, admission: {{listen: 127.0.0.1:{cluster.webhook_port}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""


def start(stage, cluster, name="tautd.db"):
    return stage.tautd(config=config(stage, cluster), store=str(stage.dir / name))


def settle(cluster, tautd):
    """Slows the clock down: no window closes, and only the requested decisions are made."""
    cluster.scrape_seconds = 60
    assert daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd)), 20), "all decisions are applied"
    passes = metric(tautd, "tautd_passes_total")
    assert daemon.eventually(lambda: metric(tautd, "tautd_passes_total") > passes, 20), "a window closes, with a checkpoint of what holds now"
    cluster.scrape_seconds = 2


def killed(stage, cluster, tautd, wanted):
    """Kills and restarts tautd, and checks for some seconds that only `wanted` is in force; returns the new process."""
    tautd.kill()
    again = start(stage, cluster)
    assert daemon.eventually(lambda: metric(again, "tautd_kubernetes_synced") == 1, 20), "synced"
    assert fake_cluster.seen_during(again, 4, lambda: cluster.limit(POD)) == {wanted}, "the pod keeps it"
    new = f"web-5d4f8c7b9d-{len(cluster.events)}"
    assert cluster.admitted() == wanted, "a new pod starts with it"
    cluster.add(new, f"{OWNERS}Mi")  # that the webhook did not see
    assert daemon.eventually(lambda: cluster.limit(new) == wanted, 10), f"another gets it: {cluster.limit(new)}"
    cluster.remove(new)
    return again


def test_a_limit_is_set(stage, cluster, story):
    cluster.template_memory = f"{OWNERS}Mi"
    cluster.add(POD, f"{OWNERS}Mi")
    story.tautd = start(stage, cluster)
    assert daemon.eventually(lambda: cluster.limit(POD) < 300, 60), f"a container of 20 MiB gets less than its 1024 MiB: {cluster.limit(POD)}"


@pytest.mark.parametrize("scrapes", [0, 1, 2])
def test_a_kill_behind_a_release_brings_no_order_back(stage, cluster, story, scrapes):
    """At once, and after some seconds."""
    settle(cluster, story.tautd)
    cluster.annotate({"tautline.dev/mode": "off"})
    assert daemon.eventually(lambda: cluster.limit(POD) == OWNERS, 20, 0.01), f"mode off gives the owner's limit back: {cluster.limit(POD)}"
    if scrapes:
        fake_cluster.await_scrapes(story.tautd, scrapes)
    for _ in range(2):
        story.tautd = killed(stage, cluster, story.tautd, OWNERS)
    cluster.annotate({})
    cluster.scrape_seconds = 600
    assert daemon.eventually(lambda: cluster.limit(POD) < 300, 60), f"without the annotation it is lowered again: {cluster.limit(POD)}"


def test_a_kill_behind_a_raise_takes_it_not_back(stage, cluster, story):
    # The limit must be in force for a while, because an earlier kill would be charged to the limit before it.
    cluster.scrape_seconds = 300
    begin = cluster.seconds
    daemon.eventually(lambda: cluster.seconds >= begin + 1800, 30)
    settle(cluster, story.tautd)
    before = cluster.limit(POD)
    cluster.scrape_seconds = 60
    cluster.kill_for_memory(POD)
    assert daemon.eventually(lambda: cluster.limit(POD) >= OWNERS, 20, 0.01), f"the owner's limit is the answer to an OOM kill: {cluster.limit(POD)}"
    raised = cluster.limit(POD)
    kill = story.tautd.get("/api/v1/ooms")["ooms"][0]
    assert abs(kill["limit"] / MIB - before) < 1, "the kill is charged to the limit in force"
    story.tautd = killed(stage, cluster, story.tautd, raised)
    cluster.scrape_seconds = 600
    assert daemon.eventually(lambda: cluster.limit(POD) < 0.9 * OWNERS, 60), f"later it is lowered again: {cluster.limit(POD)}"


def test_another_store_gives_back_what_this_one_has_set(stage, story, cluster):
    """The owner's values are stored on the objects."""
    story.tautd.kill()
    assert cluster.limit(POD) < 0.9 * OWNERS, "what the first one has set stands"
    cluster.annotate({"tautline.dev/mode": "off"})
    story.tautd = start(stage, cluster, "other.db")
    cluster.scrape_seconds = 60
    known = lambda: story.tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings").status == 200  # noqa: E731
    assert daemon.eventually(known, 30) and daemon.eventually(lambda: setting(story.tautd, "mode")["value"] == "off", 70), (
        "another tautd knows that it is off")
    assert daemon.eventually(lambda: cluster.limit(POD) == OWNERS, 30), f"and gives back what it has not set itself: {cluster.limit(POD)}"


def test_a_pod_that_the_kernel_holds_to_less_is_resized_again(story, cluster):
    cluster.scrape_seconds = 2
    cluster.kernel[POD] = 154 * MIB
    low = lambda: metric(story.tautd, "tautd_kubernetes_low_pod_limits_total")  # noqa: E731
    assert daemon.eventually(lambda: low() == 1, 90), f"a pod whose cgroup has less than its containers is counted: {low()}"
    assert daemon.eventually(lambda: cluster.kernel[POD] >= OWNERS * MIB, 20), f"and resized once more: {cluster.kernel}"
    assert cluster.limit(POD) - OWNERS < 0.1, "by a page"
    said = lambda: [e["message"] for e in cluster.said if e["reason"] == "PodLimitDiffers"]  # noqa: E731
    assert daemon.eventually(said, 20) and "the kernel holds it to 154Mi, and its containers run with 1024Mi" in said()[0], "an Event says so"
    assert "pod_limit_differs" in story.tautd.output(), f"and the log: {story.tautd.output()[-500:]}"


def test_a_forged_annotation_is_not_believed(story, cluster):
    forged = "web-5d4f8c7b9d-forged"
    cluster.add(forged, "512Mi", annotations={"tautline.dev/owner-resources": json.dumps(
        {"app": {"requests": {"cpu": "45", "memory": "450Gi"}, "limits": {"cpu": "90", "memory": "900Gi"}}})})
    begin = len(cluster.requests)
    cluster.scrape_seconds = 600
    seen = fake_cluster.seen_during(story.tautd, 8, lambda: owners_limit(story.tautd))
    assert max(seen) <= OWNERS, "an owner's limit of 900 GiB is not believed"
    asked = [r for r in cluster.requests[begin:] if r.startswith("PATCH") and "Gi" in r]
    assert asked == [], "nor ordered"
    with cluster.lock:
        spec = copy.deepcopy(cluster.pods[forged]["spec"]["containers"][0]["resources"]["limits"])
    assert spec["memory"] in ("512Mi", f"{OWNERS}Mi"), "the pod has what it had, or what its template says"
    assert story.tautd.stop() == 0, "tautd stops"
