"""Two tautd with stores of their own share a Lease. The holder is killed, the other one takes over, and later the first one comes back:
no order of before is carried out, neither by the one that follows nor by the one that comes back, whatever its store says."""
import json
import time
import urllib.parse

import pytest

import daemon
import fake_cluster
from daemon import metric
from fake_cluster import JOB, decisions

OWNERS = 1024  # MiB, in the Deployment's template
POD = "web-5d4f8c7b9d-2bxnz"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/tautline/leases"
OFF = {"tautline.dev/mode": "off"}


class Handler(fake_cluster.Handler):
    lease, lease_version = None, 0

    def write_lease(self, body, status):
        cls = type(self)
        cls.lease_version += 1
        cls.lease = {"metadata": {"name": "tautd", "resourceVersion": str(cls.lease_version)}, "spec": {**(cls.lease or {}).get("spec", {}), **body["spec"]}}
        self.answer(status, json.dumps(cls.lease))

    def do_GET(self):
        if not urllib.parse.urlsplit(self.path).path.startswith(LEASES):
            return super().do_GET()
        with self.cluster.lock:
            lease = self.lease
        self.answer(200, json.dumps(lease)) if lease else self.answer(404, json.dumps({"kind": "Status", "message": "not found"}))

    def do_POST(self):
        if not urllib.parse.urlsplit(self.path).path.startswith(LEASES):
            return super().do_POST()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.cluster.lock:
            if self.lease:
                return self.answer(409, json.dumps({"kind": "Status", "message": "already exists"}))
            self.write_lease(body, 201)

    def do_PATCH(self):
        if not urllib.parse.urlsplit(self.path).path.startswith(LEASES):
            return super().do_PATCH()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.cluster.lock:
            if body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
                return self.answer(409, json.dumps({"kind": "Status", "message": "the object has been modified"}))
            self.write_lease(body, 200)


@pytest.fixture(scope="module")
def cluster():
    with fake_cluster.serving(fake_cluster.Cluster(), Handler) as its:
        yield its


def config(stage, cluster):
    return f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {stage.kubeconfig("kubeconfig", cluster.port)}, scrape_interval: 1s, lease: tautline/tautd}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""


def start(stage, cluster, name):
    return stage.tautd(config=config(stage, cluster), store=str(stage.dir / name))


def holds(tautd):
    return metric(tautd, "tautd_kubernetes_lease_held") == 1


def is_synced(tautd):
    return daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_synced") == 1, 20)


def keeps(cluster, tautd):
    """Checks that only the owner's limit is in force until this one has the Lease, and for some seconds more."""
    seen = set()
    assert daemon.eventually(lambda: seen.add(cluster.limit(POD)) or holds(tautd), 40, 0.05), "the other one takes the Lease"
    seen |= fake_cluster.seen_during(tautd, 6, lambda: cluster.limit(POD))
    assert seen == {OWNERS}, "the pod keeps its limit"


def is_lowered(cluster, scrape_seconds=600):
    cluster.scrape_seconds = scrape_seconds
    assert daemon.eventually(lambda: cluster.limit(POD) < 0.9 * OWNERS, 60), f"the limit is lowered: {cluster.limit(POD)}"
    cluster.scrape_seconds = 60


def opts_out(cluster):
    cluster.annotate(OFF)
    assert daemon.eventually(lambda: cluster.limit(POD) == OWNERS, 30), f"the owner opts out, and has its limit back: {cluster.limit(POD)}"


def test_the_first_one_holds_the_lease_and_the_second_one_only_decides(stage, cluster, story):
    cluster.template_memory = f"{OWNERS}Mi"
    cluster.add(POD, f"{OWNERS}Mi")
    begin_s = cluster.scrape_seconds  # of the first day, which goes by in some seconds
    story.first = start(stage, cluster, "first.db")
    is_lowered(cluster, begin_s)
    story.second = start(stage, cluster, "second.db")
    cluster.scrape_seconds = begin_s
    own = lambda: [d for d in decisions(story.second) if d["job"] == JOB and d["kind"] == "set"]  # noqa: E731
    assert daemon.eventually(own, 60) and all(d["outcome"] == "pending" for d in own()), "the second one decides, and does not act"
    assert holds(story.first) and not holds(story.second), "the first one holds the Lease"
    cluster.scrape_seconds = 60


def test_a_holder_that_is_killed_behind_an_opt_out_is_followed(cluster, story):
    opts_out(cluster)
    story.first.kill()
    keeps(cluster, story.second)
    cluster.annotate({})
    is_lowered(cluster)


def test_it_comes_back_and_carries_out_nothing_of_before(stage, cluster, story):
    story.first = start(stage, cluster, "first.db")
    assert is_synced(story.first) and not holds(story.first), "it comes back without the Lease"
    story.first.kill()
    opts_out(cluster)
    story.first = start(stage, cluster, "first.db")
    story.second.kill()
    keeps(cluster, story.first)
    cluster.annotate({})
    is_lowered(cluster)


def test_a_stop_hands_the_lease_over_at_once(stage, cluster, story):
    story.second = start(stage, cluster, "second.db")
    assert is_synced(story.second), "the second one is back"
    assert story.first.stop() == 0, "the first one stops"
    begin = time.monotonic()
    assert daemon.eventually(lambda: holds(story.second), 12), "the second one takes the Lease"
    assert time.monotonic() - begin < 12, "at once, and not when it has run out"
