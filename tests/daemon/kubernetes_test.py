#!/usr/bin/env python3
"""tautd in a cluster: an API server of this test's own, whose pods use what it says and get the limits that are set.

Days go by in seconds: the kubelet's samples carry their own times, and tautd takes its time from them. (A real cluster
is in tests/kubernetes.)
"""
import base64
import copy
import http.client
import http.server
import json
import re
import signal
import ssl
import threading
import time
import urllib.parse

import daemon

MIB = 1 << 20
START = 1_700_006_400  # a midnight
STEP = 60  # seconds between two samples
JOB = "shop/deployment/web/app"


def mebibytes(quantity):
    """Of "64Mi", "1000"."""
    return int(quantity[:-2]) if quantity.endswith("Mi") else int(quantity) / MIB


class Cluster:
    """Objects, the events of them, and what was asked."""

    def __init__(self):
        self.lock = threading.Condition()
        self.version = 10
        self.pods = {}
        self.events = []  # (version, type, object)
        self.requests = []
        self.users = set()  # the Authorization headers of GETs
        self.seconds = 0  # of usage, since START
        self.use_mib = 20
        self.scrape_seconds = 6 * 3600  # of usage in each answer of the kubelet
        self.nodes = [{"metadata": {"name": "node-1"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi"},
                                                                  "conditions": [{"type": "Ready", "status": "True"}]}},
                      {"metadata": {"name": "gpu-1"}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
                       "status": {"allocatable": {"cpu": "64", "memory": "16Gi"}, "conditions": []}}]
        self.no_proxy = False
        self.owner = "Deployment"  # of the ReplicaSet
        self.jobs = []  # their metadata
        self.refuse = None  # (status, message) for each resize
        self.refuse_status = None  # likewise for each annotation of a Deployment
        self.hpas = {}
        self.hpa_events = []
        self.scaled_objects = []
        self.deployment = {"metadata": {"name": "web", "namespace": "shop", "uid": "d-1", "annotations": {}}}
        self.deployment_events = []
        self.said = []  # Events
        self.replicas = None
        self.template_memory = "512Mi"  # that the ReplicaSet's template has
        self.is_infeasible = False  # every resize, on the only node
        self.budget = None  # a PodDisruptionBudget that lets no pod be evicted
        self.webhook = {"metadata": {"name": "tautline"}, "webhooks": [{
            "name": "pods.tautline.dev", "clientConfig": {}, "namespaceSelector": {"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["tautline"]}]}}]}
        self.replaced = 0  # pods, by others that the webhook reviews
        self.workload = None  # the Deployment with its template, where that is set
        self.rollouts = 0
        self.webhook_port = None  # by which pods that replace others are reviewed

    def put(self, pod, what="MODIFIED"):
        with self.lock:
            self.version += 1
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.pods[pod["metadata"]["name"]] = pod
            self.events.append((self.version, what, copy.deepcopy(pod)))
            self.lock.notify_all()

    def scale_by(self, resource):
        """A HorizontalPodAutoscaler of the Deployment on the utilization of this resource; None: none any more."""
        hpa = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "metrics": [{"type": "Resource", "resource": {"name": resource, "target": {"type": "Utilization", "averageUtilization": 80}}}]}}
        with self.lock:
            self.version += 1
            hpa["metadata"]["resourceVersion"] = str(self.version)
            self.hpas = {"web": hpa} if resource else {}
            self.hpa_events.append((self.version, "ADDED" if resource else "DELETED", hpa))
            self.lock.notify_all()

    def annotate(self, annotations):
        """Those of the Deployment, all of them."""
        with self.lock:
            self.version += 1
            self.deployment["metadata"].update(annotations=annotations, resourceVersion=str(self.version))
            self.deployment_events.append((self.version, "MODIFIED", copy.deepcopy(self.deployment)))
            self.lock.notify_all()

    def remove(self, name):
        with self.lock:
            self.version += 1
            pod = self.pods.pop(name)
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.events.append((self.version, "DELETED", pod))
            self.lock.notify_all()

    def add(self, name, memory="512Mi", annotations=None, changes=None, started=None, owner=("ReplicaSet", "web-5d4f8c7b9d"), image="registry/app:1"):
        """`changes`: of its resources, by the webhook. `started`: Unix time; None: its status does not say it."""
        running = {"startedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started))} if started else {}
        resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": memory}}
        for part in ("requests", "limits"):
            for kind in ("cpu", "memory"):
                resources[part][kind] = (changes or {}).get(f"/spec/containers/0/resources/{part}/{kind}", resources[part][kind])
        self.put({"metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": {"team": "blue"}, "annotations": annotations or {},
                               "ownerReferences": [{"kind": owner[0], "name": owner[1], "controller": True}]},
                  "spec": {"nodeName": "node-1", "initContainers": [{"name": "migrate"}],
                           "containers": [{"name": "app", "image": image, "resources": copy.deepcopy(resources)}]},
                  "status": {"phase": "Running", "qosClass": "Burstable", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [
                      {"name": "app", "restartCount": 0, "state": {"running": running}, "resources": copy.deepcopy(resources)}]}},
                 "ADDED")

    def resize(self, name, patch):
        """As the API server and, at once, the kubelet."""
        with self.lock:
            pod = copy.deepcopy(self.pods[name])
            change = patch["spec"]["containers"][0]["resources"]
            wanted, actual = pod["spec"]["containers"][0]["resources"], pod["status"]["containerStatuses"][0]["resources"]
            if self.is_infeasible:
                pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}, {
                    "type": "PodResizePending", "status": "True", "reason": "Infeasible", "message": "Node didn't have enough capacity"}]
            for resources in (wanted,) if self.is_infeasible else (wanted, actual):
                for part in ("requests", "limits"):
                    resources[part].update(change.get(part, {}))
            pod["metadata"]["managedFields"] = [{"manager": "tautline", "subresource": "resize"}]
            self.put(pod)

    def evict(self, name):
        """Another pod takes its place, which the webhook reviews."""
        self.remove(name)
        with self.lock:
            self.replaced += 1
            bundle = base64.b64decode(self.webhook["webhooks"][0]["clientConfig"]["caBundle"]).decode()
        connection = http.client.HTTPSConnection("127.0.0.1", self.webhook_port, context=ssl.create_default_context(cadata=bundle), timeout=10)
        connection.request("POST", "/admit", json.dumps(review("512Mi")), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["response"]
        changes = {o["path"]: o["value"] for o in json.loads(base64.b64decode(answer.get("patch", "W10=")))}
        self.add(f"web-5d4f8c7b9d-new{self.replaced}", annotations=changes.get("/metadata/annotations"), changes=changes)

    def apply(self, body):
        """To the Deployment, server-side; other pods take the place of those that there are."""
        names = {"app": ["memory", "cpu"]}
        with self.lock:
            self.rollouts += 1
            in_template, applied = self.workload["spec"]["template"], body["spec"]["template"]
            annotations = applied.get("metadata", {}).get("annotations", {})
            in_template["metadata"] = {"annotations": annotations}
            resources = in_template["spec"]["containers"][0]["resources"]
            owned = {}
            for part, amounts in applied["spec"]["containers"][0]["resources"].items():
                resources[part].update(amounts)
                owned[f"f:{part}"] = {f"f:{kind}": {} for kind in names["app"] if kind in amounts}
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + self.seconds))
            fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {"f:resources": owned}}}}}}
            self.workload["metadata"]["managedFields"] = [{"manager": "tautline", "operation": "Apply", "time": at, "fieldsV1": fields}]
            self.workload["metadata"]["generation"] += 1
            self.workload["status"]["observedGeneration"] += 1
            old = list(self.pods)
        changes = {f"/spec/containers/0/resources/{part}/{kind}": amount for part in resources for kind, amount in resources[part].items()}
        for i, name in enumerate(old):
            self.remove(name)
            self.add(f"web-5d4f8c7b9d-{self.rollouts}x{i}", annotations=annotations, changes=changes)

    def kill_for_memory(self, name, seconds_ago=0, is_restarted=True):
        """`seconds_ago`: when its container ended, before now. A pod that is not restarted has failed."""
        with self.lock:
            pod = copy.deepcopy(self.pods[name])
            status = pod["status"]["containerStatuses"][0]
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + self.seconds - seconds_ago))
            end = {"terminated": {"reason": "OOMKilled", "exitCode": 0, "finishedAt": at}}
            if is_restarted:
                status["restartCount"] += 1
                status["lastState"] = end
            else:
                pod["status"]["phase"], status["state"] = "Failed", end
            self.put(pod)

    def limit(self, name):
        with self.lock:
            return mebibytes(self.pods[name]["spec"]["containers"][0]["resources"]["limits"]["memory"])

    def use_of(self, name):
        """Of a pod's container, in MiB."""
        return self.use_mib

    def usage(self):
        """The kubelet's text: the samples of some hours at a time."""
        with self.lock:
            begin, self.seconds = self.seconds, self.seconds + self.scrape_seconds
            lines = []
            # By time, as usage comes: with all of one pod first, windows would close before the others are read.
            for second in range(begin, self.seconds, STEP):
                at = (START + second) * 1000
                for name in self.pods:
                    labels = f'container="app",namespace="shop",pod="{name}"'
                    lines.append(f'container_cpu_usage_seconds_total{{cpu="total",{labels}}} {second * 0.1:.3f} {at}')
                    lines.append(f"container_memory_working_set_bytes{{{labels}}} {self.use_of(name) * MIB} {at}")
                    lines.append(f"container_memory_working_set_bytes{{{labels.replace('app', 'migrate')}}} {400 * MIB} {at}")
        return "\n".join(lines) + "\n"

    def pod_metrics(self):
        """As metrics-server: of each pod the mean of the last minute; two and a half minutes go by from one answer to the next."""
        with self.lock:
            self.seconds += 150
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + self.seconds))
            return {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [
                {"metadata": {"name": name, "namespace": "shop"}, "timestamp": at, "window": "1m0.5s", "containers": [
                    {"name": "app", "usage": {"cpu": "125000001n", "memory": f"{self.use_mib * 1024}Ki"}},
                    {"name": "migrate", "usage": {"cpu": "1", "memory": "400Mi"}}]} for name in self.pods]}


class Handler(daemon.JsonHandler):
    cluster = None

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(path.query))
        c = self.cluster
        with c.lock:
            c.requests.append(f"GET {path.path}{' watch' if 'watch' in query else ''}")
            c.users.add(self.headers["Authorization"])
        if path.path == "/api/v1/pods" and "watch" in query:
            return self.watch(c.events, int(query["resourceVersion"]))
        if path.path == "/apis/apps/v1/deployments" and "watch" in query:
            return self.watch(c.deployment_events, int(query["resourceVersion"]))
        if path.path == "/apis/autoscaling/v2/horizontalpodautoscalers" and "watch" in query:
            return self.watch(c.hpa_events, int(query["resourceVersion"]))
        if path.path.startswith("/apis/autoscaling.k8s.io/"):
            return self.answer(404, "404 page not found")
        if "watch" in query:
            time.sleep(1)
            return self.answer(200, "")
        if "/proxy/metrics/" in path.path and c.no_proxy:
            return self.answer(403, json.dumps({"kind": "Status", "message": "nodes \"node-1\" is forbidden: cannot get resource \"nodes/proxy\""}))
        if path.path == "/apis":
            return self.answer(200, json.dumps({"kind": "APIGroupList", "groups": [
                {"name": "apps", "preferredVersion": {"groupVersion": "apps/v1"}},
                {"name": "argoproj.io", "preferredVersion": {"groupVersion": "argoproj.io/v1alpha1"}}]}))
        if path.path == "/apis/argoproj.io/v1alpha1":
            return self.answer(200, json.dumps({"kind": "APIResourceList", "groupVersion": "argoproj.io/v1alpha1", "resources": [
                {"name": "rollouts", "namespaced": True, "kind": "Rollout"},
                {"name": "rollouts/scale", "namespaced": True, "group": "autoscaling", "version": "v1", "kind": "Scale"}]}))
        if path.path == "/apis/metrics.k8s.io/v1beta1/pods":
            return self.answer(200, json.dumps(c.pod_metrics()))
        if path.path.endswith("/proxy/metrics/cadvisor"):
            return self.answer(200, c.usage())
        if path.path.endswith("/proxy/metrics/resource"):
            return self.answer(200, c.usage().replace('cpu="total",', ""))
        if path.path.endswith("/mutatingwebhookconfigurations/tautline"):
            return self.answer(200, json.dumps(c.webhook))
        if path.path.endswith("/deployments/web") and c.workload:
            with c.lock:
                return self.answer(200, json.dumps(c.workload))
        if path.path.endswith("/deployments/web"):
            return self.answer(200, json.dumps({"spec": {"template": {"spec": {"containers": [
                {"name": "app", "resources": {"requests": {"cpu": "100m", "memory": "256Mi"},
                                              "limits": {"cpu": "1", "memory": "1024Mi"}}}]}}}}))
        if path.path.endswith("/namespaces/shop/replicasets"):
            resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": c.template_memory}}
            template = {"spec": {"containers": [{"name": "app", "resources": resources}]}}
            return self.answer(200, json.dumps({"kind": "ReplicaSetList", "metadata": {}, "items": (
                [{"metadata": {"name": "web-5d4f8c7b9d"}, "spec": {"template": template}}]
                if query.get("fieldSelector") == "metadata.name=web-5d4f8c7b9d" else [])}))
        items = []
        with c.lock:
            version = c.version
            if path.path == "/api/v1/pods":
                items = list(c.pods.values())
            if path.path == "/api/v1/namespaces":
                items = [{"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}]
            if path.path == "/api/v1/nodes":
                items = c.nodes
            if path.path == "/api/v1/limitranges":
                items = [{"metadata": {"name": "small", "namespace": "shop"}, "spec": {"limits": [
                    {"type": "Container", "min": {"cpu": "20m"}}]}}]
            if path.path == "/apis/apps/v1/deployments":
                items = [copy.deepcopy(c.deployment)]
            if path.path == "/apis/apps/v1/replicasets":
                items = [{"metadata": {"name": "web-5d4f8c7b9d", "namespace": "shop", "ownerReferences": [
                    {"kind": c.owner, "name": "web", "controller": True}]}}]
            if path.path == "/apis/batch/v1/jobs":
                items = [{"metadata": {"namespace": "shop", **metadata}} for metadata in c.jobs]
            if path.path == "/apis/autoscaling/v2/horizontalpodautoscalers":
                items = list(c.hpas.values())
            if path.path == "/apis/keda.sh/v1alpha1/scaledobjects":
                items = c.scaled_objects
            text = json.dumps({"kind": "List", "metadata": {"resourceVersion": str(version)}, "items": items})
        self.answer(200, text)

    def watch(self, events, version):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        c = self.cluster
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with c.lock:
                c.lock.wait(0.2)
                new = [e for e in events if e[0] > version]
            for at, what, pod in new:
                try:
                    self.wfile.write((json.dumps({"type": what, "object": pod}) + "\n").encode())
                    self.wfile.flush()
                except OSError:
                    return
                version = at

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.cluster.lock:
            if self.path.endswith("/events"):
                self.cluster.said.append(body)
            budget = self.cluster.budget
        if self.path.endswith("/eviction"):
            if budget:
                return self.answer(429, json.dumps({"kind": "Status", "code": 429, "message": "Cannot evict pod as it would violate the pod's disruption budget.", "details": {
                    "causes": [{"reason": "DisruptionBudget", "message": f"The disruption budget {budget} needs 2 healthy pods and has 2 currently"}]}}))
            name = self.path.split("/")[-2]
            if body["deleteOptions"]["preconditions"]["uid"] != f"uid-{name}":
                return self.answer(409, json.dumps({"kind": "Status", "message": "the UID in the precondition does not match"}))
            self.cluster.evict(name)
        self.answer(201, json.dumps(body))

    def do_PATCH(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urllib.parse.urlsplit(self.path).path
        c = self.cluster
        with c.lock:
            c.requests.append(f"PATCH {path} {self.headers['Content-Type']} {json.dumps(body)}")
            refuse = c.refuse
        if path.endswith("/resize"):
            if refuse:
                return self.answer(refuse[0], json.dumps({"kind": "Status", "message": refuse[1]}))
            c.resize(path.split("/")[-2], body)
        if "/mutatingwebhookconfigurations/" in path:
            c.webhook["webhooks"][0]["clientConfig"].update(body["webhooks"][0]["clientConfig"])
        if path.endswith("/deployments/web") and "merge-patch" in self.headers["Content-Type"]:
            if c.refuse_status:
                return self.answer(c.refuse_status[0], json.dumps({"kind": "Status", "message": c.refuse_status[1]}))
            if body["metadata"]["uid"] != c.deployment["metadata"]["uid"]:
                return self.answer(422, json.dumps({"kind": "Status", "message": "metadata.uid: Invalid value: field is immutable"}))
            changed = {**c.deployment["metadata"]["annotations"], **body["metadata"]["annotations"]}
            c.annotate({key: value for key, value in changed.items() if value is not None})
        elif path.endswith("/deployments/web"):
            c.apply(body)
        if path.endswith("/scale"):
            c.replicas = body["spec"]["replicas"]
        self.answer(200, "{}")


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64  # more than the watches that tautd begins at once: of the rest the connections would wait a second


def canary(stage, cluster, port):
    """A lower limit is tried on some of the pods, and set on all when it did no harm. A credential plugin says who tautd is."""
    stage.file("login", f"""#!/bin/sh
echo run >>{stage.dir}/login.runs
echo "{{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{{\\"token\\":\\"$WHO\\"}}}}"
""").chmod(0o700)
    kubeconfig = stage.file("kubeconfig2", f"""current-context: test
contexts: [{{name: test, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never,
                                  env: [{{name: WHO, value: plugged}}]}}}}}}]
""")
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, usage: resource, status_annotations: true}}
defaults: {{mode: canary, recommender: moving_window, canary.share: 0.5, canary.duration: 1d, canary.min_task_windows: 20}}
"""
    cluster.scrape_seconds = 3600
    pods = [f"web-5d4f8c7b9d-{end}" for end in ("2bxnz", "4vqtr", "9kdlw", "7pmzs")]
    for pod in pods:
        cluster.add(pod)
    tautd = stage.tautd(config=config, store="memory")
    limits = lambda: sorted(cluster.limit(pod) < 300 for pod in pods)  # noqa: E731
    stage.check(daemon.eventually(lambda: limits() == [False, False, True, True], 60), "a trial is of half of the pods",
                [cluster.limit(pod) for pod in pods])
    stage.check(daemon.eventually(lambda: limits() == [True] * 4, 60), "and its limit goes to all of them",
                [cluster.limit(pod) for pod in pods])
    status = lambda: cluster.deployment["metadata"]["annotations"].get("tautline.dev/status", "")  # noqa: E731
    form = r"app canary: cpu request \d+m limit \d+m (set|on trial|waits) .*, memory request \d+Mi limit \d+Mi (set|on trial|waits) .*"
    stage.check(daemon.eventually(lambda: re.fullmatch(form, status()), 40), "the Deployment's annotation says how far it is", status())
    kinds = [d["kind"] for d in reversed(decisions(tautd))]
    stage.equal(kinds[:2], ["try", "promote"], "as two decisions")
    scraped = {r.rsplit("/", 1)[1] for r in cluster.requests if "/proxy/metrics/" in r}
    stage.equal(scraped, {"resource"}, "by the usage that kubernetes.usage names")
    stage.equal(cluster.users, {"Bearer plugged"}, "the token of each request is the plugin's")
    stage.equal((stage.dir / "login.runs").read_text(), "run\n", "which ran once for all connections")
    stage.equal(tautd.stop(), 0, "tautd stops")


def by_metrics_api(stage, cluster, port):
    """Where the proxy to the kubelets is not allowed, usage is that of metrics.k8s.io."""
    kubeconfig = stage.kubeconfig("kubeconfig4", port)
    config = """clock: samples
ingest: {{kubernetes_jobs: containers, grace: 0s}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, usage: {usage}}}
defaults: {{mode: observe, recommender: moving_window}}
"""
    cluster.no_proxy = True
    for end in ("2bxnz", "4vqtr"):
        cluster.add(f"web-5d4f8c7b9d-{end}")
    tautd = stage.tautd(config=config.format(kubeconfig=kubeconfig, usage="cadvisor"), store="memory")
    stage.check(daemon.eventually(lambda: "nodes/proxy" in tautd.output(), 30), "a refused proxy is said", tautd.output())
    tautd.stop()
    tautd = stage.tautd(config=config.format(kubeconfig=kubeconfig, usage="metrics_api"), store="memory")
    usage = lambda: [(j["name"], j["tasks"], round(j["cpu"]["usage"] or 0, 3), (j["memory"]["usage"] or 0) / MIB,  # noqa: E731
                      (j["memory"]["owner_limit"] or 0) / MIB) for j in tautd.get("/api/v1/jobs")["jobs"] if j["last_seen"]]
    stage.check(daemon.eventually(lambda: usage() == [(JOB, 2, 0.125, 20, 512)], 60),
                "the metrics API says what pods use; init containers do not count", usage())
    stage.equal(metric(tautd, 'tautd_kubernetes_scrapes_total{result="failed"}'), 0, "and nothing fails")
    stage.equal(tautd.stop(), 0, "tautd stops")
    rollout(stage, cluster, kubeconfig)


def rollout(stage, cluster, kubeconfig):
    """A kind that nobody told tautd of has a number of replicas too, where discovery says that it has a scale."""
    cluster.owner, cluster.replicas = "Rollout", None
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers, grace: 0s}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, usage: metrics_api, scale: true}}
defaults: {{mode: auto, recommender: moving_window, replicas.policy: static, replicas.static.count: 5}}
"""
    cluster.scaled_objects = [{"metadata": {"name": "web", "namespace": "shop", "annotations": {"autoscaling.keda.sh/paused-replicas": "2"}},
                               "spec": {"scaleTargetRef": {"kind": "Rollout", "name": "web"}}}]
    tautd = stage.tautd(config=config, store="memory")
    why = "the ScaledObject shop/web, which is paused (autoscaling.keda.sh/paused-replicas: 2)"
    failed = lambda: [d for d in decisions(tautd, "replicas") if d["outcome"] == "failed" and d["outcome_text"].startswith(why)]  # noqa: E731
    stage.check(daemon.eventually(failed, 60), "a paused ScaledObject holds the number, and the decision names it", decisions(tautd, "replicas"))
    notices = tautd.get("/api/v1/jobs/" + daemon.quoted("shop/rollout/web/app"))["notices"]
    stage.check(any(why in n for n in notices), "so does a notice of the job", notices)
    stage.equal(cluster.replicas, None, "and nothing is scaled")
    stage.equal(tautd.stop(), 0, "tautd stops")
    cluster.scaled_objects = []
    tautd = stage.tautd(config=config, store="memory")
    stage.check(daemon.eventually(lambda: cluster.replicas == 5, 60), "without it the Rollout is scaled", cluster.replicas)
    path = "PATCH /apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web/scale application/merge-patch+json"
    stage.check(any(r.startswith(path) for r in cluster.requests), "through its subresource",
                [r for r in cluster.requests if r.startswith("PATCH")])
    said = lambda: [(d["job"], d["after"], d["outcome"]) for d in tautd.get("/api/v1/decisions?target=replicas")["decisions"]]  # noqa: E731
    stage.check(daemon.eventually(lambda: said() == [("shop/rollout/web/app", 5, "applied")], 20), "as one decision", said())
    stage.equal(tautd.stop(), 0, "tautd stops")


def in_template(stage, cluster, port):
    """The Deployment's template is set, and rolls out; in mode observe it is the owner's again."""
    kubeconfig = stage.kubeconfig("kubeconfig5", port)
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window, in_template: true}}}}
"""
    cluster.workload = {
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "5", "generation": 1, "managedFields": []},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [
            {"name": "app", "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}}]}}},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}}
    for end in ("2bxnz", "4vqtr"):
        cluster.add(f"web-5d4f8c7b9d-{end}")
    tautd = stage.tautd(config=config, store="memory")
    limit = lambda: mebibytes(cluster.workload["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"])  # noqa: E731
    stage.check(daemon.eventually(lambda: limit() < 300, 60), "the template gets less than its 512 MiB", limit())
    cluster.scrape_seconds = 60  # no other decision
    stage.check(daemon.eventually(lambda: decisions(tautd)[0]["outcome"] == "applied", 30), "and the decision is applied when it has rolled out",
                decisions(tautd)[:2])
    stage.equal({cluster.limit(pod) for pod in cluster.pods}, {limit()}, "all pods have it")
    patches = [r for r in cluster.requests if r.startswith("PATCH")]
    stage.check(all(r.startswith("PATCH /apis/apps/v1/namespaces/shop/deployments/web application/apply-patch+yaml") for r in patches),
                "by server-side apply of the Deployment, and no pod is resized", patches)
    stage.equal(metric(tautd, 'tautd_kubernetes_changes_total{result="template"}'), cluster.rollouts, "the metric counts the applies")
    stage.check(daemon.eventually(lambda: owners_limit(tautd) == 512, 20), "the owner's limit is still known, by the note in the template",
                owners_limit(tautd))
    cluster.scrape_seconds = 6 * 3600  # beyond change_period
    stage.equal(tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "observe"})).status, 200, "mode observe is set")
    note = lambda: cluster.workload["spec"]["template"]["metadata"]["annotations"]  # noqa: E731
    stage.check(daemon.eventually(lambda: limit() == 512 and not note(), 60), "the owner's limit is in the template again", (limit(), note()))
    stage.equal(tautd.stop(), 0, "tautd stops")


def annotated(stage, cluster, port):
    """The Deployment says in an annotation what is recommended, and why, and loses it with mode off."""
    kubeconfig = stage.kubeconfig("kubeconfig9", port)
    config = f"""clock: samples
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, status_annotations: true}}
defaults: {{mode: observe, recommender: moving_window}}
"""
    for end in ("2bxnz", "4vqtr"):
        cluster.add(f"web-5d4f8c7b9d-{end}")
    log = {"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}
    for pod in list(cluster.pods.values()):  # with a container that is never measured
        pod["spec"]["containers"].append({"name": "log", "image": "registry/log:1", "resources": log})
        cluster.put(pod)
    cluster.annotate({"owner": "blue"})
    store = str(stage.dir / "annotated.db")
    cluster.refuse_status = (403, 'deployments.apps "web" is forbidden: cannot patch resource "deployments"')
    tautd = stage.tautd(config=config, store=store)
    stage.check(daemon.eventually(lambda: "observe/status_annotations.yaml" in tautd.output(), 40), "a missing right is said with the way out", tautd.output())
    stage.equal(tautd.output().count("cannot patch resource"), 1, "once")
    stage.equal(metric(tautd, 'tautd_kubernetes_status_writes_total{result="failed"}'), 1, "and asked for once in a while")
    stage.equal(tautd.stop(), 0, "tautd stops")

    cluster.refuse_status = None
    tautd = stage.tautd(config=config, store=store)
    status = lambda: cluster.deployment["metadata"]["annotations"].get("tautline.dev/status", "")  # noqa: E731
    stage.check(daemon.eventually(lambda: "memory request" in status(), 60), "the Deployment has it", status())
    form = r"app observe: cpu request \d+m limit \d+m \([^()]+\), memory request (\d+)Mi limit (\d+)Mi \([^()]+\)"
    found = re.match(form, status())
    would_be = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")["memory"]["would_be"]
    stage.check(found and abs(int(found[2]) - would_be / MIB) <= max(1, would_be / MIB / 10) and abs(2 * int(found[1]) - int(found[2])) <= 2,
                "request and limit are those that pods would get, with the reason", (status(), would_be))
    sent = lambda: [r for r in cluster.requests if r.startswith("PATCH")]  # noqa: E731
    stage.equal(cluster.deployment["metadata"]["annotations"]["owner"], "blue", "other annotations stay")
    settings = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    stage.check(not any("status" in n for n in settings["notices"]) and not any(k.endswith("/status") for k in settings["labels"]),
                "it is no setting of the job", (settings["notices"], settings["labels"]))
    pod, app = settings["pod"], {r: settings[r]["would_be"] for r in ("cpu", "memory")}
    stage.check(pod and (pod["containers"], pod["recommended"], pod["cpu"]["limit"]) == (2, 1, None) and abs(pod["memory"]["limit"] - app["memory"] - 64 * MIB) < 2
                and abs(pod["memory"]["request"] - app["memory"] / 2 - 32 * MIB) < 2 and abs(pod["cpu"]["request"] - app["cpu"] / 10 - 0.05) < 0.002,
                "the API sums up what is recommended and what the other container has", (pod, app))
    shown = " ".join(stage.taut(tautd, "job", JOB).stdout.split())
    stage.check(re.search(r"a pod of 2 containers, 1 of them recommended: cpu request \d+ mcores, limit none; memory request [\d.]+ MiB, limit [\d.]+ MiB", shown),
                "taut job shows it with units", shown)
    before = sent()
    stage.equal(tautd.stop(), 0, "tautd stops")
    tautd = stage.tautd(config=config, store=store)
    time.sleep(16)  # beyond StatusWriter::Options::settle_s
    stage.equal(sent(), before, "after a restart the same is not written again")
    stage.equal(tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "off"})).status, 200, "mode off is set")
    stage.check(daemon.eventually(lambda: cluster.deployment["metadata"]["annotations"] == {"owner": "blue"}, 40), "and the annotation goes", status())
    paths = {r.split(" ")[1] for r in sent()}
    stage.equal(paths, {"/apis/apps/v1/namespaces/shop/deployments/web"}, "nothing else is patched")
    stage.equal(tautd.stop(), 0, "tautd stops")


def starting(stage, cluster, port):
    """A pod that starts has more CPU for a while, and then what is ordered."""
    kubeconfig = stage.kubeconfig("kubeconfig6", port)
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    old, new = "web-5d4f8c7b9d-2bxnz", "web-5d4f8c7b9d-4vqtr"
    cluster.add(old)
    tautd = stage.tautd(config=config, store="memory")

    def cpu(pod):
        text = cluster.pods[pod]["spec"]["containers"][0]["resources"]["limits"]["cpu"]
        return int(text[:-1]) if text.endswith("m") else 1000 * int(text)

    stage.check(daemon.eventually(lambda: cpu(old) < 1000, 60), "a pod gets less than its owner's CPU limit", cpu(old))
    cluster.scrape_seconds = 60  # no other decision
    window = 12
    cluster.annotate({"tautline.dev/cpu.startup_window": f"{window}s", "tautline.dev/cpu.startup_factor": "8"})
    stage.check(daemon.eventually(lambda: setting(tautd, "cpu.startup_window")["value"] == f"{window}s", 20), "an annotation sets its start-up window",
                setting(tautd, "cpu.startup_window"))
    explained = lambda: tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}/explain")["cpu"]["paragraph"]  # noqa: E731
    stage.check(f"In the first {window}s after its start a task gets" in explained() and "as no start was seen yet" in explained(),
                "taut explain says what a start gets", explained())
    limit, taken = cpu(old), len(decisions(tautd, "cpu"))
    begin = time.time()
    cluster.add(new, started=begin)
    stage.check(daemon.eventually(lambda: abs(cpu(new) - 8 * limit) <= 8, 10), "a pod that starts gets eight times the limit", (limit, cpu(new)))
    stage.check(daemon.eventually(lambda: cpu(new) == limit, window + 15), "and then the limit", (limit, cpu(new)))
    stage.check(time.time() - begin >= window - 1, "after its window", time.time() - begin)
    stage.equal(cpu(old), limit, "the other pod has had it all the time")
    resizes = [r for r in cluster.requests if r.startswith("PATCH") and f"/pods/{new}/resize" in r and "cpu" in r]
    stage.equal(len(resizes), 2, "one resize gave it, and one took it back")
    stage.equal((len(decisions(tautd, "cpu")), metric(tautd, "tautd_kubernetes_stepped_back_total"), metric(tautd, "tautd_kubernetes_startups_total")),
                (taken, 0, 1), "which is no decision, no change by another, and counted")
    stage.equal(tautd.stop(), 0, "tautd stops")


def runs(stage, cluster, port):
    """Jobs that no CronJob makes are one job by the program that they run, and a new run has its limit at once."""
    kubeconfig = stage.kubeconfig("kubeconfig7", port)
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s}}
rules:
  - {{name: imports, match: {{job: "*/job/import/*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    cluster.jobs = [{"name": "load-x2x4z", "generateName": "import-"}, {"name": "import-20231115-0300"},
                    {"name": "by-hand", "annotations": {"tautline.dev/job": "import"}}, {"name": "export-2"}]
    for job in ("load-x2x4z", "import-20231115-0300", "by-hand", "export-2"):
        cluster.add(f"{job}-4vqtr", owner=("Job", job), image="registry/by-hand:1" if job == "by-hand" else "registry/app:1")
    cluster.add("build-x2x4z-unit-1234567890", owner=("Workflow", "build-x2x4z"))
    cluster.add("build-9kdlw-unit-4567890123", owner=("Workflow", "build-9kdlw"))
    cluster.scrape_seconds = 60  # until tautd knows the time, and with it the owners
    tautd = stage.tautd(config=config, store=str(stage.dir / "runs.db"))
    stage.check(daemon.eventually(lambda: cluster.seconds >= 240, 30), "usage is read", cluster.seconds)
    cluster.scrape_seconds = 6 * 3600
    names = lambda: sorted((j["name"], j["tasks"]) for j in tautd.get("/api/v1/jobs")["jobs"] if j["last_seen"])  # noqa: E731
    expected = [("shop/job/export-2/app", 1), ("shop/job/import/app", 3), ("shop/workflow/build-unit/app", 2)]
    stage.check(daemon.eventually(lambda: names() == expected, 60), "runs are tasks of the job of their program", names())
    imports = ["load-x2x4z-4vqtr", "import-20231115-0300-4vqtr", "by-hand-4vqtr"]
    stage.check(daemon.eventually(lambda: all(cluster.limit(pod) < 300 for pod in imports), 60), "whose limit all of them get",
                [cluster.limit(pod) for pod in imports])
    stage.equal(cluster.limit("export-2-4vqtr"), 512, "and no other")
    notices = lambda: tautd.get(f"/api/v1/jobs/{daemon.quoted('shop/job/import/app')}")["notices"]  # noqa: E731
    stage.check(any("registry/by-hand in by-hand-4vqtr" in n and "tautline.dev/job" in n for n in notices()),
                "a notice names runs whose images differ", notices())
    shown = stage.taut(tautd, "job", "shop/job/import/app").stdout
    stage.check("Runs of different programs may be one job" in shown, "and taut job shows it", shown)
    report = json.loads(stage.taut(tautd, "export", "--format", "report", "--by", "namespace,team", "--output", "json").stdout)
    stage.equal([(g["labels"], g["recommended"], g["changed"]) for g in report["groups"]], [({"namespace": "shop", "team": "blue"}, 3, 3)],
                "taut export reports what would change, by labels")
    requests = report["total"]["memory"]["requests"]
    stage.equal((requests["now"] / MIB, 0 < requests["saved"] < requests["now"]), (6 * 256, True), "and save")
    cluster.scrape_seconds = 60  # no other decision
    stage.equal(tautd.stop(), 0, "tautd stops")
    for pod in imports:
        cluster.remove(pod)
    tautd = stage.tautd(config=config, store=str(stage.dir / "runs.db"))
    cluster.add("import-7pmzs-2bxnz", owner=("Job", "import-7pmzs"))
    stage.check(daemon.eventually(lambda: cluster.limit("import-7pmzs-2bxnz") < 300, 30), "after a restart a new run has the limit of those before it",
                cluster.limit("import-7pmzs-2bxnz"))
    stage.equal(tautd.stop(), 0, "tautd stops")


def deployed(stage, cluster, port):
    """Nothing is lowered on the first day of a new image, also after a restart and a rollback."""
    kubeconfig = stage.kubeconfig("kubeconfig8", port)
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: observe, recommender: moving_window}}}}
"""
    old, new = "web-5d4f8c7b9d-2bxnz", "web-7c9b8d5f4d-4vqtr"
    cluster.add(old)
    store = str(stage.dir / "deployed.db")
    tautd = stage.tautd(config=config, store=store)
    job = lambda: tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")  # noqa: E731
    version = lambda: setting(tautd, "version")["value"] if decisions(tautd) else ""  # noqa: E731
    stage.check(daemon.eventually(lambda: decisions(tautd) and version() == "app:1", 60), "the version is the image; the first begins none",
                version())
    cluster.scrape_seconds = 60
    cluster.add(new, image="registry/app:2")
    stage.check(daemon.eventually(lambda: version().startswith("app:2 since 2023-11-") and version().endswith(" beside app:1"), 30),
                "another image begins a version, beside the old one", version())
    began = version().split(" ")[2]
    stage.equal(tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "auto"})).status, 200, "mode auto is set")
    holds = lambda: [h["sentence"] for h in job()["holds"] if h["resource"] == "memory"]  # noqa: E731
    stage.check(daemon.eventually(lambda: any("the version app:2 began" in h and "no limit is lowered in its first 24 h" in h for h in holds()), 30),
                "no limit is lowered, and the job says why", holds())
    shown = stage.taut(tautd, "job", JOB).stdout
    stage.check("the version app:2 began" in shown, "so does taut job", shown)
    stage.equal(tautd.stop(), 0, "tautd stops")
    cluster.remove(old)
    tautd = stage.tautd(config=config, store=store)
    stage.check(daemon.eventually(lambda: version() == f"app:2 since {began}", 30), "a restart forgets nothing; the rollout ends", version())
    stage.check(daemon.eventually(lambda: holds() and "the version app:2 began" in holds()[0], 30), "and the hold goes on", holds())
    scraped = cluster.seconds
    daemon.eventually(lambda: cluster.seconds >= scraped + 180, 30)  # the rollback is of another minute than the rollout
    cluster.remove(new)
    cluster.add(old)
    stage.check(daemon.eventually(lambda: version().startswith("app:1 since ") and began not in version(), 30), "a rollback begins a version", version())
    stage.equal(cluster.limit(old), 512, "and nothing was lowered")
    cluster.scrape_seconds = 6 * 3600
    stage.check(daemon.eventually(lambda: cluster.limit(old) < 300, 60), "after the day it is", (cluster.limit(old), holds()))
    stage.equal(tautd.stop(), 0, "tautd stops")


def evicted(stage, cluster, port):
    """Where no resize is possible and pods may be evicted, those that replace them start with the limit."""
    kubeconfig = stage.kubeconfig("kubeconfig3", port)
    cluster.webhook_port = daemon.free_port()
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, fallback: evict, evict_after: 10s,
             admission: {{listen: 127.0.0.1:{cluster.webhook_port}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    cluster.is_infeasible = True
    cluster.budget = "web"
    before = {"web-5d4f8c7b9d-2bxnz", "web-5d4f8c7b9d-4vqtr"}
    for pod in before:
        cluster.add(pod)
    tautd = stage.tautd(config=config, store=str(stage.dir / "evicted.db"))
    told = lambda text: [d for d in decisions(tautd) if text in d["outcome_text"]]  # noqa: E731
    refused = daemon.eventually(lambda: told("is refused by PodDisruptionBudget web (The disruption budget web needs"), 90)
    stage.check(refused, "the decision names the PodDisruptionBudget that lets no pod be evicted", decisions(tautd)[:2])
    stage.equal((set(cluster.pods), refused[0]["outcome"]), (before, "pending"), "and waits for it")
    cluster.scrape_seconds = 60  # no other decision
    cluster.budget = None
    stage.check(daemon.eventually(lambda: not before & set(cluster.pods), 90), "then one pod after the other is evicted", set(cluster.pods))
    stage.check(daemon.eventually(lambda: len(cluster.pods) == 2 and decisions(tautd)[0]["outcome"] == "applied", 20),
                "and those that replace them run with the limit", decisions(tautd)[:2])
    stage.check(all(cluster.limit(pod) < 300 for pod in cluster.pods), "that the webhook gave them", list(cluster.pods.values()))
    stage.check(daemon.eventually(lambda: any(e["reason"] == "PodEvicted" and e["involvedObject"]["uid"] == "d-1" for e in cluster.said), 20),
                "an Event of the Deployment says so", [e["reason"] for e in cluster.said])
    stage.equal(metric(tautd, 'tautd_kubernetes_evictions_total{result="evicted"}'), 2, "two pods were evicted")
    stage.check("pod_evicted pod=shop/web-5d4f8c7b9d-" in tautd.output(), "and a line of the log for each")
    stage.check(daemon.eventually(lambda: owners_limit(tautd) == 512, 20), "the owner's limit is that of the template", owners_limit(tautd))
    stage.equal(tautd.stop(), 0, "tautd stops")


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        cluster = Cluster()
        Handler.cluster = cluster
        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        canary(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        evicted(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        by_metrics_api(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        in_template(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        starting(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        runs(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        deployed(stage, cluster, server.server_address[1])
        cluster = Cluster()
        Handler.cluster = cluster
        annotated(stage, cluster, server.server_address[1])
        server.shutdown()
        stage.finish()


def decisions(tautd, target="memory"):
    return [d for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["target"] == target]


def patches_of(cluster):
    return len([r for r in cluster.requests if r.startswith("PATCH")])


def metric(tautd, name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", tautd.ask("/metrics").text, re.M)
    return float(found[1]) if found else None


def container(tautd):
    """What the API says of the job's container; absent right after a start."""
    return tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")["container"]


def setting(tautd, key):
    return next(s for s in tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings")["values"] if s["key"] == key)


def steered(stage, cluster, tautd, pod):
    """Annotations of the Deployment, as kubectl annotate writes them."""
    request = lambda: cluster.pods[pod]["spec"]["containers"][0]["resources"]["requests"]["memory"]  # noqa: E731
    cluster.scale_by("memory")
    # Its watch and that of the annotation are two: the latter may come first.
    stage.check(daemon.eventually(lambda: container(tautd)["memory"]["scaled_by"], 20), "tautd knows the HorizontalPodAutoscaler",
                container(tautd))
    daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd)), 20)
    before, requested = cluster.limit(pod), request()
    cluster.annotate({"tautline.dev/memory.lower": "600MiB", "app.tautline.dev/class": "batch", "tautline.dev/mod": "auto"})
    stage.check(daemon.eventually(lambda: setting(tautd, "memory.lower")["source"] == "annotation tautline.dev/memory.lower", 20),
                "an annotation of the Deployment is a setting of its job", setting(tautd, "memory.lower"))
    stage.equal(setting(tautd, "class")["value"], "batch", "also one of the container")
    notices = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")["notices"]
    stage.check(any("tautline.dev/mod is not used" in n and '"mode"' in n for n in notices), "an unknown one is a notice of the job",
                notices)
    stage.check(daemon.eventually(lambda: cluster.limit(pod) >= 600, 30), "the limit follows", (before, cluster.limit(pod)))
    stage.equal(request(), requested, "the request by which a HorizontalPodAutoscaler scales stays")
    export = stage.taut(tautd, "export", "--format", "patch").stdout
    stage.check("the memory request stays: the HorizontalPodAutoscaler shop/web scales" in export and "requests: {cpu: " in export
                and ", memory" not in re.search(r"requests: (.*)", export)[1], "taut export leaves it out and says why", export)
    cluster.scale_by(None)
    stage.check(daemon.eventually(lambda: request() != requested, 20), "and follows once there is none", request())
    cluster.annotate({})
    stage.check(daemon.eventually(lambda: setting(tautd, "memory.lower")["source"] != "annotation tautline.dev/memory.lower", 20),
                "and is free again without it", setting(tautd, "memory.lower"))


def review(memory="1024Mi", **more):
    """What the API server asks before it creates a pod of the Deployment."""
    resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": memory}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "r-1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "namespace": "shop",
        "object": {"metadata": {"generateName": "web-5d4f8c7b9d-", "ownerReferences": [
            {"kind": "ReplicaSet", "name": "web-5d4f8c7b9d", "controller": True}], **more},
            "spec": {"containers": [{"name": "app", "resources": resources}]}}}}


def admitted(stage, cluster, port, pod):
    """The mutating webhook, by the certificate that tautd has written to its configuration."""
    told = lambda: [r for r in cluster.requests if r.startswith("PATCH") and "/mutatingwebhookconfigurations/tautline" in r]  # noqa: E731
    stage.check(daemon.eventually(told, 20), "tautd writes its certificate to the configuration of the webhook")
    sent = json.loads(told()[0].split(" ", 3)[3])["webhooks"]
    stage.equal([w["name"] for w in sent], ["pods.tautline.dev"], "by the webhook's name")
    trusted = ssl.create_default_context(cadata=base64.b64decode(sent[0]["clientConfig"]["caBundle"]).decode())
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusted, timeout=10)

    def ask(body, path="/admit"):
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def reviewed():
        """Its status, response and the limits of memory of the new pod and of the other, which may change at any time."""
        status, text = ask(json.dumps(review()))
        response = json.loads(text)["response"]
        patch = {o["path"]: o["value"] for o in json.loads(base64.b64decode(response.get("patch", "W10=")))}
        return status, response, patch, mebibytes(patch.get("/spec/containers/0/resources/limits/memory", "0Mi")), cluster.limit(pod)

    def agreed():
        answer = reviewed()
        return answer if answer[3] == answer[4] else None

    status, response, patch, given, in_force = daemon.eventually(agreed, 20) or reviewed()
    stage.equal((status, response["uid"], response["allowed"]), (200, "r-1", True), "a new pod is allowed")
    stage.equal(given, in_force, "and starts with the limit that is in force")
    noted = json.loads(patch["/metadata/annotations"]["tautline.dev/owner-resources"])
    stage.equal(noted["app"]["limits"], {"cpu": "1", "memory": "1024Mi"}, "its owner's limits are noted")
    other = review()
    other["request"]["namespace"] = "elsewhere"
    stage.check("patch" not in json.loads(ask(json.dumps(other))[1])["response"], "a pod of another workload starts as it is")
    stage.equal(ask("nonsense")[0], 400, "nonsense is refused")
    stage.equal(ask("{}", "/api/v1/jobs")[0], 401, "nothing else is answered without a token")
    body, times = json.dumps(review()), []
    for _ in range(1000):
        begin = time.perf_counter()
        ask(body)
        times.append(1000 * (time.perf_counter() - begin))
    times.sort()
    print(f"      a review is answered in {times[500]:.2f} ms (median), {times[990]:.2f} ms (99th percentile)")


def owners_limit(tautd):
    """In MiB; 0: not known. Of the last window, which after a start may be one of pods whose owner's limits are not known yet."""
    job = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    return (job["memory"]["owner_limit"] or 0) / MIB


def run(stage, cluster, port):
    kubeconfig = stage.kubeconfig("kubeconfig", port)
    admission = daemon.free_port()
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, scale: true, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    first, second = "web-5d4f8c7b9d-2bxnz", "web-5d4f8c7b9d-4vqtr"
    cluster.add(first)
    tautd = stage.tautd(config=config, store=str(stage.dir / "tautd.db"))

    ready = stage.taut(tautd, "status", "--ready")
    stage.equal((ready.returncode, ready.stderr), (0, ""), "taut status --ready")

    # ---- an over-asked container gets less, through the API server's own interface ----
    stage.check(daemon.eventually(lambda: cluster.limit(first) < 300, 60), "a container of 20 MiB gets less than its 512 MiB",
                cluster.limit(first))
    stage.check(daemon.eventually(lambda: any(d["outcome"] == "applied" for d in decisions(tautd)), 20),
                "and the decision is applied", decisions(tautd)[:3])
    stage.equal(decisions(tautd)[-1]["before"] / MIB, 512, "from the owner's limit")
    stage.equal(tautd.get("/api/v1/status")["nodes"], 1, "the status says how many nodes the cluster has")
    patches = [r for r in cluster.requests if r.startswith("PATCH") and '"memory"' in r]
    stage.check("/api/v1/namespaces/shop/pods/web-5d4f8c7b9d-2bxnz/resize application/strategic-merge-patch+json" in patches[0],
                "by a strategic merge patch of pods/resize", patches[0])
    resources = cluster.pods[first]["spec"]["containers"][0]["resources"]
    stage.check(abs(mebibytes(resources["requests"]["memory"]) * 2 - mebibytes(resources["limits"]["memory"])) < 0.01,
                "the request keeps its ratio to the limit", resources)
    stage.equal(owners_limit(tautd), 512, "what was set is not taken for the owner's limit")
    stage.equal([job["name"] for job in tautd.get("/api/v1/jobs")["jobs"]], [JOB], "an init container is no job")
    job = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    stage.equal(job["container"], {"init": False, "guaranteed": False, "others_equal": True, "cpu": {"request": 0.1, "limit": 1, "scaled_by": None},
                                   "memory": {"request": 256 * MIB, "limit": 512 * MIB, "scaled_by": None}}, "the API says what the owner wants")
    export = stage.taut(tautd, "export", "--format", "patch").stdout
    found = re.search(r"requests: {cpu: (\d+)m, memory: \d+Mi}\n *limits: {cpu: (\d+)m, memory: \d+Mi}", export)
    stage.check(found and abs(10 * int(found[1]) - int(found[2])) <= 10, "taut export keeps the owner's ratio", export)
    labels = job["labels"]
    stage.equal(labels.get("team"), "blue", "the pod's labels are the job's")
    allowed = next(s["value"] for s in tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings")["values"]
                   if s["key"] == "cpu.allowed")
    stage.equal(allowed, "0.2 by LimitRange small..8 by the largest node for its tolerations (node-1)",
                "what the cluster allows is a setting: the request is a tenth of the limit, and a larger node has a taint")
    said = stage.taut(tautd, "explain", JOB).stdout
    stage.check("lower bound by LimitRange small" in said, "that is named where it binds", said)

    # ---- pods that come later ----
    cluster.add(second)
    stage.check(daemon.eventually(lambda: cluster.limit(second) == cluster.limit(first), 20), "a new pod gets the limit",
                cluster.limit(second))

    # ---- an OOM kill ----
    cluster.scrape_seconds = 300  # so that no series is idle
    begin = metric(tautd, 'tautd_kubernetes_scrapes_total{result="read"}')
    daemon.eventually(lambda: metric(tautd, 'tautd_kubernetes_scrapes_total{result="read"}') >= begin + 3, 20)
    daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd)), 20)
    before = cluster.limit(first)
    cluster.scrape_seconds = 60  # so that a kill that is shown late is not of long ago
    begin, killed = time.monotonic(), cluster.seconds
    cluster.kill_for_memory(first)
    raised = daemon.eventually(lambda: cluster.limit(first) > before and cluster.limit(second) > before, 20, 0.02)
    took = time.monotonic() - begin
    stage.check(raised, f"an OOM kill raises the limits of all pods ({took:.2f} s)")
    stage.check(any(d["kind"] == "oom_raise" for d in decisions(tautd)), "by a decision that says so")

    raises = lambda: sum(d["kind"] == "oom_raise" for d in decisions(tautd))  # noqa: E731
    kills = lambda: [o["limit"] / MIB for o in tautd.get("/api/v1/ooms")["ooms"] if o["job"] == JOB]  # noqa: E731
    decided = raises()
    cluster.kill_for_memory(second, seconds_ago=cluster.seconds - killed + 1)
    stage.check(daemon.eventually(lambda: len(kills()) == 2, 20), "a kill from before the raise is shown late", kills())
    time.sleep(1)
    stage.equal((raises(), [k <= before * 1.01 for k in kills()]), (decided, [True, True]),
                "it is charged to the limit of then, and raises nothing more")

    # ---- pods that are not restarted ----
    cluster.add("backup-1", owner=("Job", "backup"))
    cluster.add("backup-2", owner=("Job", "backup"))
    time.sleep(1.5)
    cluster.kill_for_memory("backup-1", is_restarted=False)
    cluster.kill_for_memory("backup-2", is_restarted=False)
    cluster.remove("backup-2")
    of_backup = lambda: [o for o in tautd.get("/api/v1/ooms")["ooms"] if o["job"].startswith("shop/job/backup")]  # noqa: E731
    stage.check(daemon.eventually(lambda: len(of_backup()) == 2, 20), "a Job's pods that end for their memory are kills, also one deleted at once",
                of_backup())
    cluster.remove("backup-1")
    cluster.scrape_seconds = 300

    reasons = lambda: {e["reason"] for e in cluster.said if e["involvedObject"]["uid"] == "d-1"}  # noqa: E731
    stage.check(daemon.eventually(lambda: {"LimitSet", "LimitRaised"} <= reasons(), 20), "Events of the Deployment say so", reasons())

    # ---- tautd is killed ----
    tautd.kill()
    cluster.remove(second)
    third = "web-5d4f8c7b9d-9kdlw"
    cluster.add(third)
    tautd = stage.tautd(config=config, store=str(stage.dir / "tautd.db"))
    stage.check(daemon.eventually(lambda: cluster.limit(third) == cluster.limit(first), 20),
                "a pod that came while tautd was down gets the limit that is in force", (cluster.limit(third), cluster.limit(first)))
    stage.check(daemon.eventually(lambda: owners_limit(tautd) == 512, 20), "the owner's limit is still known", owners_limit(tautd))

    # ---- a restart when all pods have been resized ----
    stage.equal(tautd.stop(), 0, "tautd stops")
    tautd = stage.tautd(config=config, store=str(stage.dir / "tautd.db"))
    in_template = lambda: container(tautd)  # noqa: E731
    stage.check(daemon.eventually(lambda: in_template() and in_template()["memory"]["limit"] == 512 * MIB, 20),
                "what the owner wants is read from the template of the ReplicaSet", in_template())
    stage.check(daemon.eventually(lambda: owners_limit(tautd) == 512, 20), "and the owner's limit is the same", owners_limit(tautd))

    # ---- another changes a limit ----
    daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd)), 20)
    stage.check(daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_synced") == 1, 10), "synced")
    time.sleep(2)
    patched = patches_of(cluster)
    with cluster.lock:
        pod = copy.deepcopy(cluster.pods[third])
        for resources in (pod["spec"]["containers"][0]["resources"], pod["status"]["containerStatuses"][0]["resources"]):
            resources["limits"]["memory"] = "3000Mi"
        cluster.put(pod)
    stage.check(daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_stepped_back_total") == 1, 20),
                "tautd sees that another has changed a limit")
    stage.equal((cluster.limit(third), patches_of(cluster)), (3000, patched), "and leaves it")

    # ---- the owner changes the template ----
    cluster.remove(first)
    cluster.remove(third)
    fourth = "web-5d4f8c7b9d-7pmzs"
    cluster.add(fourth, "1024Mi")
    stage.check(daemon.eventually(lambda: cluster.limit(fourth) < 512, 20), "the new pod is resized at once", cluster.limit(fourth))
    stage.check(daemon.eventually(lambda: owners_limit(tautd) == 1024, 20), "and the owner's new limit is known",
                owners_limit(tautd))

    # Of a Job whose pods have ended the raise waits for the next pod.
    settled = lambda: all(d["outcome"] != "pending" for d in decisions(tautd) if d["job"] == JOB)  # noqa: E731
    stage.check(daemon.eventually(settled, 20), "all decisions are applied")
    admitted(stage, cluster, admission, fourth)
    fifth = "web-5d4f8c7b9d-x2x4z"
    cluster.template_memory = "2048Mi"
    cluster.add(fifth, f"{cluster.limit(fourth)}Mi", annotations={"tautline.dev/owner-resources": json.dumps(
        {"app": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "900Gi"}}})})
    stage.check(daemon.eventually(lambda: owners_limit(tautd) == 2048, 20), "the owner's limit of such a pod is that of its template, whatever it notes",
                owners_limit(tautd))
    cluster.remove(fifth)

    steered(stage, cluster, tautd, fourth)

    # ---- the API server refuses ----
    cluster.refuse = (403, 'pods "web" is forbidden: User "taut" cannot patch resource "pods/resize"')
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "observe"}))
    stage.equal(answer.status, 200, "mode observe is set")
    refused = daemon.eventually(lambda: [d for d in decisions(tautd) if d["kind"] == "release" and d["outcome"] == "failed"], 20)
    stage.check(refused and "cannot patch resource" in refused[0]["outcome_text"], "the decision says what the API server says",
                decisions(tautd)[:2])
    warned = lambda: [e for e in cluster.said if e["reason"] == "LimitNotSet"]  # noqa: E731
    said_so = lambda: [e for e in warned() if "cannot patch resource" in e["message"]]  # noqa: E731
    stage.check(daemon.eventually(said_so, 20) and all(e["type"] == "Warning" for e in warned()),
                "so does an Event, as a warning", warned())
    cluster.refuse = None

    # ---- the owner's limits again; a restart tries at once what was refused ----
    stage.equal(tautd.stop(), 0, "tautd stops")
    tautd = stage.tautd(config=config, store=str(stage.dir / "tautd.db"))
    stage.check(daemon.eventually(lambda: cluster.limit(fourth) == 1024, 30),
                "mode observe gives the limit of the template back", cluster.limit(fourth))
    stage.equal(metric(tautd, "tautd_kubernetes_pods"), 1, "one pod is watched")
    cluster.annotate({"tautline.dev/class": "batch"})
    stage.check(daemon.eventually(lambda: setting(tautd, "class")["value"] == "batch", 20), "an annotation again", setting(tautd, "class"))
    stage.equal(tautd.stop(), 0, "tautd stops")
    tautd = stage.tautd(config=config.replace("scale: true", "scale: true, annotations: false"), store=str(stage.dir / "tautd.db"))
    stage.check(daemon.eventually(lambda: setting(tautd, "class")["source"] == "default", 20),
                "kubernetes.annotations: false takes it back", setting(tautd, "class"))
    lists = len([r for r in cluster.requests if r == "GET /api/v1/pods"])
    stage.equal(lists, 5, "the pods were listed once for each start")
    stage.equal(tautd.stop(), 0, "tautd stops in time")


if __name__ == "__main__":
    main()
