#!/usr/bin/env python3
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

import daemon
import kubernetes_test as bed

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
    """As the API server calls it."""

    def __init__(self, stage, cluster, port):
        authority = lambda: cluster.validating["webhooks"][0]["clientConfig"].get("caBundle")  # noqa: E731
        stage.check(daemon.eventually(authority, 20), "tautd writes its certificate to the ValidatingWebhookConfiguration")
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
        """A pod of this controller, (KIND, NAME), or of none."""
        review = bed.review(**({"ownerReferences": [{"kind": owner[0], "name": owner[1], "controller": True}]} if owner else {"ownerReferences": [], "name": "tool"}))
        status, text = self.post(json.dumps(review))
        assert status == 200, text
        return json.loads(text)["response"]


def quota_of(stage, millicores):
    text = f"groups: [{{name: shop, quotas: [{{tier: production, resource: cpu, nominal: {millicores / 1000}}}]}}]\n"
    return stage.file("quota.yaml", text)


def settings(stage, api, admission, action):
    kubeconfig = stage.kubeconfig("kubeconfig", api)
    return f"""ingest: {{kubernetes_jobs: containers}}
quota: {{file: {stage.dir}/quota.yaml}}
kubernetes: {{kubeconfig: {kubeconfig}, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1, quota: {action}}}}}
"""


def refusing(stage, cluster, api):
    quota_of(stage, 350)
    cluster.add(f"{WEB}-a")
    cluster.add(f"{WEB}-b")
    admission = daemon.free_port()
    tautd = stage.tautd(config=settings(stage, api, admission, "refuse"))
    stage.check(not any("mutatingwebhook" in r for r in cluster.requests), "the mutating webhook of others is left alone")
    webhook = Webhook(stage, cluster, admission)
    left = lambda: 350 - bed.metric(tautd, "tautd_kubernetes_pods") * 100  # noqa: E731
    stage.check(daemon.eventually(lambda: left() == 150, 20), "two pods are there", left())
    for _ in range(3):
        stage.check(webhook.allows(f"{WEB}-c", dry_run=True), "a dry run of a pod that fits is allowed, as often as it is asked for")
    stage.check(webhook.allows(f"{WEB}-c"), "the pod is allowed")
    refused = webhook.ask(f"{WEB}-d")
    message = refused.get("status", {}).get("message", "")
    stage.equal((refused["allowed"], refused["status"]["code"], refused["uid"]), (False, 403, "r-1"),
                "the next one is refused, before the other is there")
    stage.check('0.1 cores more for group "shop" in tier "production"' in message and "0.05 cores left of the 0.1 cores asked for" in message
                and "What fits now: 0.05 cores." in message, "with the reasons and what would fit", message)
    stage.check(webhook.allows(f"{WEB}-d", cpu="50m", dry_run=True), "which does fit")
    sleeper = {"name": "sleeper", "resources": {"requests": {"cpu": "100"}}}
    for what, more in (("requests of the pod as a whole", {"resources": {"requests": {"cpu": "100"}}}),
                       ("an init container that sleeps for a week", {"initContainers": [sleeper]}),
                       ("overhead", {"overhead": {"cpu": "1"}})):
        review = json.loads(webhook.review(f"{WEB}-big", cpu="10m", dry_run=True))
        review["request"]["object"]["spec"].update(more)
        answer = json.loads(webhook.post(json.dumps(review))[1])["response"]
        stage.check(not answer["allowed"], f"{what} counts", answer)
    cluster.add(f"{WEB}-c")
    stage.check(daemon.eventually(lambda: left() == 50, 20), "the pod is created", left())
    stage.check(not webhook.allows(f"{WEB}-d"), "and counts once")
    cluster.change(f"{WEB}-a", deletionTimestamp="2023-11-15T00:00:00Z")
    stage.check(daemon.eventually(lambda: webhook.allows(f"{WEB}-d", dry_run=True), 20),
                "a pod that is being deleted makes room for the one that replaces it")
    stage.check(webhook.allows(f"{WEB}-d"), "which is allowed")
    stage.check(webhook.allows(f"{WEB}-b", attempt=2), "as is another of the same name as one that is there")
    cluster.add(f"{WEB}-d")
    cluster.remove(f"{WEB}-a")
    cluster.remove(f"{WEB}-b")
    at_once(stage, cluster, tautd, webhook)
    stage.check(webhook.allows("tool-1", cpu="64", namespace="lab"), "a pod of a group without quota is allowed")
    stage.equal(webhook.post("nonsense")[0], 400, "nonsense is no review")
    stage.equal(webhook.post(webhook.review(f"{WEB}-x"), "/admit")[0], 404, "without an actuator no pod is changed")
    stage.equal(webhook.post("{}", "/api/v1/jobs")[0], 401, "nothing else is answered without a token")
    counted = {r: bed.metric(tautd, f'tautd_kubernetes_quota_reviews_total{{result="{r}"}}') for r in ("fits", "warned", "refused", "not_covered")}
    stage.check(counted["fits"] > 5 and counted["refused"] > 3 and counted["warned"] == 0 and counted["not_covered"] == 1,
                "the metrics count the reviews", counted)
    quota_of(stage, 9000)
    tautd.popen.send_signal(signal.SIGHUP)
    stage.check(daemon.eventually(lambda: webhook.allows(f"{WEB}-z", cpu="5", dry_run=True), 20), "another quota file holds from the reload on")
    timed(webhook)
    stage.equal(tautd.stop(), 0, "tautd stops")
    return admission


def at_once(stage, cluster, tautd, webhook):
    """What is left is for one pod, or for two where the last answer holds nothing; eight ask for it at the same time."""
    stage.check(daemon.eventually(lambda: bed.metric(tautd, "tautd_kubernetes_pods") == 2, 20), "two pods are there again")
    cluster.add(f"{WEB}-b")  # what was held for it is the pod
    cluster.change(f"{WEB}-b", uid=f"uid-{WEB}-b-2")
    stage.check(daemon.eventually(lambda: not webhook.allows(f"{WEB}-e", dry_run=True), 20), "three pods leave no room for a fourth")
    cluster.remove(f"{WEB}-c")
    stage.check(daemon.eventually(lambda: webhook.allows(f"{WEB}-e", dry_run=True), 20), "one goes")
    allowed, gate = [], threading.Barrier(8)

    def create(number):
        connection = webhook.connect()
        connection.connect()
        gate.wait()
        _, text = webhook.post(webhook.review(f"{WEB}-e{number}"), connection=connection)
        allowed.append(json.loads(text)["response"]["allowed"])

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stage.equal(sorted(allowed), [False] * 7 + [True], "of eight pods that ask for the last room at once one gets it")


def timed(webhook):
    times = []
    for number in range(2000):
        body = webhook.review(f"{WEB}-t{number}", cpu="1m")
        begin = time.perf_counter()
        webhook.post(body)
        times.append(1000 * (time.perf_counter() - begin))
    times.sort()
    print(f"      a review is answered in {times[1000]:.2f} ms (median), {times[1980]:.2f} ms (99th percentile)")


def warning(stage, cluster, api, admission):
    """Another tautd, which warns: it makes a certificate of its own, and counts the pods before it refuses any."""
    quota_of(stage, 250)
    before = cluster.validating["webhooks"][0]["clientConfig"].pop("caBundle")
    tautd = stage.tautd(config=settings(stage, api, admission, "warn"))
    webhook = Webhook(stage, cluster, admission)
    stage.check(cluster.validating["webhooks"][0]["clientConfig"]["caBundle"] != "", "the certificate is there again", before)
    stage.check(daemon.eventually(lambda: webhook.ask(f"{WEB}-w").get("warnings"), 20), "who creates a pod beyond the quota is warned")
    answer = webhook.ask(f"{WEB}-w")
    stage.check(answer["allowed"] and answer["warnings"][0].startswith('quota: 0.1 cores more for group "shop"'),
                "and the pod is created", answer)
    stage.check(bed.metric(tautd, 'tautd_kubernetes_quota_reviews_total{result="warned"}') >= 2, "which is counted")
    stage.equal(tautd.stop(), 0, "tautd stops")


# A pod of which controller is created while the budget of its group is spent: with held: new, with all.
WHILE_HELD = (("that replaces one of a running Deployment", ("ReplicaSet", WEB), True, False),
              ("of a rollout of it", ("ReplicaSet", "web-7c9f5d6b4c"), True, False),
              ("of a Job that has one", ("Job", "backup-1"), True, False),
              ("of the next Job", ("Job", "backup-2"), False, False),
              ("of another Deployment", ("ReplicaSet", "search-6f5c8d7b9d"), False, False),
              ("of a StatefulSet of the name of the Deployment", ("StatefulSet", "web"), False, False),
              ("without a controller", None, False, False))


def held_settings(stage, api, admission, action, held):
    stage.file("budgets.yaml", "currency: EUR\nbusinesses: [{name: retail, budget: 1000}]\ngroups: [{name: shop, when_spent: refuse, shares: {retail: 100%}}]\n")
    text = settings(stage, api, admission, action).replace(f"quota: {action}}}", f"quota: {action}{held}}}")
    return text + f"budgets: {{file: {stage.dir}/budgets.yaml}}\nprices: {{core_hour: 1, currency: EUR}}\n"


def holding(stage, cluster, api, admission):
    """A group whose business is frozen starts nothing new; what runs goes on."""
    def enter(tautd, act):
        body = json.dumps({"act": act, "of": "retail", "why": "a test"})
        answer = tautd.ask("/api/v1/budget-ledger", method="POST", body=body)
        stage.equal(answer.status, 200, f"{act} ({answer.text[:200]})")

    def check(webhook, column, what):
        for pod, owner, *allowed in WHILE_HELD:
            stage.equal(webhook.ask_for(owner)["allowed"], allowed[column], f"{what}: a pod {pod}")

    quota_of(stage, 9000)
    cluster.add(f"{WEB}-h")
    cluster.add("backup-1-x", owner=("Job", "backup-1"))
    store = stage.dir / "held.db"
    del cluster.validating["webhooks"][0]["clientConfig"]["caBundle"]
    start = lambda action, held: stage.tautd(config=held_settings(stage, api, admission, action, held), store=store)  # noqa: E731
    tautd = start("refuse", "")
    webhook = Webhook(stage, cluster, admission)
    stage.check(daemon.eventually(lambda: bed.metric(tautd, "tautd_kubernetes_pods") >= 2, 20), "the pods are listed")
    for pod, owner, *_ in WHILE_HELD:
        stage.check(webhook.ask_for(owner)["allowed"], f"with money a pod {pod} is created")
    enter(tautd, "freeze")
    stage.check(daemon.eventually(lambda: not webhook.ask_for(("Job", "backup-2"))["allowed"], 20), "without money new work is refused")
    check(webhook, 0, "the default")
    message = webhook.ask_for(("Job", "backup-2"))["status"]["message"]
    stage.check(message.startswith('quota: group "shop" may start nothing new while its budget is spent or frozen (when_spent: refuse). Business "retail"')
                and "is frozen." in message and "1000" not in message, "with the budget, and without amounts", message)
    stage.check(webhook.allows("tool-1", cpu="1", namespace="lab"), "other groups go on")
    stage.check(bed.metric(tautd, 'tautd_kubernetes_quota_reviews_total{result="held"}') > 4, "the metrics count them")
    cluster.remove(f"{WEB}-h")
    stage.check(daemon.eventually(lambda: bed.metric(tautd, "tautd_kubernetes_pods") < 4, 20), "the node of the pods is lost")
    stage.check(webhook.ask_for(("ReplicaSet", WEB))["allowed"], "they are created again elsewhere")
    cluster.add(f"{WEB}-h")
    tautd.kill()
    tautd = start("refuse", ", held: all")
    webhook = Webhook(stage, cluster, admission)
    stage.check(daemon.eventually(lambda: not webhook.ask_for(("ReplicaSet", WEB))["allowed"], 20), "held: all refuses each pod, also right after a kill")
    check(webhook, 1, "held: all")
    enter(tautd, "unfreeze")
    stage.check(daemon.eventually(lambda: webhook.ask_for(("Job", "backup-2"))["allowed"], 20), "with money again the next attempt is allowed")
    enter(tautd, "freeze")
    tautd.kill()
    tautd = start("warn", "")
    webhook = Webhook(stage, cluster, admission)
    stage.check(daemon.eventually(lambda: webhook.ask_for(("Job", "backup-2")).get("warnings"), 20), "quota: warn warns of it")
    answer = webhook.ask_for(("Job", "backup-2"))
    stage.check(answer["allowed"] and "may start nothing new" in answer["warnings"][0], "and the pod is created", answer)
    stage.check("warnings" not in webhook.ask_for(("ReplicaSet", WEB)), "what runs is not warned about")
    tautd.kill()
    tautd = start("refuse", ", held: off")
    webhook = Webhook(stage, cluster, admission)
    stage.check(daemon.eventually(lambda: bed.metric(tautd, "tautd_kubernetes_pods") >= 2, 20) and webhook.ask_for(("Job", "backup-2"))["allowed"], "held: off holds no pod")
    stage.equal(tautd.stop(), 0, "tautd stops")


def main():
    args = daemon.arguments(__doc__)
    with daemon.Stage(args) as stage:
        cluster = Handler.cluster = Cluster()
        server = bed.Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        admission = refusing(stage, cluster, server.server_address[1])
        warning(stage, cluster, server.server_address[1], admission)
        holding(stage, cluster, server.server_address[1], admission)
        server.shutdown()
        stage.finish()


if __name__ == "__main__":
    main()
