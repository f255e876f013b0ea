"""tautd in a cluster: an API server of this test's own, whose pods use what it says and get the limits that are set.

Days pass in seconds: the kubelet's samples have their own times, and tautd takes its time from them. (A real cluster
is in tests/kubernetes.)
"""
import base64
import copy
import http.client
import json
import re
import ssl
import time


import pytest

import daemon
import fake_cluster
from daemon import metric
from fake_cluster import JOB, MIB, container, decisions, mebibytes, owners_limit, review, setting


def test_a_limit_is_tried_on_some_pods_and_then_set_on_all(stage, cluster):
    """A lower limit is tried on some of the pods, and set on all after the trial. A credential plugin authenticates tautd."""
    stage.file("login", f"""#!/bin/sh
echo run >>{stage.dir}/login.runs
echo "{{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{{\\"token\\":\\"$WHO\\"}}}}"
""").chmod(0o700)
    kubeconfig = stage.file("kubeconfig2", f"""current-context: test
contexts: [{{name: test, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{cluster.port}"}}}}]
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
    assert daemon.eventually(lambda: limits() == [False, False, True, True], 60), (
        f"a trial is of half of the pods: {[cluster.limit(pod) for pod in pods]}")
    assert daemon.eventually(lambda: limits() == [True] * 4, 60), f"and its limit goes to all of them: {[cluster.limit(pod) for pod in pods]}"
    status = lambda: cluster.deployment["metadata"]["annotations"].get("tautline.dev/status", "")  # noqa: E731
    form = r"app canary: cpu request \d+m limit \d+m (set|on trial|waits) .*, memory request \d+Mi limit \d+Mi (set|on trial|waits) .*"
    assert daemon.eventually(lambda: re.fullmatch(form, status()), 40), f"the Deployment's annotation says how far it is: {status()}"
    kinds = [d["kind"] for d in reversed(decisions(tautd))]
    assert kinds[:2] == ["try", "promote"], "as two decisions"
    scraped = {r.rsplit("/", 1)[1] for r in cluster.requests if "/proxy/metrics/" in r}
    assert scraped == {"resource"}, "by the usage that kubernetes.usage names"
    assert cluster.users == {"Bearer plugged"}, "the token of each request is the plugin's"
    assert (stage.dir / "login.runs").read_text() == "run\n", "which ran once for all connections"
    assert tautd.stop() == 0, "tautd stops"


def test_usage_may_come_from_the_metrics_api(stage, cluster):
    """If the proxy to the kubelets is not allowed, usage comes from metrics.k8s.io."""
    kubeconfig = stage.kubeconfig("kubeconfig4", cluster.port)
    config = """clock: samples
ingest: {{kubernetes_jobs: containers, grace: 0s}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, usage: {usage}}}
defaults: {{mode: observe, recommender: moving_window}}
"""
    cluster.no_proxy = True
    for end in ("2bxnz", "4vqtr"):
        cluster.add(f"web-5d4f8c7b9d-{end}")
    tautd = stage.tautd(config=config.format(kubeconfig=kubeconfig, usage="cadvisor"), store="memory")
    assert daemon.eventually(lambda: "nodes/proxy" in tautd.output(), 30), f"a refused proxy is said: {tautd.output()}"
    tautd.stop()
    tautd = stage.tautd(config=config.format(kubeconfig=kubeconfig, usage="metrics_api"), store="memory")
    usage = lambda: [(j["name"], j["tasks"], round(j["cpu"]["usage"] or 0, 3), (j["memory"]["usage"] or 0) / MIB,  # noqa: E731
                      (j["memory"]["owner_limit"] or 0) / MIB) for j in tautd.get("/api/v1/jobs")["jobs"] if j["last_seen"]]
    assert daemon.eventually(lambda: usage() == [(JOB, 2, 0.125, 20, 512)], 60), (
        f"the metrics API says what pods use; init containers do not count: {usage()}")
    assert metric(tautd, 'tautd_kubernetes_scrapes_total{result="failed"}') == 0, "and nothing fails"
    assert tautd.stop() == 0, "tautd stops"


def test_a_custom_kind_is_scaled_by_its_subresource(stage, cluster):
    """A kind outside the configuration has a number of replicas too, if discovery reports a scale subresource."""
    kubeconfig = stage.kubeconfig("kubeconfig10", cluster.port)
    for end in ("2bxnz", "4vqtr"):
        cluster.add(f"web-5d4f8c7b9d-{end}")
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
    assert daemon.eventually(failed, 60), f"a paused ScaledObject holds the number, and the decision names it: {decisions(tautd, 'replicas')}"
    notices = tautd.get("/api/v1/jobs/" + daemon.quoted("shop/rollout/web/app"))["notices"]
    assert any(why in n for n in notices), f"so does a notice of the job: {notices}"
    assert cluster.replicas is None, "and nothing is scaled"
    assert tautd.stop() == 0, "tautd stops"
    cluster.scaled_objects = []
    tautd = stage.tautd(config=config, store="memory")
    assert daemon.eventually(lambda: cluster.replicas == 5, 60), f"without it the Rollout is scaled: {cluster.replicas}"
    path = "PATCH /apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web/scale application/merge-patch+json"
    assert any(r.startswith(path) for r in cluster.requests), f"through its subresource: {[r for r in cluster.requests if r.startswith('PATCH')]}"
    said = lambda: [(d["job"], d["after"], d["outcome"]) for d in tautd.get("/api/v1/decisions?target=replicas")["decisions"]]  # noqa: E731
    assert daemon.eventually(lambda: said() == [("shop/rollout/web/app", 5, "applied")], 20), f"as one decision: {said()}"
    assert tautd.stop() == 0, "tautd stops"


def test_a_template_is_set_rolls_out_and_is_the_owners_again(stage, cluster):
    """The Deployment's template is set, and rolls out; in mode observe it is the owner's again."""
    kubeconfig = stage.kubeconfig("kubeconfig5", cluster.port)
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
    assert daemon.eventually(lambda: limit() < 300, 60), f"the template gets less than its 512 MiB: {limit()}"
    cluster.scrape_seconds = 60  # no other decision
    assert daemon.eventually(lambda: decisions(tautd)[0]["outcome"] == "applied", 30), (
        f"and the decision is applied when it has rolled out: {decisions(tautd)[:2]}")
    assert {cluster.limit(pod) for pod in cluster.pods} == {limit()}, "all pods have it"
    patches = [r for r in cluster.requests if r.startswith("PATCH")]
    assert all(r.startswith("PATCH /apis/apps/v1/namespaces/shop/deployments/web application/apply-patch+yaml") for r in patches), (
        f"by server-side apply of the Deployment, and no pod is resized: {patches}")
    assert metric(tautd, 'tautd_kubernetes_changes_total{result="template"}') == cluster.rollouts, "the metric counts the applies"
    assert daemon.eventually(lambda: owners_limit(tautd) == 512, 20), (
        f"the owner's limit is still known, by the note in the template: {owners_limit(tautd)}")
    cluster.scrape_seconds = 6 * 3600  # beyond change_period
    assert tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "observe"})).status == 200, "mode observe is set"
    note = lambda: cluster.workload["spec"]["template"]["metadata"]["annotations"]  # noqa: E731
    assert daemon.eventually(lambda: limit() == 512 and not note(), 60), f"the owner's limit is in the template again: {(limit(), note())}"
    assert tautd.stop() == 0, "tautd stops"


def test_the_deployment_says_what_is_recommended(stage, cluster):
    """An annotation of the Deployment shows the recommendation and its reason; mode off removes it."""
    kubeconfig = stage.kubeconfig("kubeconfig9", cluster.port)
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
    assert daemon.eventually(lambda: "observe/status_annotations.yaml" in tautd.output(), 40), (
        f"a missing right is said with the way out: {tautd.output()}")
    assert tautd.output().count("cannot patch resource") == 1, "once"
    assert metric(tautd, 'tautd_kubernetes_status_writes_total{result="failed"}') == 1, "and asked for once in a while"
    assert tautd.stop() == 0, "tautd stops"

    cluster.refuse_status = None
    tautd = stage.tautd(config=config, store=store)
    status = lambda: cluster.deployment["metadata"]["annotations"].get("tautline.dev/status", "")  # noqa: E731
    assert daemon.eventually(lambda: "memory request" in status(), 60), f"the Deployment has it: {status()}"
    form = r"app observe: cpu request \d+m limit \d+m \([^()]+\), memory request (\d+)Mi limit (\d+)Mi \([^()]+\)"
    found = re.match(form, status())
    would_be = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")["memory"]["would_be"]
    assert found and abs(int(found[2]) - would_be / MIB) <= max(1, would_be / MIB / 10) and abs(2 * int(found[1]) - int(found[2])) <= 2, (
        f"request and limit are those that pods would get, with the reason: {(status(), would_be)}")
    sent = lambda: [r for r in cluster.requests if r.startswith("PATCH")]  # noqa: E731
    assert cluster.deployment["metadata"]["annotations"]["owner"] == "blue", "other annotations stay"
    settings = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    assert not any("status" in n for n in settings["notices"]) and not any(k.endswith("/status") for k in settings["labels"]), (
        f"it is no setting of the job: {(settings['notices'], settings['labels'])}")
    pod, app = settings["pod"], {r: settings[r]["would_be"] for r in ("cpu", "memory")}
    assert (pod and (pod["containers"], pod["recommended"], pod["cpu"]["limit"]) == (2, 1, None) and abs(pod["memory"]["limit"] - app["memory"] - 64 * MIB) < 2
                and abs(pod["memory"]["request"] - app["memory"] / 2 - 32 * MIB) < 2 and abs(pod["cpu"]["request"] - app["cpu"] / 10 - 0.05) < 0.002), (
        f"the API sums up what is recommended and what the other container has: {(pod, app)}")
    shown = " ".join(stage.taut(tautd, "get", "job", JOB).stdout.split())
    assert re.search(r"a pod of 2 containers, 1 of them recommended: cpu request \d+ mcores, limit none; memory request [\d.]+ MiB, limit [\d.]+ MiB", shown), (
        "taut get job shows it with units")
    before = sent()
    assert tautd.stop() == 0, "tautd stops"
    tautd = stage.tautd(config=config, store=store)
    fake_cluster.await_scrapes(tautd, 16)  # beyond StatusWriter::Options::settle_s
    assert sent() == before, "after a restart the same is not written again"
    assert tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "off"})).status == 200, "mode off is set"
    assert daemon.eventually(lambda: cluster.deployment["metadata"]["annotations"] == {"owner": "blue"}, 40), f"and the annotation goes: {status()}"
    paths = {r.split(" ")[1] for r in sent()}
    assert paths == {"/apis/apps/v1/namespaces/shop/deployments/web"}, "nothing else is patched"
    assert tautd.stop() == 0, "tautd stops"


def test_a_pod_that_starts_has_more_cpu_for_a_while(stage, cluster):
    """A starting pod has more CPU for a while, and then the ordered limit."""
    kubeconfig = stage.kubeconfig("kubeconfig6", cluster.port)
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

    assert daemon.eventually(lambda: cpu(old) < 1000, 60), f"a pod gets less than its owner's CPU limit: {cpu(old)}"
    cluster.scrape_seconds = 60  # no other decision
    window = 12
    cluster.annotate({"tautline.dev/cpu.startup_window": f"{window}s", "tautline.dev/cpu.startup_factor": "8"})
    assert daemon.eventually(lambda: setting(tautd, "cpu.startup_window")["value"] == f"{window}s", 20), (
        f"an annotation sets its start-up window: {setting(tautd, 'cpu.startup_window')}")
    explained = lambda: tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}/explain")["cpu"]["paragraph"]  # noqa: E731
    assert f"In the first {window}s after its start a task gets" in explained() and "as no start was seen yet" in explained(), (
        "taut explain says what a start gets")
    limit, taken = cpu(old), len(decisions(tautd, "cpu"))
    begin = time.time()
    cluster.add(new, started=begin)
    assert daemon.eventually(lambda: abs(cpu(new) - 8 * limit) <= 8, 10), f"a pod that starts gets eight times the limit: {(limit, cpu(new))}"
    assert daemon.eventually(lambda: cpu(new) == limit, window + 15), f"and then the limit: {(limit, cpu(new))}"
    assert time.time() - begin >= window - 1, "after its window"
    assert cpu(old) == limit, "the other pod has had it all the time"
    resizes = [r for r in cluster.requests if r.startswith("PATCH") and f"/pods/{new}/resize" in r and "cpu" in r]
    assert len(resizes) == 2, "one resize gave it, and one took it back"
    assert (len(decisions(tautd, "cpu")), metric(tautd, "tautd_kubernetes_stepped_back_total"), metric(tautd, "tautd_kubernetes_startups_total")) == (taken, 0, 1), (
        "which is no decision, no change by another, and counted")
    assert tautd.stop() == 0, "tautd stops"


def test_runs_of_a_program_are_one_job(stage, cluster):
    """Jobs without a CronJob are one job by the program that they run, and a new run has its limit at once."""
    kubeconfig = stage.kubeconfig("kubeconfig7", cluster.port)
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
    assert daemon.eventually(lambda: cluster.seconds >= 240, 30), f"usage is read: {cluster.seconds}"
    cluster.scrape_seconds = 6 * 3600
    names = lambda: sorted((j["name"], j["tasks"]) for j in tautd.get("/api/v1/jobs")["jobs"] if j["last_seen"])  # noqa: E731
    expected = [("shop/job/export-2/app", 1), ("shop/job/import/app", 3), ("shop/workflow/build-unit/app", 2)]
    assert daemon.eventually(lambda: names() == expected, 60), f"runs are tasks of the job of their program: {names()}"
    imports = ["load-x2x4z-4vqtr", "import-20231115-0300-4vqtr", "by-hand-4vqtr"]
    assert daemon.eventually(lambda: all(cluster.limit(pod) < 300 for pod in imports), 60), (
        f"whose limit all of them get: {[cluster.limit(pod) for pod in imports]}")
    assert cluster.limit("export-2-4vqtr") == 512, "and no other"
    notices = lambda: tautd.get(f"/api/v1/jobs/{daemon.quoted('shop/job/import/app')}")["notices"]  # noqa: E731
    assert any("registry/by-hand in by-hand-4vqtr" in n and "tautline.dev/job" in n for n in notices()), (
        f"a notice names runs whose images differ: {notices()}")
    shown = stage.taut(tautd, "get", "job", "shop/job/import/app").stdout
    assert "Runs of different programs may be one job" in shown, "and taut get job shows it"
    report = json.loads(stage.taut(tautd, "export", "--format", "report", "--by", "namespace,team", "--output", "json").stdout)
    assert [(g["labels"], g["recommended"], g["changed"]) for g in report["groups"]] == [({"namespace": "shop", "team": "blue"}, 3, 3)], (
        "taut export reports what would change, by labels")
    requests = report["total"]["memory"]["requests"]
    assert (requests["now"] / MIB, 0 < requests["saved"] < requests["now"]) == (6 * 256, True), "and save"
    cluster.scrape_seconds = 60  # no other decision
    assert tautd.stop() == 0, "tautd stops"
    for pod in imports:
        cluster.remove(pod)
    tautd = stage.tautd(config=config, store=str(stage.dir / "runs.db"))
    cluster.add("import-7pmzs-2bxnz", owner=("Job", "import-7pmzs"))
    assert daemon.eventually(lambda: cluster.limit("import-7pmzs-2bxnz") < 300, 30), (
        f"after a restart a new run has the limit of those before it: {cluster.limit('import-7pmzs-2bxnz')}")
    assert tautd.stop() == 0, "tautd stops"


def test_nothing_is_lowered_on_the_first_day_of_an_image(stage, cluster):
    """Nothing is lowered on the first day of a new image, also after a restart and a rollback."""
    kubeconfig = stage.kubeconfig("kubeconfig8", cluster.port)
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
    assert daemon.eventually(lambda: decisions(tautd) and version() == "app:1", 60), f"the version is the image; the first begins none: {version()}"
    cluster.scrape_seconds = 60
    cluster.add(new, image="registry/app:2")
    assert daemon.eventually(lambda: version().startswith("app:2 since 2023-11-") and version().endswith(" beside app:1"), 30), (
        f"another image begins a version, beside the old one: {version()}")
    began = version().split(" ")[2]
    assert tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "auto"})).status == 200, "mode auto is set"
    holds = lambda: [h["sentence"] for h in job()["holds"] if h["resource"] == "memory"]  # noqa: E731
    assert daemon.eventually(lambda: any("the version app:2 began" in h and "no limit is lowered in its first 24 h" in h for h in holds()), 30), (
        f"no limit is lowered, and the job says why: {holds()}")
    shown = stage.taut(tautd, "get", "job", JOB).stdout
    assert "the version app:2 began" in shown, "so does taut get job"
    assert tautd.stop() == 0, "tautd stops"
    cluster.remove(old)
    tautd = stage.tautd(config=config, store=store)
    assert daemon.eventually(lambda: version() == f"app:2 since {began}", 30), f"a restart forgets nothing; the rollout ends: {version()}"
    assert daemon.eventually(lambda: holds() and "the version app:2 began" in holds()[0], 30), f"and the hold goes on: {holds()}"
    scraped = cluster.seconds
    daemon.eventually(lambda: cluster.seconds >= scraped + 180, 30)  # the rollback is of another minute than the rollout
    cluster.remove(new)
    cluster.add(old)
    assert daemon.eventually(lambda: version().startswith("app:1 since ") and began not in version(), 30), f"a rollback begins a version: {version()}"
    assert cluster.limit(old) == 512, "and nothing was lowered"
    cluster.scrape_seconds = 6 * 3600
    assert daemon.eventually(lambda: cluster.limit(old) < 300, 60), f"after the day it is: {(cluster.limit(old), holds())}"
    assert tautd.stop() == 0, "tautd stops"


def test_pods_are_evicted_where_no_resize_is_possible(stage, cluster):
    """If no resize is possible and pods may be evicted, the pods that replace them start with the limit."""
    kubeconfig = stage.kubeconfig("kubeconfig3", cluster.port)
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
    assert refused, f"the decision names the PodDisruptionBudget that lets no pod be evicted: {decisions(tautd)[:2]}"
    assert (set(cluster.pods), refused[0]["outcome"]) == (before, "pending"), "and waits for it"
    cluster.scrape_seconds = 60  # no other decision
    cluster.budget = None
    assert daemon.eventually(lambda: not before & set(cluster.pods), 90), f"then one pod after the other is evicted: {set(cluster.pods)}"
    assert daemon.eventually(lambda: len(cluster.pods) == 2 and decisions(tautd)[0]["outcome"] == "applied", 20), (
        f"and those that replace them run with the limit: {decisions(tautd)[:2]}")
    assert all(cluster.limit(pod) < 300 for pod in cluster.pods), f"that the webhook gave them: {list(cluster.pods.values())}"
    assert daemon.eventually(lambda: any(e["reason"] == "PodEvicted" and e["involvedObject"]["uid"] == "d-1" for e in cluster.said), 20), (
        f"an Event of the Deployment says so: {[e['reason'] for e in cluster.said]}")
    assert metric(tautd, 'tautd_kubernetes_evictions_total{result="evicted"}') == 2, "two pods were evicted"
    assert "pod_evicted pod=shop/web-5d4f8c7b9d-" in tautd.output(), "and a line of the log for each"
    assert daemon.eventually(lambda: owners_limit(tautd) == 512, 20), f"the owner's limit is that of the template: {owners_limit(tautd)}"
    assert tautd.stop() == 0, "tautd stops"


def patches_of(cluster):
    return len([r for r in cluster.requests if r.startswith("PATCH")])


def steered(stage, cluster, tautd, pod):
    """Annotations of the Deployment, as kubectl annotate writes them."""
    request = lambda: cluster.pods[pod]["spec"]["containers"][0]["resources"]["requests"]["memory"]  # noqa: E731
    cluster.scale_by("memory")
    # Its watch and the annotation's are separate: the latter may report first.
    assert daemon.eventually(lambda: container(tautd)["memory"]["scaled_by"], 20), f"tautd knows the HorizontalPodAutoscaler: {container(tautd)}"
    daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd)), 20)
    before, requested = cluster.limit(pod), request()
    cluster.annotate({"tautline.dev/memory.lower": "600MiB", "app.tautline.dev/class": "batch", "tautline.dev/mod": "auto"})
    assert daemon.eventually(lambda: setting(tautd, "memory.lower")["source"] == "annotation tautline.dev/memory.lower", 20), (
        f"an annotation of the Deployment is a setting of its job: {setting(tautd, 'memory.lower')}")
    assert setting(tautd, "class")["value"] == "batch", "also one of the container"
    notices = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")["notices"]
    assert any("tautline.dev/mod is not used" in n and '"mode"' in n for n in notices), f"an unknown one is a notice of the job: {notices}"
    assert daemon.eventually(lambda: cluster.limit(pod) >= 600, 30), f"the limit follows: {(before, cluster.limit(pod))}"
    assert request() == requested, "the request by which a HorizontalPodAutoscaler scales stays"
    export = stage.taut(tautd, "export", "--format", "patch").stdout
    assert ("the memory request stays: the HorizontalPodAutoscaler shop/web scales" in export and "requests: {cpu: " in export
                and ", memory" not in re.search(r"requests: (.*)", export)[1]), "taut export leaves it out and says why"
    cluster.scale_by(None)
    assert daemon.eventually(lambda: request() != requested, 20), f"and follows once there is none: {request()}"
    cluster.annotate({})
    assert daemon.eventually(lambda: setting(tautd, "memory.lower")["source"] != "annotation tautline.dev/memory.lower", 20), (
        f"and is free again without it: {setting(tautd, 'memory.lower')}")


def admitted(stage, cluster, port, pod):
    """Calls the mutating webhook, with the certificate that tautd has written to its configuration."""
    told = lambda: [r for r in cluster.requests if r.startswith("PATCH") and "/mutatingwebhookconfigurations/tautline" in r]  # noqa: E731
    assert daemon.eventually(told, 20), "tautd writes its certificate to the configuration of the webhook"
    sent = json.loads(told()[0].split(" ", 3)[3])["webhooks"]
    assert [w["name"] for w in sent] == ["pods.tautline.dev"], "by the webhook's name"
    trusted = ssl.create_default_context(cadata=base64.b64decode(sent[0]["clientConfig"]["caBundle"]).decode())
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusted, timeout=10)

    def ask(body, path="/admit"):
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def reviewed():
        """Returns status, response and the memory limits of the new pod and of the other one, which may change at any time."""
        status, text = ask(json.dumps(review()))
        response = json.loads(text)["response"]
        patch = {o["path"]: o["value"] for o in json.loads(base64.b64decode(response.get("patch", "W10=")))}
        return status, response, patch, mebibytes(patch.get("/spec/containers/0/resources/limits/memory", "0Mi")), cluster.limit(pod)

    def agreed():
        answer = reviewed()
        return answer if answer[3] == answer[4] else None

    status, response, patch, given, in_force = daemon.eventually(agreed, 20) or reviewed()
    assert (status, response["uid"], response["allowed"]) == (200, "r-1", True), "a new pod is allowed"
    assert given == in_force, "and starts with the limit that is in force"
    noted = json.loads(patch["/metadata/annotations"]["tautline.dev/owner-resources"])
    assert noted["app"]["limits"] == {"cpu": "1", "memory": "1024Mi"}, "its owner's limits are noted"
    other = review()
    other["request"]["namespace"] = "elsewhere"
    assert "patch" not in json.loads(ask(json.dumps(other))[1])["response"], "a pod of another workload starts as it is"
    assert ask("nonsense")[0] == 400, "nonsense is refused"
    assert ask("{}", "/api/v1/jobs")[0] == 401, "nothing else is answered without a token"
    body, times = json.dumps(review()), []
    for _ in range(1000):
        begin = time.perf_counter()
        ask(body)
        times.append(1000 * (time.perf_counter() - begin))
    times.sort()
    print(f"      a review is answered in {times[500]:.2f} ms (median), {times[990]:.2f} ms (99th percentile)")


def config_of_one_workload(kubeconfig, admission):
    return f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, scale: true, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""


class TestOneWorkload:
    """One workload from its first limit on, across kills, restarts, changes by others and refusals."""

    @pytest.fixture(scope="class")
    def cluster(self):
        with fake_cluster.serving(fake_cluster.Cluster()) as its:
            yield its

    def test_tautd_is_ready(self, stage, story, cluster):
        story.admission = daemon.free_port()
        story.config = config_of_one_workload(stage.kubeconfig("kubeconfig", cluster.port), story.admission)
        story.first, story.second = "web-5d4f8c7b9d-2bxnz", "web-5d4f8c7b9d-4vqtr"
        cluster.add(story.first)
        story.tautd = stage.tautd(config=story.config, store=str(stage.dir / "tautd.db"))

        ready = stage.taut(story.tautd, "status", "--ready")
        assert (ready.returncode, ready.stderr) == (0, ""), "taut status --ready"

    def test_an_over_asked_container_gets_less(self, story, cluster):
        assert daemon.eventually(lambda: cluster.limit(story.first) < 300, 60), (
            f"a container of 20 MiB gets less than its 512 MiB: {cluster.limit(story.first)}")
        assert daemon.eventually(lambda: any(d["outcome"] == "applied" for d in decisions(story.tautd)), 20), (
            f"and the decision is applied: {decisions(story.tautd)[:3]}")
        assert decisions(story.tautd)[-1]["before"] / MIB == 512, "from the owner's limit"
        assert story.tautd.get("/api/v1/status")["nodes"] == 1, "the status says how many nodes the cluster has"

    def test_it_is_resized_by_a_patch_that_keeps_the_ratio(self, story, cluster):
        patches = [r for r in cluster.requests if r.startswith("PATCH") and '"memory"' in r]
        assert "/api/v1/namespaces/shop/pods/web-5d4f8c7b9d-2bxnz/resize application/strategic-merge-patch+json" in patches[0], (
            "by a strategic merge patch of pods/resize")
        resources = cluster.pods[story.first]["spec"]["containers"][0]["resources"]
        assert abs(mebibytes(resources["requests"]["memory"]) * 2 - mebibytes(resources["limits"]["memory"])) < 0.01, (
            "the request keeps its ratio to the limit")
        assert owners_limit(story.tautd) == 512, "what was set is not taken for the owner's limit"
        assert [job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"]] == [JOB], "an init container is no job"

    def test_the_api_says_what_the_owner_wants_and_the_cluster_allows(self, stage, story):
        job = story.tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
        assert job["container"] == ({"init": False, "guaranteed": False, "others_equal": True, "cpu": {"request": 0.1, "limit": 1, "scaled_by": None},
                                       "memory": {"request": 256 * MIB, "limit": 512 * MIB, "scaled_by": None}}), "the API says what the owner wants"
        export = stage.taut(story.tautd, "export", "--format", "patch").stdout
        found = re.search(r"requests: {cpu: (\d+)m, memory: \d+Mi}\n *limits: {cpu: (\d+)m, memory: \d+Mi}", export)
        assert found and abs(10 * int(found[1]) - int(found[2])) <= 10, f"taut export keeps the owner's ratio: {export}"
        labels = job["labels"]
        assert labels.get("team") == "blue", "the pod's labels are the job's"
        allowed = next(s["value"] for s in story.tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings")["values"]
                       if s["key"] == "cpu.allowed")
        assert allowed == "0.2 by LimitRange small..8 by the largest node for its tolerations (node-1)", (
            "what the cluster allows is a setting: the request is a tenth of the limit, and a larger node has a taint")
        said = stage.taut(story.tautd, "explain", JOB).stdout
        assert "lower bound by LimitRange small" in said, "that is named where it binds"

    def test_a_pod_that_comes_later_gets_the_limit(self, story, cluster):
        cluster.add(story.second)
        assert daemon.eventually(lambda: cluster.limit(story.second) == cluster.limit(story.first), 20), (
            f"a new pod gets the limit: {cluster.limit(story.second)}")

    def test_a_kill_raises_the_limits_of_all_pods(self, story, cluster):
        cluster.scrape_seconds = 300  # so that no series is idle
        fake_cluster.await_scrapes(story.tautd, 3)
        daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(story.tautd)), 20)
        story.before = cluster.limit(story.first)
        cluster.scrape_seconds = 60  # so that a kill that is shown late is not of long ago
        begin, story.killed = time.monotonic(), cluster.seconds
        cluster.kill_for_memory(story.first)
        raised = daemon.eventually(lambda: cluster.limit(story.first) > story.before and cluster.limit(story.second) > story.before, 20, 0.02)
        took = time.monotonic() - begin
        assert raised, f"an OOM kill raises the limits of all pods ({took:.2f} s)"
        assert any(d["kind"] == "oom_raise" for d in decisions(story.tautd)), "by a decision that says so"

    def test_a_kill_from_before_the_raise_raises_nothing_more(self, story, cluster):
        raises = lambda: sum(d["kind"] == "oom_raise" for d in decisions(story.tautd))  # noqa: E731
        kills = lambda: [o["limit"] / MIB for o in story.tautd.get("/api/v1/ooms")["ooms"] if o["job"] == JOB]  # noqa: E731
        decided = raises()
        cluster.kill_for_memory(story.second, seconds_ago=cluster.seconds - story.killed + 1)
        assert daemon.eventually(lambda: len(kills()) == 2, 20), f"a kill from before the raise is shown late: {kills()}"
        fake_cluster.await_scrapes(story.tautd, 2)
        assert (raises(), [k <= story.before * 1.01 for k in kills()]) == (decided, [True, True]), (
            "it is charged to the limit of then, and raises nothing more")

    def test_pods_that_are_not_restarted_are_kills_too(self, story, cluster):
        cluster.add("backup-1", owner=("Job", "backup"))
        cluster.add("backup-2", owner=("Job", "backup"))
        fake_cluster.await_pods(story.tautd, cluster)
        cluster.kill_for_memory("backup-1", is_restarted=False)
        cluster.kill_for_memory("backup-2", is_restarted=False)
        cluster.remove("backup-2")
        of_backup = lambda: [o for o in story.tautd.get("/api/v1/ooms")["ooms"] if o["job"].startswith("shop/job/backup")]  # noqa: E731
        assert daemon.eventually(lambda: len(of_backup()) == 2, 20), (
            f"a Job's pods that end for their memory are kills, also one deleted at once: {of_backup()}")
        cluster.remove("backup-1")
        cluster.scrape_seconds = 300

    def test_events_of_the_deployment_say_so(self, story, cluster):
        reasons = lambda: {e["reason"] for e in cluster.said if e["involvedObject"]["uid"] == "d-1"}  # noqa: E731
        assert daemon.eventually(lambda: {"LimitSet", "LimitRaised"} <= reasons(), 20), f"Events of the Deployment say so: {reasons()}"

    def test_a_pod_that_came_during_a_kill_gets_the_limit(self, stage, story, cluster):
        story.tautd.kill()
        cluster.remove(story.second)
        story.third = "web-5d4f8c7b9d-9kdlw"
        cluster.add(story.third)
        story.tautd = stage.tautd(config=story.config, store=str(stage.dir / "tautd.db"))
        assert daemon.eventually(lambda: cluster.limit(story.third) == cluster.limit(story.first), 20), (
            f"a pod that came while tautd was down gets the limit that is in force: {(cluster.limit(story.third), cluster.limit(story.first))}")
        assert daemon.eventually(lambda: owners_limit(story.tautd) == 512, 20), f"the owner's limit is still known: {owners_limit(story.tautd)}"

    def test_a_restart_reads_the_owners_limit_from_the_template(self, stage, story):
        assert story.tautd.stop() == 0, "tautd stops"
        story.tautd = stage.tautd(config=story.config, store=str(stage.dir / "tautd.db"))
        in_template = lambda: container(story.tautd)  # noqa: E731
        assert daemon.eventually(lambda: in_template() and in_template()["memory"]["limit"] == 512 * MIB, 20), (
            f"what the owner wants is read from the template of the ReplicaSet: {in_template()}")
        assert daemon.eventually(lambda: owners_limit(story.tautd) == 512, 20), f"and the owner's limit is the same: {owners_limit(story.tautd)}"

    def test_it_steps_back_where_another_changes_a_limit(self, story, cluster):
        daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(story.tautd)), 20)
        assert daemon.eventually(lambda: metric(story.tautd, "tautd_kubernetes_synced") == 1, 10), "synced"
        fake_cluster.await_scrapes(story.tautd, 2)
        patched = patches_of(cluster)
        with cluster.lock:
            pod = copy.deepcopy(cluster.pods[story.third])
            for resources in (pod["spec"]["containers"][0]["resources"], pod["status"]["containerStatuses"][0]["resources"]):
                resources["limits"]["memory"] = "3000Mi"
            cluster.put(pod)
        assert daemon.eventually(lambda: metric(story.tautd, "tautd_kubernetes_stepped_back_total") == 1, 20), (
            "tautd sees that another has changed a limit")
        assert (cluster.limit(story.third), patches_of(cluster)) == (3000, patched), "and leaves it"

    def test_a_changed_template_is_the_owners_new_limit(self, story, cluster):
        cluster.remove(story.first)
        cluster.remove(story.third)
        story.fourth = "web-5d4f8c7b9d-7pmzs"
        cluster.add(story.fourth, "1024Mi")
        assert daemon.eventually(lambda: cluster.limit(story.fourth) < 512, 20), f"the new pod is resized at once: {cluster.limit(story.fourth)}"
        assert daemon.eventually(lambda: owners_limit(story.tautd) == 1024, 20), f"and the owner's new limit is known: {owners_limit(story.tautd)}"

    def test_new_pods_are_admitted_with_the_limit(self, stage, story, cluster):
        # The raise of a Job whose pods have ended waits for the next pod.
        settled = lambda: all(d["outcome"] != "pending" for d in decisions(story.tautd) if d["job"] == JOB)  # noqa: E731
        assert daemon.eventually(settled, 20), "all decisions are applied"
        admitted(stage, cluster, story.admission, story.fourth)

    def test_a_pods_own_note_is_not_believed(self, story, cluster):
        fifth = "web-5d4f8c7b9d-x2x4z"
        cluster.template_memory = "2048Mi"
        cluster.add(fifth, f"{cluster.limit(story.fourth)}Mi", annotations={"tautline.dev/owner-resources": json.dumps(
            {"app": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "900Gi"}}})})
        assert daemon.eventually(lambda: owners_limit(story.tautd) == 2048, 20), (
            f"the owner's limit of such a pod is that of its template, whatever it notes: {owners_limit(story.tautd)}")
        cluster.remove(fifth)

    def test_annotations_are_settings(self, stage, story, cluster):
        steered(stage, cluster, story.tautd, story.fourth)

    def test_what_the_api_server_refuses_is_said(self, story, cluster):
        cluster.refuse = (403, 'pods "web" is forbidden: User "taut" cannot patch resource "pods/resize"')
        answer = story.tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings", "PATCH", json.dumps({"mode": "observe"}))
        assert answer.status == 200, "mode observe is set"
        refused = daemon.eventually(lambda: [d for d in decisions(story.tautd) if d["kind"] == "release" and d["outcome"] == "failed"], 20)
        assert refused and "cannot patch resource" in refused[0]["outcome_text"], (
            f"the decision says what the API server says: {decisions(story.tautd)[:2]}")
        warned = lambda: [e for e in cluster.said if e["reason"] == "LimitNotSet"]  # noqa: E731
        said_so = lambda: [e for e in warned() if "cannot patch resource" in e["message"]]  # noqa: E731
        assert daemon.eventually(said_so, 20) and all(e["type"] == "Warning" for e in warned()), f"so does an Event, as a warning: {warned()}"
        cluster.refuse = None

    def test_a_restart_tries_again_and_gives_the_limit_back(self, stage, story, cluster):
        assert story.tautd.stop() == 0, "tautd stops"
        story.tautd = stage.tautd(config=story.config, store=str(stage.dir / "tautd.db"))
        assert daemon.eventually(lambda: cluster.limit(story.fourth) == 1024, 30), (
            f"mode observe gives the limit of the template back: {cluster.limit(story.fourth)}")
        assert metric(story.tautd, "tautd_kubernetes_pods") == 1, "one pod is watched"

    def test_annotations_may_be_switched_off(self, stage, story, cluster):
        cluster.annotate({"tautline.dev/class": "batch"})
        assert daemon.eventually(lambda: setting(story.tautd, "class")["value"] == "batch", 20), f"an annotation again: {setting(story.tautd, 'class')}"
        assert story.tautd.stop() == 0, "tautd stops"
        story.tautd = stage.tautd(config=story.config.replace("scale: true", "scale: true, annotations: false"), store=str(stage.dir / "tautd.db"))
        assert daemon.eventually(lambda: setting(story.tautd, "class")["source"] == "default", 20), (
            f"kubernetes.annotations: false takes it back: {setting(story.tautd, 'class')}")

    def test_pods_are_listed_once_for_each_start(self, story, cluster):
        lists = len([r for r in cluster.requests if r == "GET /api/v1/pods"])
        assert lists == 5, "the pods were listed once for each start"
        assert story.tautd.stop() == 0, "tautd stops in time"
