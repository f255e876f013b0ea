"""Workloads whose pods differ, in a cluster of this test's own: replicas of a StatefulSet that are jobs apart, and pods of a DaemonSet by a
label of their nodes. Annotations of a Rollout, which owns pods through a ReplicaSet, are settings, and it gets its status."""
import copy
import json
import urllib.parse

import pytest

import daemon
import fake_cluster

DB = "shop/statefulset/db"


class Cluster(fake_cluster.Cluster):
    """A cluster with a StatefulSet, whose db-0 uses the most, and a DaemonSet on two nodes."""

    def __init__(self):
        super().__init__()
        self.owner = "Rollout"
        self.may_list = False  # Rollouts
        self.mode = "off"
        self.may_patch = False  # Rollouts
        self.rollout_status = None  # its annotation tautline.dev/status
        self.sets = {"metadata": {"name": "db", "namespace": "shop", "uid": "s-1", "annotations": {}}}
        self.set_events = []
        self.used_mib = {"db-0": 400, "db-1": 60, "db-2": 60, "shipper-2bxnz": 300, "shipper-9dk2p": 40}
        for i in range(3):
            self.add(f"db-{i}", owner=("StatefulSet", "db"))
        for name, node in (("shipper-2bxnz", "node-1"), ("shipper-9dk2p", "node-2")):
            self.add(name, owner=("DaemonSet", "shipper"))
            self.pods[name]["spec"]["nodeName"] = node
            self.put(self.pods[name])

    def annotate_set(self, annotations):
        with self.lock:
            self.version += 1
            self.sets["metadata"].update(annotations=annotations, resourceVersion=str(self.version))
            self.set_events.append((self.version, "MODIFIED", copy.deepcopy(self.sets)))
            self.lock.notify_all()

    def use_of(self, name):
        return self.used_mib[name]


class Handler(fake_cluster.Handler):
    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(path.query))
        c = self.cluster
        if path.path == "/apis/apps/v1/statefulsets":
            if "watch" in query:
                return self.watch(c.set_events, int(query["resourceVersion"]))
            with c.lock:
                return self.answer(200, json.dumps({"kind": "List", "metadata": {"resourceVersion": str(c.version)}, "items": [c.sets]}))
        if path.path == "/api/v1/nodes" and "watch" not in query:
            # One is read, and returns the usage of both.
            nodes = [{"metadata": {"name": f"node-{i}", "labels": {"pool": pool}}, "status": {
                "allocatable": {"cpu": "8", "memory": "16Gi"}, "conditions": [{"type": "Ready", "status": str(i == 1)}]}}
                for i, pool in ((1, "large"), (2, "small"))]
            return self.answer(200, json.dumps({"kind": "List", "metadata": {"resourceVersion": "5"}, "items": nodes}))
        if path.path == "/apis/argoproj.io/v1alpha1":
            return self.answer(200, json.dumps({"kind": "APIResourceList", "groupVersion": "argoproj.io/v1alpha1", "resources": [
                {"name": "rollouts", "namespaced": True, "kind": "Rollout", "verbs": ["get", "list", "patch", "watch"]}]}))
        if path.path == "/apis/argoproj.io/v1alpha1/rollouts":
            with c.lock:
                c.requests.append(f"LIST {path.path}")
                if not c.may_list:
                    return self.answer(403, json.dumps({"kind": "Status", "message": "rollouts.argoproj.io is forbidden"}))
                annotations = {"tautline.dev/mode": c.mode, **({"tautline.dev/status": c.rollout_status} if c.rollout_status else {})}
                item = {"metadata": {"name": "web", "namespace": "shop", "uid": "r-1", "annotations": annotations}}
                return self.answer(200, json.dumps({"kind": "PartialObjectMetadataList", "metadata": {}, "items": [item]}))
        super().do_GET()

    def do_PATCH(self):
        c = self.cluster
        if not self.path.startswith("/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web?fieldManager=tautline-status"):
            return super().do_PATCH()
        metadata = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["metadata"]
        with c.lock:
            c.requests.append(f"PATCH {self.path} {self.headers['Content-Type']}")
            if not c.may_patch:
                return self.answer(403, json.dumps({"kind": "Status", "message": 'rollouts.argoproj.io "web" is forbidden: cannot patch resource "rollouts"'}))
            if metadata["uid"] != "r-1":
                return self.answer(409, json.dumps({"kind": "Status", "message": "the UID in the precondition does not match"}))
            c.rollout_status = metadata["annotations"]["tautline.dev/status"]
        self.answer(200, "{}")


@pytest.fixture
def cluster():
    with fake_cluster.serving(Cluster(), Handler) as its:
        yield its


@pytest.mark.parametrize("may_list", [False, True])
def test_annotations_of_a_custom_resource_are_settings(stage, cluster, may_list):
    """Annotations of a custom resource are settings if it may be listed, and reported once if it may not."""
    cluster.may_list = may_list
    job = "shop/rollout/web/app"
    cluster.used_mib["web-5d4f8c7b9d-2bxnz"] = 50
    cluster.add("web-5d4f8c7b9d-2bxnz")
    tautd = stage.tautd(config=f"""clock: samples
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {stage.kubeconfig("kubeconfig", cluster.port)}, scrape_interval: 1s, usage: resource}}
""")

    def mode():
        answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}")
        return answer.json()["mode"] if answer.status == 200 else None

    wanted = "off" if cluster.may_list else "observe"
    assert daemon.eventually(lambda: mode() == wanted, 60), (
        f"a Rollout that may{'' if cluster.may_list else ' not'} be listed: mode {wanted}: {(mode(), tautd.output()[-500:])}")
    with cluster.lock:
        lists = [r for r in cluster.requests if r.startswith("LIST")]
    if cluster.may_list:
        return
    assert daemon.eventually(lambda: "custom_owners.yaml" in tautd.output(), 30), f"the log names the file with the right: {tautd.output()[-500:]}"
    fake_cluster.await_scrapes(tautd, 5)
    assert tautd.output().count("rollouts.argoproj.io is forbidden") == 1, "once"
    assert len(lists) <= 1, "and it is asked once"


def test_a_custom_resource_has_events_and_its_status(stage, cluster):
    """A Rollout has Events, and where it may be patched an annotation that says what is recommended for its containers."""
    cluster.may_list, cluster.mode = True, "observe"
    cluster.used_mib["web-5d4f8c7b9d-2bxnz"] = 50
    cluster.add("web-5d4f8c7b9d-2bxnz")
    # Without settings by annotations: Events and the status alone need its metadata, too.
    config = f"""clock: samples
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {stage.kubeconfig("kubeconfig", cluster.port)}, scrape_interval: 1s, usage: resource, annotations: false, status_annotations: true}}
defaults: {{mode: observe, recommender: moving_window}}
"""
    store = str(stage.dir / "custom.db")

    def patches():
        with cluster.lock:
            return [r for r in cluster.requests if r.startswith("PATCH") and "/rollouts/" in r]

    tautd = stage.tautd(config=config, store=store)
    way_out = "give the right to patch rollouts of argoproj.io with packaging/kubernetes/observe/custom_owners_status.yaml"
    assert daemon.eventually(lambda: way_out in tautd.output(), 60), f"a missing right to patch is said with the way out: {tautd.output()[-900:]}"
    fake_cluster.await_scrapes(tautd, 5)
    assert (tautd.output().count("cannot patch resource"), len(patches())) == (1, 1), "once, and it is asked once"
    assert daemon.metric(tautd, 'tautd_kubernetes_status_writes_total{result="failed"}') == 1, "the metric counts it"
    of_rollout = lambda: [e["involvedObject"] for e in cluster.said if e["involvedObject"]["kind"] == "Rollout"]  # noqa: E731
    assert daemon.eventually(of_rollout, 40), f"its decisions are Events: {cluster.said[-3:]}"
    assert of_rollout()[0] == {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "namespace": "shop", "name": "web", "uid": "r-1"}, (
        "that name it with its API version")
    assert tautd.stop() == 0, "tautd stops"

    cluster.may_patch = True
    tautd = stage.tautd(config=config, store=store)
    assert daemon.eventually(lambda: "memory request" in (cluster.rollout_status or ""), 60), (
        f"with the right the Rollout has its status: {(cluster.rollout_status, tautd.output()[-500:])}")
    assert cluster.rollout_status.startswith("app observe: cpu request "), "of its container"
    assert patches()[-1].endswith(" application/merge-patch+json"), "by a merge patch"
    assert tautd.stop() == 0, "tautd stops"
    before = patches()
    cluster.scrape_seconds = 60  # no other amounts
    tautd = stage.tautd(config=config, store=store)
    fake_cluster.await_scrapes(tautd, 16)  # beyond StatusWriter::Options::settle_s
    assert patches() == before, "after a restart the same is not written again"
    assert tautd.stop() == 0, "tautd stops"


def jobs(tautd):
    return sorted(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"])


def notice(tautd):
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(DB + '/app')}")
    return " ".join(answer.json()["notices"]) if answer.status == 200 else ""


def groups(tautd):
    """The groups that the API has for db-0 and its decisions."""
    job = DB + "@0/app"
    made = [d["workload"] for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["job"] == job]
    return {w["group"] for w in [tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}")["workload"], *made]}


def limits(cluster):
    return [round(cluster.limit(f"db-{i}")) for i in range(3)]


def config_of_split(kubeconfig):
    return f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, usage: resource, node_group_label: pool}}
defaults: {{mode: observe, recommender: moving_window, startup_grace: 0s}}
rules:
  - {{name: split, match: {{job: "shop/statefulset/db@*"}}, set: {{mode: auto}}}}
"""


class TestSplit:
    @pytest.fixture(scope="class")
    def cluster(self):
        with fake_cluster.serving(Cluster(), Handler) as its:
            yield its

    def test_pods_of_a_daemonset_are_jobs_by_the_label_of_their_node(self, stage, story, cluster):
        story.config = config_of_split(stage.kubeconfig("kubeconfig", cluster.port))
        story.store = str(stage.dir / "split.db")
        story.tautd = stage.tautd(config=story.config, store=story.store)

        shippers = ["shop/daemonset/shipper@large/app", "shop/daemonset/shipper@small/app"]
        # With clock: samples, the first samples arrive before owners are known, and some names are guessed.
        assert daemon.eventually(lambda: {*shippers, DB + "/app"} <= set(jobs(story.tautd)), 60), (
            f"pods of a DaemonSet are jobs by their node's label; replicas of a StatefulSet are one job: {jobs(story.tautd)}")
        assert "shop/daemonset/shipper/app" not in jobs(story.tautd), "and the whole DaemonSet is none"

    def test_replicas_that_differ_are_a_notice_and_an_event(self, story, cluster):
        wanted = "db-0 uses 400Mi of memory and db-1 60Mi"
        assert daemon.eventually(lambda: wanted in notice(story.tautd), 60), f"a notice says that the replicas differ: {notice(story.tautd)}"
        assert daemon.eventually(lambda: any(e["reason"] == "ReplicasDiffer" for e in cluster.said), 20), f"and so does an Event: {cluster.said[-3:]}"
        event = next(e for e in cluster.said if e["reason"] == "ReplicasDiffer")
        assert (event["involvedObject"]["kind"], event["involvedObject"]["uid"]) == ("StatefulSet", "s-1"), "of the StatefulSet"

    def test_split_replicas_have_limits_of_their_own(self, stage, story, cluster):
        cluster.annotate_set({"tautline.dev/split": "ordinal"})
        assert daemon.eventually(lambda: {f"{DB}@{i}/app" for i in range(3)} <= set(jobs(story.tautd)), 60), f"each replica is a job: {jobs(story.tautd)}"

        assert daemon.eventually(lambda: limits(cluster)[0] > 400 and max(limits(cluster)[1:]) < 100, 90), (
            f"and has a limit of its own: {limits(cluster)}")
        text = stage.taut(story.tautd, "export", "--format", "patch").stdout
        assert 'metadata: {name: "db", namespace: "shop"}' in text and "the largest of the workload's jobs: shop/statefulset/db@0/app" in text, (
            "a patch of the template has the largest of them")
        assert 'name: "db@' not in text, "and names the workload"
        assert groups(story.tautd) == {"0"}, f"the API has the group of the job and of its decisions: {groups(story.tautd)}"

    def test_a_restart_keeps_the_limits_apart(self, stage, story, cluster):
        before = list(limits(cluster))
        story.tautd.stop()
        with cluster.lock:
            patches = len([r for r in cluster.requests if r.startswith("PATCH")])
        story.tautd = stage.tautd(config=story.config, store=story.store)
        assert daemon.eventually(lambda: story.tautd.ask("/metrics").text.find("tautd_kubernetes_synced 1") >= 0, 30), "a restart finds the cluster"
        assert groups(story.tautd) == {"0"}, f"the group is stored: {groups(story.tautd)}"
        fake_cluster.await_scrapes(story.tautd, 5)
        with cluster.lock:
            sent = [r for r in cluster.requests if r.startswith("PATCH")][patches:]
        assert all(abs(a - b) < 0.2 * a for a, b in zip(before, limits(cluster))), (
            f"after a restart no replica gets the limit of another: {(before, limits(cluster), sent[:3])}")

    def test_a_value_that_is_none_is_said(self, story, cluster):
        cluster.annotate_set({"tautline.dev/split": "ordinals"})
        assert daemon.eventually(lambda: "expected none or ordinal" in notice(story.tautd), 60), f"a value that is none is said: {notice(story.tautd)}"
