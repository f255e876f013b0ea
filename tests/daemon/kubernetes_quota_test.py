"""New pods are held to quota by the validating webhook: refused, or warned about, by the pods that there are; and to
the budgets of their groups, by the workloads that run."""
import base64
import copy
import http.client
import json
import signal
import ssl
import threading
import time
import urllib.parse

import pytest

import daemon
import fake_cluster as bed

WEB = "web-5d4f8c7b9d"


class Cluster(bed.Cluster):
    def __init__(self):
        super().__init__()
        self.validating = {"metadata": {"name": "tautline"}, "webhooks": [{"name": "quota.tautline.dev", "clientConfig": {}}]}

    def change(self, name, **metadata):
        with self.lock:
            pod = copy.deepcopy(self.pods[name])
        pod["metadata"].update(metadata)
        self.put(pod)


class Handler(bed.Handler):
    def do_GET(self):
        if urllib.parse.urlsplit(self.path).path.endswith("/validatingwebhookconfigurations/tautline"):
            return self.answer(200, json.dumps(self.cluster.validating))
        return super().do_GET()

    def do_PATCH(self):
        if "/validatingwebhookconfigurations/" in self.path:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with self.cluster.lock:
                self.cluster.requests.append(f"PATCH {self.path}")
                self.cluster.validating["webhooks"][0]["clientConfig"].update(body["webhooks"][0]["clientConfig"])
            return self.answer(200, "{}")
        return super().do_PATCH()


class Webhook:
    """Calls the webhook as the API server does."""

    def __init__(self, cluster, port):
        authority = lambda: cluster.validating["webhooks"][0]["clientConfig"].get("caBundle")  # noqa: E731
        assert daemon.eventually(authority, 20), "tautd writes its certificate to the ValidatingWebhookConfiguration"
        self.context = ssl.create_default_context(cadata=base64.b64decode(authority()).decode())
        self.port = port
        self.connection = self.connect()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=10)

    def post(self, body, path="/quota", connection=None):
        connection = connection or self.connection
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    @staticmethod
    def review(name, cpu="100m", namespace="shop", dry_run=False, attempt=1):
        review = bed.review(name=name, uid=f"uid-{name}" if attempt == 1 else f"uid-{name}-{attempt}")
        review["request"].update(namespace=namespace, dryRun=dry_run)
        review["request"]["object"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
        return json.dumps(review)

    def ask(self, *args, **more):
        status, text = self.post(self.review(*args, **more))
        assert status == 200, text
        return json.loads(text)["response"]

    def allows(self, *args, **more):
        return self.ask(*args, **more)["allowed"]

    def ask_for(self, owner):
        """Requests a pod of this controller, (KIND, NAME), or of none."""
        review = bed.review(**({"ownerReferences": [{"kind": owner[0], "name": owner[1], "controller": True}]} if owner else {"ownerReferences": [], "name": "tool"}))
        status, text = self.post(json.dumps(review))
        assert status == 200, text
        return json.loads(text)["response"]


@pytest.fixture(scope="module")
def cluster():
    with bed.serving(Cluster(), Handler) as its:
        yield its


@pytest.fixture(scope="module")
def admission():
    """Returns the port at which pods are reviewed."""
    return daemon.free_port()


def quota_of(stage, millicores):
    text = f"groups: [{{name: shop, quotas: [{{tier: production, resource: cpu, nominal: {millicores / 1000}}}]}}]\n"
    return stage.file("quota.yaml", text)


def settings(stage, cluster, admission, action):
    kubeconfig = stage.kubeconfig("kubeconfig", cluster.port)
    return f"""ingest: {{kubernetes_jobs: containers}}
quota: {{file: {stage.dir}/quota.yaml}}
kubernetes: {{kubeconfig: {kubeconfig}, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1, quota: {action}}}}}
"""


def left(tautd):
    """Returns the rest of 350 millicores."""
    return 350 - daemon.metric(tautd, "tautd_kubernetes_pods") * 100


def test_a_pod_that_fits_is_allowed(stage, story, cluster, admission):
    quota_of(stage, 350)
    cluster.add(f"{WEB}-a")
    cluster.add(f"{WEB}-b")
    story.tautd = stage.tautd(config=settings(stage, cluster, admission, "refuse"))
    assert not any("mutatingwebhook" in r for r in cluster.requests), "the mutating webhook of others is left alone"
    story.webhook = Webhook(cluster, admission)
    assert daemon.eventually(lambda: left(story.tautd) == 150, 20), f"two pods are there: {left(story.tautd)}"
    for _ in range(3):
        assert story.webhook.allows(f"{WEB}-c", dry_run=True), "a dry run of a pod that fits is allowed, as often as it is asked for"
    assert story.webhook.allows(f"{WEB}-c"), "the pod is allowed"


def test_the_next_one_is_refused_with_what_would_fit(story):
    refused = story.webhook.ask(f"{WEB}-d")
    message = refused.get("status", {}).get("message", "")
    assert (refused["allowed"], refused["status"]["code"], refused["uid"]) == (False, 403, "r-1"), (
        "the next one is refused, before the other is there")
    assert ('0.1 cores more for group "shop" in tier "production"' in message and "0.05 cores left of the 0.1 cores asked for" in message
                and "What fits now: 0.05 cores." in message), "with the reasons and what would fit"
    assert story.webhook.allows(f"{WEB}-d", cpu="50m", dry_run=True), "which does fit"


def test_all_that_a_pod_asks_for_counts(story):
    sleeper = {"name": "sleeper", "resources": {"requests": {"cpu": "100"}}}
    for what, more in (("requests of the pod as a whole", {"resources": {"requests": {"cpu": "100"}}}),
                       ("an init container that sleeps for a week", {"initContainers": [sleeper]}),
                       ("overhead", {"overhead": {"cpu": "1"}})):
        review = json.loads(story.webhook.review(f"{WEB}-big", cpu="10m", dry_run=True))
        review["request"]["object"]["spec"].update(more)
        answer = json.loads(story.webhook.post(json.dumps(review))[1])["response"]
        assert not answer["allowed"], f"{what} counts"


def test_a_pod_counts_once_and_makes_room_when_it_goes(story, cluster):
    cluster.add(f"{WEB}-c")
    assert daemon.eventually(lambda: left(story.tautd) == 50, 20), f"the pod is created: {left(story.tautd)}"
    assert not story.webhook.allows(f"{WEB}-d"), "and counts once"
    cluster.change(f"{WEB}-a", deletionTimestamp="2023-11-15T00:00:00Z")
    assert daemon.eventually(lambda: story.webhook.allows(f"{WEB}-d", dry_run=True), 20), (
        "a pod that is being deleted makes room for the one that replaces it")
    assert story.webhook.allows(f"{WEB}-d"), "which is allowed"
    assert story.webhook.allows(f"{WEB}-b", attempt=2), "as is another of the same name as one that is there"
    cluster.add(f"{WEB}-d")
    cluster.remove(f"{WEB}-a")
    cluster.remove(f"{WEB}-b")


def test_of_eight_pods_at_once_one_gets_the_last_room(story, cluster):
    # The rest is enough for one pod, or for two if the last response holds nothing; eight request it at the same time.
    assert daemon.eventually(lambda: daemon.metric(story.tautd, "tautd_kubernetes_pods") == 2, 20), "two pods are there again"
    cluster.add(f"{WEB}-b")  # what was held for it is the pod
    cluster.change(f"{WEB}-b", uid=f"uid-{WEB}-b-2")
    assert daemon.eventually(lambda: not story.webhook.allows(f"{WEB}-e", dry_run=True), 20), "three pods leave no room for a fourth"
    cluster.remove(f"{WEB}-c")
    assert daemon.eventually(lambda: story.webhook.allows(f"{WEB}-e", dry_run=True), 20), "one goes"
    allowed, gate = [], threading.Barrier(8)

    def create(number):
        connection = story.webhook.connect()
        connection.connect()
        gate.wait()
        _, text = story.webhook.post(story.webhook.review(f"{WEB}-e{number}"), connection=connection)
        allowed.append(json.loads(text)["response"]["allowed"])

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(allowed) == [False] * 7 + [True], "of eight pods that ask for the last room at once one gets it"


def test_other_groups_and_other_requests(story):
    assert story.webhook.allows("tool-1", cpu="64", namespace="lab"), "a pod of a group without quota is allowed"
    assert story.webhook.post("nonsense")[0] == 400, "nonsense is no review"
    assert story.webhook.post(story.webhook.review(f"{WEB}-x"), "/admit")[0] == 404, "without an actuator no pod is changed"
    assert story.webhook.post("{}", "/api/v1/jobs")[0] == 401, "nothing else is answered without a token"


def test_metrics_count_the_reviews(story):
    counted = {r: daemon.metric(story.tautd, f'tautd_kubernetes_quota_reviews_total{{result="{r}"}}') for r in ("fits", "warned", "refused", "not_covered")}
    assert counted["fits"] > 5 and counted["refused"] > 3 and counted["warned"] == 0 and counted["not_covered"] == 1, "the metrics count the reviews"


def test_another_quota_file_holds_from_the_reload_on(stage, story):
    quota_of(stage, 9000)
    story.tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(lambda: story.webhook.allows(f"{WEB}-z", cpu="5", dry_run=True), 20), "another quota file holds from the reload on"
    timed(story.webhook)
    assert story.tautd.stop() == 0, "tautd stops"


def timed(webhook):
    times = []
    for number in range(2000):
        body = webhook.review(f"{WEB}-t{number}", cpu="1m")
        begin = time.perf_counter()
        webhook.post(body)
        times.append(1000 * (time.perf_counter() - begin))
    times.sort()
    print(f"      a review is answered in {times[1000]:.2f} ms (median), {times[1980]:.2f} ms (99th percentile)")


def test_another_tautd_warns_of_pods_beyond_the_quota(stage, cluster, admission, story):
    """Another tautd, in mode warn: it creates its own certificate, and counts the pods before it refuses any."""
    quota_of(stage, 250)
    before = cluster.validating["webhooks"][0]["clientConfig"].pop("caBundle")
    tautd = stage.tautd(config=settings(stage, cluster, admission, "warn"))
    webhook = Webhook(cluster, admission)
    assert cluster.validating["webhooks"][0]["clientConfig"]["caBundle"] != "", f"the certificate is there again: {before}"
    assert daemon.eventually(lambda: webhook.ask(f"{WEB}-w").get("warnings"), 20), "who creates a pod beyond the quota is warned"
    answer = webhook.ask(f"{WEB}-w")
    assert answer["allowed"] and answer["warnings"][0].startswith('quota: 0.1 cores more for group "shop"'), "and the pod is created"
    assert daemon.metric(tautd, 'tautd_kubernetes_quota_reviews_total{result="warned"}') >= 2, "which is counted"
    assert tautd.stop() == 0, "tautd stops"


# A pod of which controller is created while the budget of its group is spent: with held: new, with all.
WHILE_HELD = (("that replaces one of a running Deployment", ("ReplicaSet", WEB), True, False),
              ("of a rollout of it", ("ReplicaSet", "web-7c9f5d6b4c"), True, False),
              ("of a Job that has one", ("Job", "backup-1"), True, False),
              ("of the next Job", ("Job", "backup-2"), False, False),
              ("of another Deployment", ("ReplicaSet", "search-6f5c8d7b9d"), False, False),
              ("of a StatefulSet of the name of the Deployment", ("StatefulSet", "web"), False, False),
              ("without a controller", None, False, False))


def held_settings(stage, cluster, admission, action, held):
    stage.file("budgets.yaml", "currency: EUR\nbusinesses: [{name: retail, budget: 1000}]\ngroups: [{name: shop, when_spent: refuse, shares: {retail: 100%}}]\n")
    text = settings(stage, cluster, admission, action).replace(f"quota: {action}}}", f"quota: {action}{held}}}")
    return text + f"budgets: {{file: {stage.dir}/budgets.yaml}}\nprices: {{core_hour: 1, currency: EUR}}\n"


def enter(tautd, act):
    body = json.dumps({"act": act, "of": "retail", "why": "a test"})
    answer = tautd.ask("/api/v1/budget-ledger", method="POST", body=body)
    assert answer.status == 200, f"{act} ({answer.text[:200]})"


def as_told(webhook, column, what):
    for pod, owner, *allowed in WHILE_HELD:
        assert webhook.ask_for(owner)["allowed"] == allowed[column], f"{what}: a pod {pod}"


def start(stage, cluster, admission, action, held):
    return stage.tautd(config=held_settings(stage, cluster, admission, action, held), store=stage.dir / "held.db")


def test_with_money_pods_are_created(stage, story, cluster, admission):
    """A group with a frozen business starts nothing new; its running pods continue."""
    quota_of(stage, 9000)
    cluster.add(f"{WEB}-h")
    cluster.add("backup-1-x", owner=("Job", "backup-1"))
    del cluster.validating["webhooks"][0]["clientConfig"]["caBundle"]
    story.tautd = start(stage, cluster, admission, "refuse", "")
    story.webhook = Webhook(cluster, admission)
    assert daemon.eventually(lambda: daemon.metric(story.tautd, "tautd_kubernetes_pods") >= 2, 20), "the pods are listed"
    for pod, owner, *_ in WHILE_HELD:
        assert story.webhook.ask_for(owner)["allowed"], f"with money a pod {pod} is created"


def test_without_money_new_work_is_refused(story):
    enter(story.tautd, "freeze")
    assert daemon.eventually(lambda: not story.webhook.ask_for(("Job", "backup-2"))["allowed"], 20), "without money new work is refused"
    as_told(story.webhook, 0, "the default")
    message = story.webhook.ask_for(("Job", "backup-2"))["status"]["message"]
    assert (message.startswith('quota: group "shop" may start nothing new while its budget is spent or frozen (when_spent: refuse). Business "retail"')
                and "is frozen." in message and "1000" not in message), (
        "with the budget, and without amounts")
    assert story.webhook.allows("tool-1", cpu="1", namespace="lab"), "other groups go on"
    assert daemon.metric(story.tautd, 'tautd_kubernetes_quota_reviews_total{result="held"}') > 4, "the metrics count them"


def test_what_runs_is_created_again_elsewhere(story, cluster):
    cluster.remove(f"{WEB}-h")
    assert daemon.eventually(lambda: daemon.metric(story.tautd, "tautd_kubernetes_pods") < 4, 20), "the node of the pods is lost"
    assert story.webhook.ask_for(("ReplicaSet", WEB))["allowed"], "they are created again elsewhere"
    cluster.add(f"{WEB}-h")


def test_held_all_refuses_each_pod(stage, story, cluster, admission):
    story.tautd.kill()
    story.tautd = start(stage, cluster, admission, "refuse", ", held: all")
    story.webhook = Webhook(cluster, admission)
    assert daemon.eventually(lambda: not story.webhook.ask_for(("ReplicaSet", WEB))["allowed"], 20), (
        "held: all refuses each pod, also right after a kill")
    as_told(story.webhook, 1, "held: all")


def test_with_money_again_the_next_attempt_is_allowed(story):
    enter(story.tautd, "unfreeze")
    assert daemon.eventually(lambda: story.webhook.ask_for(("Job", "backup-2"))["allowed"], 20), "with money again the next attempt is allowed"


def test_quota_warn_warns_of_it(story):
    enter(story.tautd, "freeze")


def test_held_off_holds_no_pod(stage, story, cluster, admission):
    story.tautd.kill()
    story.tautd = start(stage, cluster, admission, "warn", "")
    story.webhook = Webhook(cluster, admission)
    assert daemon.eventually(lambda: story.webhook.ask_for(("Job", "backup-2")).get("warnings"), 20), "quota: warn warns of it"
    answer = story.webhook.ask_for(("Job", "backup-2"))
    assert answer["allowed"] and "may start nothing new" in answer["warnings"][0], "and the pod is created"
    assert "warnings" not in story.webhook.ask_for(("ReplicaSet", WEB)), "what runs is not warned about"
    story.tautd.kill()
    story.tautd = start(stage, cluster, admission, "refuse", ", held: off")
    story.webhook = Webhook(cluster, admission)
    assert daemon.eventually(lambda: daemon.metric(story.tautd, "tautd_kubernetes_pods") >= 2, 20) and story.webhook.ask_for(("Job", "backup-2"))["allowed"], (
        "held: off holds no pod")
    assert story.tautd.stop() == 0, "tautd stops"
