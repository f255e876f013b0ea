"""tautd against a real API server, scheduler and kubelet, with the rights of packaging/kubernetes.

./up.sh builds and starts the cluster. A container is killed for its memory and comes back with more, in its cgroup; a
rollout, a restart of the API server, a foreign change and a release follow. The VPA's updater resizes another pod by
tautd's recommendation. A second tautd runs as a pod, by the manifests of packaging/kubernetes/act: it waits for the
lease of the first, and then goes on. All with the defaults of a first day: what is decided from history is decided from fourteen
days of a Prometheus (history.py). One setting is shortened, at the end of in_template_with_a_shortened_period(). It takes up to fifteen minutes.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

import daemon
import history
from daemon import metric
from bed import HERE, MANIFESTS, MIB, NODE, cgroup_cpu_limit, cgroup_limit, cpu_limit_of, deployment, limit_of, mebibytes, restarts_of, up
from fake_cluster import await_scrapes

AGENT_TOKEN = "0123456789abcdef0123456789abcdef"
JOB = "default/deployment/web/app"
WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, team: blue}}
    spec:
      terminationGracePeriodSeconds: 1
      nodeSelector: {kubernetes.io/hostname: real-0}
      containers:
      - name: app
        image: bed.local/busybox:1
        command: [sh, -c, "while [ ! -e /tmp/go ]; do sleep 0.2; done; dd if=/dev/zero of=/dev/null bs=90M count=1 && sleep 100000"]
        resources: {requests: {cpu: 100m, memory: 32Mi}, limits: {cpu: 200m, memory: 64Mi}}
      - name: side
        image: bed.local/busybox:1
        command: [sleep, "100000"]
        resources: {requests: {cpu: 50m, memory: 8Mi}, limits: {memory: 16Mi}}
"""

# A workload that the VPA changes, and tautd does not.
OF_THE_VPA = deployment("calm") + """
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: calm}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: calm}
  recommenders: [{name: tautline}]
  updatePolicy: {updateMode: InPlaceOrRecreate, minReplicas: 1}
"""
# A workload whose template tautd changes.
ROLLED = deployment("rolled", replicas=2)
# One with far too much memory, and one that its owner keeps.
LARGE = deployment("large", memory="64Mi, 512Mi")
KEPT = deployment("kept", memory="64Mi, 512Mi").replace("metadata: {name: kept}", 'metadata: {name: kept, annotations: {tautline.dev/mode: "off"}}', 1)
# Its start uses all CPU that it gets for half a minute; then it uses none.
STARTS = deployment("starts", memory="32Mi, 64Mi", command='[sh, -c, "timeout 30 sh -c \'while true; do true; done\'; sleep 100000"]')
STARTING_JOB = "default/deployment/starts/app"
STARTUP_SECONDS = 60
# Usage of the containers over fourteen days: cores and MiB, by pod and container.
PAST = {(f"{pod}-5d4f8c7b9d-2bxnz", container): (0.001, 4) for pod, container in
        (("web", "app"), ("web", "side"), ("calm", "app"), ("rolled", "app"), ("starts", "app"), ("large", "app"), ("kept", "app"))}


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "node", "vpa", programs=(*NODE, "vpa-updater", "vpa-admission")) as its:
        yield its


@pytest.fixture(scope="module")
def past():
    return history.History(PAST)


@pytest.fixture(scope="module")
def agent_port():
    return daemon.free_port()


@pytest.fixture(scope="module")
def tautd(stage, bed, agent_port, past):
    bed.kubectl("apply", "-f", "-", given=WORKLOAD)
    bed.kubectl("rollout", "status", "deploy/web", "--timeout=60s")
    for more in (OF_THE_VPA, ROLLED, LARGE, KEPT):
        bed.kubectl("apply", "-f", "-", given=more)
    return start_tautd(stage, bed, agent_port, past)


def job_of(tautd):
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    return answer.json() if answer.status == 200 else None


def lease_holder(bed):
    found = bed.kubectl("get", "lease", "tautd", "-n", "tautline", "--ignore-not-found", "-o", "jsonpath={.spec.holderIdentity}")
    return found.strip()


def start_tautd(stage, bed, agent_port, past):
    for way in ("observe", "act", "vpa", "template", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    bed.kubectl("apply", "-f", str(MANIFESTS / "observe" / "resource_quotas.yaml"))
    bed.kubectl("create", "namespace", "team-a")
    quota = stage.file("quota.yaml", "groups: [{name: team-a, quotas: [{tier: production, resource: cpu, nominal: 2}]},"
                       " {name: no-namespace, quotas: [{tier: production, resource: cpu, nominal: 2}]}]\n")
    admission = daemon.free_port()
    bed.call_webhook(admission)
    kubeconfig = bed.kubeconfig_of_tautd(stage)
    agents = stage.file("agents.token", AGENT_TOKEN + "\n")
    config = f"""actuator: {{kind: kubernetes}}
agents: {{listen: ["127.0.0.1:{agent_port}"], tokens_file: {agents}}}
ingest: {{kubernetes_jobs: containers, grace: 10s}}
kubernetes:
  {{kubeconfig: {kubeconfig}, scrape_interval: 5s, vpa: true, lease: tautline/tautd, resource_quotas: true, status_annotations: true, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
quota: {{file: {quota}}}
backfill: {{prometheus: "{past.url}"}}
rules:
  - {{name: web, match: {{job: "default/deployment/web/*"}}, set: {{mode: auto}}}}
  - {{name: rolled, match: {{job: "default/deployment/rolled/*"}}, set: {{mode: auto, in_template: true}}}}
  - {{name: large, match: {{job: "default/deployment/large/*"}}, set: {{mode: auto}}}}
  - {{name: kept, match: {{job: "default/deployment/kept/*"}}, set: {{mode: auto}}}}
  - name: starts
    match: {{job: "default/deployment/starts/*"}}
    set: {{mode: auto, cpu.lower: 0.05, cpu.startup_window: {STARTUP_SECONDS}s, cpu.startup_factor: 3}}
"""
    return stage.tautd(config=config, store=str(stage.dir / "tautd.db"))


def make_image(stage, bed):
    """Builds an image of tautd, taut, tautlet and their libraries for the node's containerd."""
    programs = [stage.args.tautd, stage.args.taut, stage.args.tautlet]
    files = [f"{program}=/usr/bin/{pathlib.Path(program).name}" for program in programs] + ["/bin/busybox=/bin/busybox,/bin/sh"]
    needed = set()
    for program in programs:
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        needed |= {path for path in re.findall(r"(/\S+) \(0x", listed)}
    archive = stage.dir / "tautline.tar"
    subprocess.run([sys.executable, HERE / "mkimage.py", archive, "bed.local/tautline:1", "/usr/bin/tautd", *files,
                    *[f"{path}={path}" for path in sorted(needed)]], check=True)
    socket = bed.config.parent / "ctd" / "sock"
    subprocess.run(["ctr", "-a", socket, "-n", "k8s.io", "images", "import", archive], check=True, capture_output=True)


def install(stage, bed, past):
    """Installs as docs/kubernetes/install.md describes, on a node without a network of Services and without a storage class."""
    make_image(stage, bed)
    port = daemon.free_port()
    api = re.search(r"https://127\.0\.0\.1:(\d+)", bed.config.read_text())[1]
    store = stage.dir / "volume"
    store.mkdir(mode=0o777)
    store.chmod(0o777)
    overlay = stage.dir / "overlay"
    overlay.mkdir()
    (overlay / "tautd.yaml").write_text(f"""server: {{listen: [127.0.0.1:{port}]}}
store: {{path: /var/lib/tautline/tautd.db}}
ingest: {{kubernetes_jobs: containers, grace: 10s}}
kubernetes: {{kubeconfig: in-cluster, lease: tautline/tautd, scrape_interval: 5s}}
actuator: {{kind: kubernetes}}
backfill: {{prometheus: "{past.url}"}}
rules:
  - {{name: web, match: {{job: "default/deployment/web/*"}}, set: {{mode: auto}}}}
""")
    (overlay / "volume.yaml").write_text(f"""apiVersion: v1
kind: PersistentVolume
metadata: {{name: tautd}}
spec: {{capacity: {{storage: 10Gi}}, accessModes: [ReadWriteOnce], hostPath: {{path: {store}}}}}
""")
    (overlay / "kustomization.yaml").write_text(f"""apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{os.path.relpath(MANIFESTS / "act", overlay)}, volume.yaml]
images: [{{name: tautline, newName: bed.local/tautline, newTag: "1"}}]
configMapGenerator:
- {{name: tautd-config, namespace: tautline, behavior: replace, files: [tautd.yaml]}}
patches:
- patch: |
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {{name: tautd, namespace: tautline}}
    spec:
      template:
        spec:
          hostNetwork: true
          nodeSelector: {{kubernetes.io/hostname: real-0}}
          containers:
          - name: tautd
            env:
            - {{name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}}
            - {{name: KUBERNETES_SERVICE_PORT, value: "{api}"}}
            - {{name: TAUT_SERVER, value: "http://127.0.0.1:{port}"}}
""")
    bed.kubectl("apply", "-k", str(overlay))
    try:
        bed.kubectl("rollout", "status", "statefulset/tautd", "-n", "tautline", "--timeout=50s")
    except subprocess.CalledProcessError:
        pytest.fail("not so: tautd runs as a pod, by the manifests: " +
                    bed.kubectl("describe", "pod", "tautd-0", "-n", "tautline")[-1500:] +
                    bed.kubectl("logs", "tautd-0", "-n", "tautline", "--tail=20"))
    return port


def install_agent(stage, bed, agent_port):
    """Installs the DaemonSet of packaging/kubernetes/agent on a node without a network of Services, with the bed's cgroups."""
    group = re.search(r"^cgroupRoot: (\S+)", (bed.config.parent / "kubelet.yaml").read_text(), re.M)[1]
    bed.kubectl("create", "secret", "generic", "tautlet-token", "-n", "tautline", f"--from-literal=token={AGENT_TOKEN}")
    overlay = stage.dir / "agent"
    overlay.mkdir()
    settings = (MANIFESTS / "agent" / "tautlet.yaml").read_text()
    assert "tautd-agents.tautline.svc:7071" in settings and '"/kubepods/' in settings, "the agent's configuration is that of the manifests"
    settings = settings.replace("tautd-agents.tautline.svc:7071", f"127.0.0.1:{agent_port}").replace('"/kubepods/', f'"{group}/kubepods/')
    (overlay / "tautlet.yaml").write_text(settings)
    shutil.copy(MANIFESTS / "agent" / "daemonset.yaml", overlay)
    (overlay / "kustomization.yaml").write_text("""apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [daemonset.yaml]
images: [{name: tautline, newName: bed.local/tautline, newTag: "1"}]
configMapGenerator:
- {name: tautlet-config, namespace: tautline, files: [tautlet.yaml]}
patches:
- patch: |
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: tautlet, namespace: tautline}
    spec: {template: {spec: {hostNetwork: true}}}
""")
    bed.kubectl("apply", "-k", str(overlay))
    try:
        bed.kubectl("rollout", "status", "daemonset/tautlet", "-n", "tautline", "--timeout=50s")
    except subprocess.CalledProcessError:
        pytest.fail("not so: tautlet runs on the node, by the manifests: " +
                    bed.kubectl("describe", "pod", "-l", "app.kubernetes.io/name=tautlet", "-n", "tautline")[-1500:] +
                    bed.kubectl("logs", "-l", "app.kubernetes.io/name=tautlet", "-n", "tautline", "--tail=20"))


def of_rolled(bed):
    return json.loads(bed.kubectl("get", "deployment", "rolled", "--show-managed-fields", "-o", "json"))


def limit_of_rolled(bed):
    return mebibytes(of_rolled(bed)["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"])


def about_rolled(tautd):
    return [d for d in tautd.get("/api/v1/decisions")["decisions"] if d["job"] == "default/deployment/rolled/app"]


def of_start(tautd):
    """Returns taut explain's text about the CPU limit, and the limit at the start in millicores."""
    cpu = tautd.get(f"/api/v1/jobs/{daemon.quoted(STARTING_JOB)}/explain")["cpu"]
    limit = [f["value"] for f in cpu["reason"]["facts"] if f["name"] == "start-up limit"]
    return cpu, round(1000 * limit[0]) if limit else None


def test_tautd_reads_the_past_and_takes_the_lease(bed, tautd, story):
    assert daemon.eventually(lambda: "14 of 14 days" in tautd.output(), 120), f"tautd reads fourteen days: {tautd.output()[-500:]}"
    assert daemon.eventually(lambda: lease_holder(bed), 30), f"tautd takes the lease: {tautd.output()[-500:]}"
    story.first_holder = lease_holder(bed)


def test_rights_are_given_by_the_file_that_is_named(bed, story):
    """Optional rights, each with the file that grants it."""
    def may(verb, group, resource, subresource=""):
        """Returns the API server's own response; `kubectl auth can-i` supports only kinds that the server has."""
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": "system:serviceaccount:tautline:tautd",
            "resourceAttributes": {"verb": verb, "group": group, "resource": resource, "subresource": subresource}}}
        return bed.kubectl("create", "-f", "-", "-o", "jsonpath={.status.allowed}", given=json.dumps(review)) == "true"

    rights = (("observe/metrics_api.yaml", ("list", "metrics.k8s.io", "pods")), ("act/scale.yaml", ("patch", "apps", "deployments", "scale")),
              ("act/scale.yaml", ("patch", "apps", "statefulsets", "scale")), ("act/scale.yaml", ("watch", "keda.sh", "scaledobjects")))
    before = [may(*what) for _, what in rights]
    for file in sorted({file for file, _ in rights}):
        bed.kubectl("apply", "-f", str(MANIFESTS / file))
    assert (before, [may(*what) for _, what in rights]) == ([False] * len(rights), [True] * len(rights)), (
        "metrics_api.yaml and scale.yaml give the rights that are named in them")
    others = (("update", "apps", "deployments"), ("delete", "", "pods"), ("get", "", "secrets"), ("patch", "argoproj.io", "rollouts", "scale"))
    assert [may(*what) for what in others] == [False] * len(others), "and no others"


def test_the_api_server_takes_the_chart(bed, story):
    """Every object of the Helm chart passes the API server's own checks."""
    helm = bed.bin / "helm"
    if not helm.exists():
        pytest.skip(f"helm is not in {bed.bin}")
    for way in ("observe", "act", "template", "webhook", "vpa", "act,config.kubernetes.scale=true,config.kubernetes.usage=metrics_api",
                "observe,agent.enabled=true,agent.act=true,agent.tlsSecret=agents"):
        rendered = subprocess.run([helm, "template", "tautline", MANIFESTS.parent / "helm" / "tautline", "-n", "tautline",
                                   "--kube-version", "1.35.0", "--set", f"way={way}"], check=True, capture_output=True, text=True).stdout
        taken = bed.kubectl("apply", "--dry-run=server", "-f", "-", given=rendered)
        assert "statefulset.apps/tautd" in taken, f"the API server takes the Helm chart, way {way}"


def test_tautd_and_tautlet_are_installed_by_the_manifests(stage, bed, past, agent_port, story):
    """Installed as docs/kubernetes/install.md describes; the agent sees the start of a workload from the beginning."""
    story.port = install(stage, bed, past)
    install_agent(stage, bed, agent_port)
    bed.kubectl("apply", "-f", "-", given=STARTS)


def test_a_window_closes_with_the_owners_limit(tautd, story):
    assert daemon.eventually(lambda: (job_of(tautd) or {}).get("memory", {}).get("owner_limit"), 340, 1), (
        f"a window of the container is closed: {tautd.output()[-500:]}")
    assert job_of(tautd)["memory"]["owner_limit"] / MIB == 64, "with the owner's limit of the pod's spec"
    assert job_of(tautd)["labels"].get("team") == "blue", "and the pod's labels"


def test_the_agent_measures_containers_under_their_workloads(bed, tautd, story):
    """The agent knows containers; tautd maps them to pods."""
    agents = lambda: tautd.get("/api/v1/agents")["agents"]  # noqa: E731
    logs = lambda: bed.kubectl("logs", "-l", "app.kubernetes.io/name=tautlet", "-n", "tautline", "--tail=20")  # noqa: E731
    assert daemon.eventually(lambda: agents() and agents()[0]["windows"] > 0, 60, 1), f"the agent sends windows: {(agents(), logs())}"
    assert [(a["name"], a["connected"], a["observes"], a["not_believed"]) for a in agents()] == [("real-0", True, True, 0)], "by the node's name"
    assert agents()[0]["tasks"] >= 4, "of the containers of the pods"
    names = [job["name"] for job in tautd.get("/api/v1/jobs")["jobs"]]
    assert JOB in names and not any("kubepods" in name for name in names), f"under the names of their workloads: {names}"
    assert "tautline/daemonset/tautlet/tautlet" in names, "its own among them"
    job = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    assert (job["tasks"], job["memory"]["owner_limit"] / MIB) == (1, 64), "as one task a pod, with its owner's limit"


def test_the_first_cut_is_by_half(bed, tautd, story):
    """History shows a container's need, but not its owner's limit: the first cut is by half, for the need of a window."""
    about = lambda name: [d for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if name in d["job"] and d["target"] == "memory"]  # noqa: E731
    assert daemon.eventually(lambda: limit_of(bed.pods("large")[0]) < 512, 400, 1), f"a container with far too much gets less: {about('/large/')}"
    assert (limit_of(bed.pods("large")[0]), [(d["before"], d["after"]) for d in about("/large/")]) == (256, [(512 * MIB, 256 * MIB)]), (
        "by one step of a half")
    off = bed.kubectl("get", "pods", "-l", "app=kept", "--show-managed-fields", "-o", "json")
    assert limit_of(bed.pods("kept")[0]) == 512 and '"tautline' not in off and not about("/kept/"), (
        "and nothing is decided for one that is opted out from its creation")


def test_a_namespace_that_is_a_group_has_a_resource_quota(bed, tautd, story):
    """A namespace that is a group has a ResourceQuota, which the API server enforces for new pods."""
    def hard():
        return bed.kubectl("get", "resourcequota", "tautline", "-n", "team-a", "--ignore-not-found", "-o", "jsonpath={.spec.hard}")

    assert daemon.eventually(lambda: json.loads(hard() or "{}").get("requests.cpu") == "2", 60, 1), (
        f"tautd writes a ResourceQuota of the group's quota: {tautd.output()[-500:]}")
    pod = ("apiVersion: v1\nkind: Pod\nmetadata: {name: large, namespace: team-a}\n"
           "spec: {containers: [{name: app, image: none, resources: {requests: {cpu: 3}}}]}\n")
    try:
        refused = bed.kubectl("apply", "-f", "-", given=pod)
    except subprocess.CalledProcessError as e:
        refused = e.stderr
    assert "exceeded quota: tautline" in refused, "and the API server refuses a pod beyond it"
    asked = tautd.ask("/api/v1/requests", method="POST", body=json.dumps({"group": "team-a", "tier": "production", "cpu": 1.5}))
    assert asked.json()["state"] == "admitted", "a request within it is admitted"
    assert metric(tautd, "tautd_kubernetes_quota_namespaces") == 1, "a group that is no namespace is left alone"


def test_the_workload_says_what_is_recommended(bed, tautd, story):
    """The workload's annotation shows the recommendation; its pods are not rolled out for it."""
    def of_web(path):
        return bed.kubectl("get", "deployment", "web", "-o", f"jsonpath={{{path}}}")

    revision = r".metadata.annotations.deployment\.kubernetes\.io/revision"  # the generation counts annotations, too
    before = of_web(revision)
    status = daemon.eventually(lambda: of_web(r".metadata.annotations.tautline\.dev/status"), 60, 1)
    assert status and " auto: " in status and "memory" in status, f"tautline.dev/status says what is recommended: {status or tautd.output()[-500:]}"
    assert of_web(revision) == before, "and nothing is rolled out"


def test_the_vpas_updater_resizes_a_pod(bed, tautd, story):
    assert daemon.eventually(lambda: limit_of(bed.pods("calm")[0]) < 256, 60, 1), (
        f"the VPA's updater resizes a pod by the recommendation: {bed.kubectl('get', 'vpa', 'calm', '-o', 'yaml')}")
    pod = bed.pods("calm")[0]
    assert pod["metadata"]["annotations"].get("vpaInPlaceUpdated") == "true" and restarts_of(pod) == 0, "in place"
    await_scrapes(tautd, 2)
    calm = tautd.get(f"/api/v1/jobs/{daemon.quoted('default/deployment/calm/app')}")
    assert calm["memory"]["owner_limit"] / MIB == 256, "and its limit is not taken for the owner's"


def test_a_template_gets_less_and_rolls_out(bed, tautd, story):
    """A Deployment whose template tautd sets."""
    about, limit = (lambda: about_rolled(tautd)), (lambda: limit_of_rolled(bed))
    assert daemon.eventually(lambda: limit() < 256, 60, 1), f"the template of a job with in_template gets less: {about()}"
    assert daemon.eventually(lambda: about() and all(d["outcome"] == "applied" for d in about()), 60, 1), (
        f"and the decisions are applied when it has rolled out: {about()}")
    pods = bed.pods("rolled")
    assert ({limit_of(p) for p in pods}, len(pods)) == ({limit()}, 2), "all pods have its limit"
    managers = {(f["manager"], f["operation"]) for f in of_rolled(bed)["metadata"]["managedFields"]
                if "f:memory" in json.dumps(f.get("fieldsV1", {}).get("f:spec", {}).get("f:template", {}))}
    assert managers == {("tautline", "Apply")}, "which is Tautline's by server-side apply"
    job = tautd.get(f"/api/v1/jobs/{daemon.quoted('default/deployment/rolled/app')}")
    assert job["memory"]["owner_limit"] / MIB == 256, "and not taken for the owner's"


def test_a_template_is_restored(bed, tautd, story):
    """The template is restored at once, although change_period is an hour."""
    bed.kubectl("annotate", "deployment/rolled", "tautline.dev/mode=observe", "tautline.dev/change_period=0s")
    assert daemon.eventually(lambda: limit_of_rolled(bed) == 256, 30, 1), (
        f"mode observe: the owner's limit is in the template again: {about_rolled(tautd)[:2]}")
    annotations = of_rolled(bed)["spec"]["template"]["metadata"].get("annotations") or {}
    assert "tautline.dev/owner-resources" not in annotations, "and the note is gone"
    bed.kubectl("delete", "deployment", "rolled")


def test_a_pod_has_more_cpu_in_its_start(bed, tautd, story):
    """A pod has more CPU in its start-up window, set by the webhook, and one resize reverts it."""
    pod = lambda: bed.pods("starts")[0]  # noqa: E731
    decisions = lambda: [d for d in tautd.get("/api/v1/decisions")["decisions"] if d["job"] == STARTING_JOB and d["resource"] == "cpu"]  # noqa: E731
    assert daemon.eventually(lambda: cpu_limit_of(pod()) == 50, 340, 1), f"a job that uses no CPU gets its lowest limit: {tautd.output()[-800:]}"
    assert daemon.eventually(lambda: cgroup_cpu_limit(pod()) == 50, 30), f"also in the kernel: {cgroup_cpu_limit(pod())}"
    before, decided, startups = pod()["metadata"]["name"], len(decisions()), metric(tautd, "tautd_kubernetes_startups_total")
    # By the factor, or by the usage of the first start. The webhook needs up to ten seconds to know it.
    cpu, more = of_start(tautd)
    assert more is not None and more >= 150, f"taut explain says what a start gets: {cpu}"
    await_scrapes(tautd, 3)
    bed.kubectl("rollout", "restart", "deploy/starts")
    bed.kubectl("rollout", "status", "deploy/starts", "--timeout=60s")
    assert daemon.eventually(lambda: len(bed.pods("starts")) == 1 and pod()["metadata"]["name"] != before, 30), "a rollout replaces the pod"
    name, begin = pod()["metadata"]["name"], time.monotonic()
    assert cpu_limit_of(pod()) == more, "the new pod starts with it"
    managers = {f.get("subresource") for f in
                json.loads(bed.kubectl("get", "pod", name, "--show-managed-fields", "-o", "json"))["metadata"]["managedFields"]}
    assert "resize" not in managers, "from the webhook, before it is scheduled"
    assert daemon.eventually(lambda: cgroup_cpu_limit(pod()) == more, 20), f"also in the kernel: {cgroup_cpu_limit(pod())}"
    assert daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_startups_total") > startups, 20), "tautd counts the start"
    rest = max(0, STARTUP_SECONDS / 2 - (time.monotonic() - begin))
    assert not daemon.eventually(lambda: cpu_limit_of(pod()) != more, rest / daemon.PATIENCE, 1), (
        "it keeps the limit of its start for half of the window")
    assert daemon.eventually(lambda: cpu_limit_of(pod()) == 50, STARTUP_SECONDS + 30, 1), f"and has its usual limit after it: {tautd.output()[-800:]}"
    assert daemon.eventually(lambda: cgroup_cpu_limit(pod()) == 50, 30), f"also in the kernel: {cgroup_cpu_limit(pod())}"
    assert (pod()["metadata"]["name"], restarts_of(pod())) == (name, 0), "of the same container, without a restart"
    assert len(decisions()) == decided, "and without a decision: the limit of a start is none"


def test_a_killed_container_gets_more_in_place(bed, tautd, story):
    assert daemon.eventually(lambda: limit_of(bed.pods()[0]) < 64, 20), f"an over-asked container gets less: {limit_of(bed.pods()[0])}"
    side = lambda: bed.pods()[0]["spec"]["containers"][1]["resources"]  # noqa: E731
    assert daemon.eventually(lambda: side()["requests"]["cpu"] == "10m", 20) and "cpu" not in side()["limits"], (
        f"a container without a CPU limit gets another request, and still no limit: {side()}")
    pod = bed.pods()[0]
    before = limit_of(pod)
    bed.kubectl("exec", pod["metadata"]["name"], "-c", "app", "--", "touch", "/tmp/go")
    assert daemon.eventually(lambda: restarts_of(bed.pods()[0]) == 1, 30), "the container is killed for its memory"
    begin = time.monotonic()
    assert daemon.eventually(lambda: limit_of(bed.pods()[0]) > before, 20), f"its limit is raised in place: {tautd.output()[-800:]}"
    print(f"      the raised limit was seen {time.monotonic() - begin:.1f} s after the restart was")
    raised = limit_of(bed.pods()[0])
    assert raised > 90, "to more than it needs"
    assert daemon.eventually(lambda: cgroup_limit(bed.pods()[0]) == raised, 30), f"the kernel has the limit: {cgroup_limit(bed.pods()[0])}"
    assert daemon.eventually(lambda: any(d["kind"] in ("oom_raise", "set") and d["outcome"] == "applied"
                                              for d in tautd.get("/api/v1/decisions")["decisions"] if d["job"] == JOB), 20), (
        f"and the decision is applied: {tautd.get('/api/v1/decisions')}")
    described = lambda: bed.kubectl("describe", "deployment", "web")  # noqa: E731
    assert daemon.eventually(lambda: "LimitRaised" in described(), 20), f"kubectl describe shows it: {described()[-600:]}"
    name = bed.pods()[0]["metadata"]["name"]
    assert name == pod["metadata"]["name"], "the pod is the same"
    bed.kubectl("exec", name, "-c", "app", "--", "touch", "/tmp/go")
    assert not daemon.eventually(lambda: restarts_of(bed.pods()[0]) != 1, 5 / daemon.PATIENCE, 0.5), "the same work does not kill it again"


def test_the_pod_of_a_rollout_gets_the_limit(bed, tautd, story):
    raised = limit_of(bed.pods()[0])
    changed = metric(tautd, 'tautd_kubernetes_admissions_total{result="changed"}')
    bed.kubectl("rollout", "restart", "deploy/web")
    bed.kubectl("rollout", "status", "deploy/web", "--timeout=60s")
    assert daemon.eventually(lambda: limit_of(bed.pods()[0]) == raised, 10), f"the pod of a rollout gets the limit: {limit_of(bed.pods()[0])}"
    pod = json.loads(bed.kubectl("get", "pod", bed.pods()[0]["metadata"]["name"], "--show-managed-fields", "-o", "json"))
    managers = {f.get("subresource") for f in pod["metadata"]["managedFields"]}
    assert "resize" not in managers and "tautline.dev/owner-resources" in pod["metadata"].get("annotations", {}), (
        "from the webhook, before it is scheduled")
    assert metric(tautd, 'tautd_kubernetes_admissions_total{result="changed"}') > changed, "which counts it"
    assert daemon.eventually(lambda: cgroup_limit(bed.pods()[0]) == raised, 30), "also in the kernel"
    assert restarts_of(bed.pods()[0]) == 0, "without a restart"


def test_a_restart_of_the_api_server_is_survived(bed, tautd, story):
    lists = metric(tautd, "tautd_kubernetes_lists_total")
    failures = metric(tautd, "tautd_kubernetes_watch_failures_total")
    os.kill(bed.apiserver(), 9)
    assert daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_watch_failures_total") > failures, 30), "tautd sees that the API server is gone"
    bed.up("node", "vpa")
    raised = limit_of(bed.pods()[0])
    bed.kubectl("scale", "deploy/web", "--replicas=2")
    both = lambda: len(bed.pods()) == 2 and all(limit_of(p) == raised for p in bed.pods())  # noqa: E731
    assert daemon.eventually(both, 90, 0.5), f"a pod that comes after a restart of the API server gets the limit: {[limit_of(p) for p in bed.pods()]}"
    again = metric(tautd, "tautd_kubernetes_lists_total") - lists
    assert again <= 20, "at most two lists of each kind of object were read again"
    bed.kubectl("scale", "deploy/web", "--replicas=1")
    assert daemon.eventually(lambda: len(bed.pods()) == 1, 30), "one pod again"


def test_another_share_of_the_request_is_followed(bed, story):
    """Another share of the request: an annotation, no new decision."""
    limit = limit_of(bed.pods()[0])
    bed.kubectl("annotate", "deployment/web", "tautline.dev/memory.request_share=0.75")
    requested = lambda: mebibytes(bed.pods()[0]["spec"]["containers"][0]["resources"]["requests"]["memory"]) / limit  # noqa: E731
    assert daemon.eventually(lambda: abs(requested() - 0.75) < 0.01, 25), (
        f"kubectl annotate ... memory.request_share: the request follows: {requested()}")
    assert limit_of(bed.pods()[0]) == limit, "and the limit stays"
    assert bed.pods()[0]["status"]["qosClass"] == "Burstable", "so does the QoS class"


def test_a_change_by_another_is_left(bed, tautd, story):
    await_scrapes(tautd, 1)
    name = bed.pods()[0]["metadata"]["name"]
    bed.kubectl("patch", "pod", name, "--subresource", "resize", "-p",
                '{"spec":{"containers":[{"name":"app","resources":{"limits":{"memory":"400Mi"}}}]}}')
    assert daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_stepped_back_total") == 1, 20), "tautd sees that another has changed the limit"
    await_scrapes(tautd, 1)
    assert limit_of(bed.pods()[0]) == 400, "and leaves it"


def test_the_next_start_follows_what_this_one_used(tautd, story):
    """When its window has closed, the next start follows this start's usage; the limit does not."""
    used = lambda: re.search(r"last (start|\d+ starts) used", of_start(tautd)[0]["paragraph"])  # noqa: E731
    assert daemon.eventually(used, 340, 2), f"taut explain says what the start used: {of_start(tautd)[0]['paragraph']}"
    assert of_start(tautd)[0]["would_be"] < 0.051, "and it raises no limit"


def test_the_pod_takes_the_lease_over(bed, tautd, story):
    """The pod takes over; its tautd listens on a port of the node."""
    first_holder, port = story.first_holder, story.port
    assert job_of(tautd)["memory"]["owner_limit"] / MIB == 64, "what was set is not taken for the owner's limit"
    def of_pod(name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", daemon.ask(port, "/metrics").text, re.M)
        return float(found[1]) if found else None

    resized = 'tautd_kubernetes_changes_total{result="resized"}'
    assert (lease_holder(bed), of_pod("tautd_kubernetes_lease_held"), of_pod(resized)) == (first_holder, 0, 0), (
        "the pod has changed nothing so far: the first tautd holds the lease")
    assert tautd.stop() == 0, "which stops in time"
    begin = time.monotonic()
    assert daemon.eventually(lambda: of_pod("tautd_kubernetes_lease_held") == 1, 20, 0.1), f"the pod takes the lease over: {lease_holder(bed)}"
    print(f"      {time.monotonic() - begin:.1f} s after the first stopped")
    bed.kubectl("delete", "pod", bed.pods()[0]["metadata"]["name"], "--wait=false")
    assert daemon.eventually(lambda: len(bed.pods()) == 1 and restarts_of(bed.pods()[0]) == 0, 30), (
        f"pods are created also while no webhook answers: {bed.kubectl('get', 'events')[-600:]}")
    jobs = bed.kubectl("exec", "tautd-0", "-n", "tautline", "--", "/usr/bin/taut", "get", "jobs", "--names")
    assert JOB in jobs.split(), "kubectl exec ... taut get jobs"


def test_mode_observe_brings_the_templates_limit_back(bed, story):
    bed.kubectl("annotate", "deployment/web", "tautline.dev/mode=observe")
    assert daemon.eventually(lambda: limit_of(bed.pods()[0]) == 64, 20), (
        f"kubectl annotate ... tautline.dev/mode=observe: the template's limit is back: {limit_of(bed.pods()[0])}")
    assert daemon.eventually(lambda: cgroup_limit(bed.pods()[0]) == 64, 30), f"also in the kernel: {cgroup_limit(bed.pods()[0])}"
