"""The Helm chart renders the objects of packaging/kubernetes, and refuses values that it does not know.

Needs helm and kubectl, which ./up.sh builds.
"""
import json
import os
import pathlib
import re
import shutil

import pytest
import yaml

HERE = pathlib.Path(__file__).resolve().parent
PACKAGING = HERE.parent.parent / "packaging"
CHART = PACKAGING / "helm" / "tautline"
WAYS = ("observe", "act", "template", "webhook", "vpa")


def objects(text):
    """Returns the objects by kind and name."""
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in yaml.safe_load_all(text) if item}


def same_form(found):
    """Removes the permitted differences of a chart and kustomize: labels, the image's tag, and the annotation that restarts the pod for a
    new configuration."""
    out = {}
    for key, item in found.items():
        item["metadata"].pop("labels", None)
        item["metadata"].pop("creationTimestamp", None)
        if item["kind"] == "ConfigMap":
            name = "tautlet-config" if "tautlet.yaml" in item["data"] else "tautd-config"
            key = f"ConfigMap/{name}"
            item["metadata"]["name"] = name
            item["data"] = settings_of(item["data"]["tautd.yaml"]) if name == "tautd-config" else yaml.safe_load(item["data"]["tautlet.yaml"])
        if item["kind"] in ("StatefulSet", "DaemonSet"):
            template = item["spec"]["template"]
            template["metadata"].pop("annotations", None)
            for container in template["spec"]["containers"] + template["spec"].get("initContainers", []):
                container["image"] = container["image"].split(":")[0]
                container.pop("imagePullPolicy", None)
                container.get("ports", []).sort(key=lambda port: port["name"])
                container["volumeMounts"].sort(key=lambda mount: mount["mountPath"])
            template["spec"]["volumes"].sort(key=lambda volume: volume["name"])
            for volume in template["spec"]["volumes"]:
                if "configMap" in volume:
                    volume["configMap"]["name"] = re.match("taut(d|let)-config", volume["configMap"]["name"])[0]
        if item["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            for webhook in item["webhooks"]:
                for expression in webhook["namespaceSelector"]["matchExpressions"]:
                    expression["values"].sort()
        out[key] = item
    return out


def settings_of(text):
    """Returns the settings of tautd's configuration that differ from the defaults."""
    settings = yaml.safe_load(text)
    admission = settings["kubernetes"].get("admission", {})
    for key, default in (("name", "tautd.tautline.svc"), ("configuration", "tautline")):
        if admission.get(key) == default:
            del admission[key]
    return settings


FOLDER = os.environ.get("BED_BIN") or str(HERE / "bin")


@pytest.fixture(scope="module")
def helm():
    return program("helm")


@pytest.fixture(scope="module")
def kubectl():
    return program("kubectl")


def program(name):
    path = shutil.which(name, path=FOLDER) or shutil.which(name)
    return path or pytest.skip(f"{name} is not in {FOLDER}: run ./dev test kubernetes")


def test_helm_lint_has_nothing_to_say(stage, helm):
    linted = stage.run(helm, "lint", CHART)
    assert linted.returncode == 0, "helm lint"


@pytest.mark.parametrize("way, values", [*((way, "") for way in WAYS), ("agent", "agent.enabled=true"), ("keda", "externalScaler.enabled=true")])
def test_a_way_is_the_same_as_by_kustomize(stage, helm, kubectl, way, values):
    rendered = render(stage, helm, "--set", values or f"way={way}")
    assert (rendered.returncode, rendered.stderr) == (0, ""), f"way {way} is rendered"
    ours = stage.run(kubectl, "kustomize", PACKAGING / "kubernetes" / way)
    chart, kustomize = same_form(objects(rendered.stdout)), same_form(objects(ours.stdout))
    kustomize.pop("Namespace/tautline")  # helm install --create-namespace
    assert sorted(chart) == sorted(kustomize), f"{way}: the same objects"
    for key in sorted(chart):
        assert json.dumps(chart.get(key), sort_keys=True) == json.dumps(kustomize.get(key), sort_keys=True), f"{way}: {key} is the same"


def test_config_is_merged_over_that_of_the_way(stage, helm):
    more = render(stage, helm, "--set-json", 'config={"rules":[{"name":"a","match":{"namespace":"shop"},"set":{"mode":"canary"}}]}')
    assert "mode: canary" in more.stdout and "listen:" in more.stdout, f"config is merged over that of the way: {more.stderr}"


def test_the_releases_namespace_is_everywhere(stage, helm):
    found = render(stage, helm, "--set", "way=webhook", namespace="other", name="second")
    assert "tautd.other.svc" in found.stdout and "other/tautd" in found.stdout and "namespace: tautline" not in found.stdout, (
        f"the release's namespace is everywhere: {found.stderr}")


@pytest.mark.parametrize("value", ["way=all", "wya=act", "storage.sise=1Gi", "serviceMonitor.on=true"])
def test_unknown_values_are_refused(stage, helm, value):
    assert render(stage, helm, "--set", value).returncode != 0, f"--set {value} is refused"


def render(stage, helm, *more, namespace="tautline", name="tautline"):
    return stage.run(helm, "template", name, CHART, "-n", namespace, "--kube-version", "1.35.0", *more)


def as_in(stage, found, file, what):
    """Checks that the chart's objects include those of this file of packaging/kubernetes."""
    for key, item in same_form(objects((PACKAGING / "kubernetes" / file).read_text())).items():
        assert found.get(key) == item, f"{what}: {key} is that of {file}"


def rules_of(found):
    """Returns all rules of the ClusterRoles, as text."""
    return json.dumps([item["rules"] for item in found.values() if item["kind"] == "ClusterRole"])


def test_rights_to_read_usage_are_those_that_are_needed(stage, helm):
    """Only the right to read usage that kubernetes.usage needs is granted."""
    found = same_form(objects(render(stage, helm, "--set", "config.kubernetes.usage=metrics_api").stdout))
    as_in(stage, found, "observe/metrics_api.yaml", "usage: metrics_api")
    assert "nodes/proxy" not in rules_of(found), "usage: metrics_api: the kubelets are not read"
    for setting in ("usage=cadvisor", "usage=resource", "events=true"):
        rules = rules_of(objects(render(stage, helm, "--set", f"config.kubernetes.{setting}").stdout))
        assert "nodes/proxy" in rules and "metrics.k8s.io" not in rules, f"{setting}: the kubelets are"
    for interval in ("0", "0s"):
        rules = rules_of(objects(render(stage, helm, "--set", f"config.kubernetes.scrape_interval={interval}").stdout))
        assert "nodes/proxy" not in rules and "metrics.k8s.io" not in rules, f"scrape_interval: {interval}: neither is"


def test_the_right_to_scale_is_there_only_with_scale(stage, helm):
    """The right to scale is granted only with kubernetes.scale: true, and for other kinds only if they are named."""
    with_scale = ("--set", "way=act,config.kubernetes.scale=true")
    found = same_form(objects(render(stage, helm, *with_scale).stdout))
    as_in(stage, found, "act/scale.yaml", "scale: true")
    kinds = ("--set-json", 'scaledKinds=[{"group":"argoproj.io","resources":["rollouts","things"]}]')
    rules = objects(render(stage, helm, *with_scale, *kinds).stdout)["ClusterRole/tautline-scale"]["rules"]
    assert rules[2:] == [{"apiGroups": ["argoproj.io"], "resources": ["rollouts/scale", "things/scale"], "verbs": ["patch"]}], (
        "and the scale of the kinds that are named")
    for values in (("--set", "way=act", *kinds), ("--set", "way=observe,config.kubernetes.scale=true", *kinds)):
        rules = rules_of(objects(render(stage, helm, *values).stdout))
        assert "/scale" not in rules, f"{values[1]}: nothing is scaled"
    wrong = render(stage, helm, *with_scale, "--set-json", 'scaledKinds=[{"group":"argoproj.io","resources":["rollouts/scale"]}]')
    assert wrong.returncode != 0, "a kind is named without its subresource"


def test_rights_to_custom_resources_are_of_those_that_are_named(stage, helm):
    """The right to list custom resources is granted for the named ones, with any way; the right to patch them for those with status."""
    kinds = ("--set-json", 'annotatedKinds=[{"group":"argoproj.io","resources":["rollouts"]}]')
    for way in ("observe", "act"):
        found = same_form(objects(render(stage, helm, "--set", f"way={way}", *kinds).stdout))
        as_in(stage, found, "observe/custom_owners.yaml", f"way={way}, annotatedKinds")
        assert "custom-status" not in json.dumps(found), f"which gives no right to patch them: {rules_of(found)}"
    rules = rules_of(objects(render(stage, helm, "--set", "way=act").stdout))
    assert "argoproj.io" not in rules, "without them there is none"
    kinds = ("--set-json", 'annotatedKinds=[{"group":"argoproj.io","resources":["rollouts"],"status":true},{"group":"apps.kruise.io","resources":["clonesets"]}]')
    found = same_form(objects(render(stage, helm, "--set", "config.kubernetes.status_annotations=true", *kinds).stdout))
    as_in(stage, found, "observe/custom_owners_status.yaml", "status: true of one kind")
    for more in (("--set", "way=act", *kinds), ("--set", "config.kubernetes.status_annotations=true", *(k.replace("true", "false") for k in kinds))):
        text = json.dumps(objects(render(stage, helm, *more).stdout))
        assert "custom-status" not in text and "clonesets" in text, f"{more[1:]}: custom resources may be listed, and not patched"
    wrong = render(stage, helm, "--set-json", 'annotatedKinds=[{"group":"argoproj.io","resources":["rollouts"],"status":"yes"}]')
    assert wrong.returncode != 0, "status is true or false"


def test_the_right_to_evict_is_there_only_with_fallback_evict(stage, helm):
    """The right to evict pods is granted only with kubernetes.fallback: evict."""
    found = same_form(objects(render(stage, helm, "--set", "way=webhook,config.kubernetes.fallback=evict").stdout))
    as_in(stage, found, "webhook/eviction.yaml", "fallback: evict")
    without = objects(render(stage, helm, "--set", "way=webhook").stdout)
    assert "pods/eviction" not in json.dumps(without), "without it no pod may be evicted"


def test_the_right_to_patch_is_there_only_with_status_annotations(stage, helm):
    """The right to patch workloads for their annotation is granted only with kubernetes.status_annotations, with any way."""
    for way in WAYS:
        found = same_form(objects(render(stage, helm, "--set", f"way={way},config.kubernetes.status_annotations=true").stdout))
        as_in(stage, found, "observe/status_annotations.yaml", f"way={way}, status_annotations")
        settings = found["ConfigMap/tautd-config"]["data"]["kubernetes"]
        assert settings.get("status_annotations") == True, "the setting is in tautd's configuration"
    without = objects(render(stage, helm).stdout)
    assert "-status" not in json.dumps(without) and "patch" not in rules_of(without), "without it a workload may not be patched"


def test_a_quota_file_is_mounted_and_restarts_the_pod(stage, helm):
    """The quota file is mounted if it is named, and the right to write ResourceQuotas is granted only if they are used."""
    values = 'quota={"groups":[{"name":"shop","quotas":[{"tier":"production","resource":"cpu","nominal":4}]}]}'
    found = objects(render(stage, helm, "--set-json", values, "--set", "config.kubernetes.resource_quotas=true").stdout)
    data = found["ConfigMap/tautd-config"]["data"]
    assert yaml.safe_load(data["quota.yaml"])["groups"][0]["name"] == "shop", "the quota file is in the ConfigMap"
    file = yaml.safe_load(data["tautd.yaml"])["quota"]["file"]
    mounts = found["StatefulSet/tautd"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    assert any(m["mountPath"] == file and m["subPath"] == "quota.yaml" for m in mounts), f"and mounted where tautd reads it: {mounts}"
    sums = [o["StatefulSet/tautd"]["spec"]["template"]["metadata"]["annotations"] for o in
            (found, objects(render(stage, helm, "--set-json", values.replace("4}", "5}"), "--set", "config.kubernetes.resource_quotas=true").stdout))]
    assert sums[0] != sums[1], "another quota restarts the pod"
    as_in(stage, same_form(found), "observe/resource_quotas.yaml", "resource_quotas")
    without = objects(render(stage, helm, "--set-json", values).stdout)
    assert "-quotas" not in json.dumps(without), "without it no ResourceQuota may be written"


def test_files_are_values_or_of_what_is_there(stage, helm):
    """Quota, budgets and prices are values, or files of an existing ConfigMap or Secret, and are mounted where tautd reads them."""
    names = ("quota", "budgets", "prices")

    def rendered(*more):
        found = objects(render(stage, helm, "--set", "config.prices.core_hour=0.5", *more).stdout)
        pod = found["StatefulSet/tautd"]["spec"]["template"]
        config = yaml.safe_load(found["ConfigMap/tautd-config"]["data"]["tautd.yaml"])
        return found["ConfigMap/tautd-config"]["data"], config, pod, {m["mountPath"]: m for m in pod["spec"]["containers"][0]["volumeMounts"]}

    inline = ("--set-json", 'quota={"groups":[{"name":"shop"}]},budgets={"currency":"EUR"},prices={"currency":"EUR"}')
    data, config, pod, mounts = rendered(*inline)
    for name in names:
        assert (config[name]["file"], mounts[f"/etc/tautline/{name}.yaml"]) == (f"/etc/tautline/{name}.yaml", {
            "name": "config", "mountPath": f"/etc/tautline/{name}.yaml", "subPath": f"{name}.yaml"}), (
            f"{name} is mounted where tautd reads it")
        assert yaml.safe_load(data[f"{name}.yaml"]), f"{name} is in the ConfigMap"
    assert float(config["prices"]["core_hour"]) == 0.5, "beside what config says of it"
    other = rendered(*inline, "--set-json", 'prices={"currency":"USD"}')[2]
    assert other["metadata"]["annotations"] != pod["metadata"]["annotations"], "other prices restart the pod"
    _, config, pod, mounts = rendered("--set-json", 'filesFrom={"quota":{"configMap":"teams"},"budgets":{"secret":"money"},"prices":{"secret":"contract","key":"p.yaml"}}')
    volumes = {v["name"]: v for v in pod["spec"]["volumes"]}
    assert [config[n]["file"] for n in names] == ["/etc/tautline/quota/quota.yaml", "/etc/tautline/budgets/budgets.yaml", "/etc/tautline/prices/p.yaml"], (
        "of what is there, by its key")
    assert [mounts[f"/etc/tautline/{n}"]["name"] for n in names] == list(names), "whose volumes are mounted"
    assert (volumes["quota"]["configMap"]["name"], volumes["budgets"]["secret"]["secretName"], volumes["prices"]["secret"]["secretName"]) == ("teams", "money", "contract"), (
        "each the one that is named")
    for wrong in ('quota={"groups":[]},filesFrom={"quota":{"secret":"a"}}', 'filesFrom={"quota":{"secret":"a","configMap":"b"}}',
                  'filesFrom={"quota":{"key":"a"}}', 'filesFrom={"machines":{"secret":"a"}}', 'filesFrom={"quota":{"secret":"a","key":"../b"}}'):
        assert render(stage, helm, "--set-json", wrong).returncode != 0, f"{wrong} is refused"
    config = rendered()[1]
    assert [config.get(n, {}).get("file") for n in names] == [None] * 3, "without being asked for there is none"


def test_the_store_is_in_a_claim_or_in_the_pod(stage, helm, kubectl):
    """The store is in a claim with a class, or in the pod if the cluster has no volumes."""
    def store_of(found):
        spec = found["StatefulSet/tautd"]["spec"]
        return spec.get("volumeClaimTemplates"), [v for v in spec["template"]["spec"]["volumes"] if v["name"] == "store"]

    claims, volumes = store_of(objects(render(stage, helm, "--set", "storage.storageClassName=fast").stdout))
    assert (claims[0]["spec"]["storageClassName"], volumes) == ("fast", []), "a claim of the class that is named"
    claims, volumes = store_of(objects(render(stage, helm, "--set", "storage.inPod=true").stdout))
    assert (claims, volumes) == (None, [{"name": "store", "emptyDir": {"sizeLimit": "10Gi"}}]), "or an emptyDir and no claim"
    overlay = stage.dir / "overlay"
    overlay.mkdir()
    paths = {name: os.path.relpath(PACKAGING / "kubernetes" / name, overlay.resolve()) for name in ("act", "store_in_pod")}
    (overlay / "kustomization.yaml").write_text(f"resources: [{paths['act']}]\ncomponents: [{paths['store_in_pod']}]\n")
    ours = stage.run(kubectl, "kustomize", overlay)
    assert store_of(objects(ours.stdout)) == (claims, volumes), "the component of kustomize does the same"


def test_the_validating_webhook_is_there_only_with_quota(stage, helm):
    """The validating webhook exists only with kubernetes.admission.quota, in each way."""
    for way in ("observe", "webhook"):
        for action in ("warn", "refuse"):
            found = same_form(objects(render(stage, helm, "--set", f"way={way},config.kubernetes.admission.quota={action}").stdout))
            as_in(stage, found, "webhook/quota.yaml", f"{way}, quota: {action}")
            settings = found["ConfigMap/tautd-config"]["data"]["kubernetes"]["admission"]
            assert settings == {"listen": "0.0.0.0:9443", "quota": action}, "tautd listens for it"
            ports = found["NetworkPolicy/tautd"]["spec"]["ingress"]
            assert (ports, found["Service/tautd"]["spec"]["ports"][0]["targetPort"]) == ([{"ports": [{"port": 9443, "protocol": "TCP"}]}], 9443), (
                "and can be reached")
            assert ("MutatingWebhookConfiguration/tautline" in found) == (way == "webhook"), f"{way}: pods are changed only by way webhook"
    for quota in ("", ",config.kubernetes.admission.quota=off"):
        found = objects(render(stage, helm, "--set", f"way=webhook{quota}").stdout)
        assert "validatingwebhook" not in json.dumps(found).lower(), f"without it there is none {quota}"


def test_rights_follow_what_the_configuration_does(stage, helm):
    """Rights follow the configuration, also beside another way."""
    found = same_form(objects(render(stage, helm, "--set", "way=webhook,templates=true,config.kubernetes.vpa=true").stdout))
    as_in(stage, found, "template/rbac.yaml", "webhook and templates")
    as_in(stage, found, "vpa/rbac.yaml", "webhook and VPA")
    rules = rules_of(objects(render(stage, helm, "--set", "templates=true").stdout))
    assert '"patch"' not in rules, "a tautd that observes patches no template"


def test_a_service_monitor_is_there_only_if_enabled(stage, helm):
    """The chart has a ServiceMonitor for the Prometheus Operator only if it is enabled."""
    found = objects(render(stage, helm, "--set", "serviceMonitor.enabled=true,serviceMonitor.labels.release=prometheus").stdout)
    monitor, service = found["ServiceMonitor/tautd"], found["Service/tautd-metrics"]
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= service["metadata"]["labels"].items(), f"the ServiceMonitor selects its Service: {(wanted, service)}"
    assert monitor["metadata"]["labels"].get("release") == "prometheus", "and has the labels by which a Prometheus selects it"
    endpoint = monitor["spec"]["endpoints"][0]
    assert (endpoint["port"], endpoint["authorization"]["credentials"]) == ("http", {"name": "tautd-tokens", "key": "prometheus"}), (
        "which reads /metrics with the reader's token")
    assert service["spec"]["ports"][0]["name"] == endpoint["port"], "of the Service's port"
    settings = next(yaml.safe_load(o["data"]["tautd.yaml"]) for o in found.values() if o["kind"] == "ConfigMap")
    assert (settings["server"]["listen"], sorted(settings["server"]["tokens"])) == (["0.0.0.0:7070"], ["operator_file", "reader_file"]), (
        "tautd listens on all addresses, with tokens")
    assert found["NetworkPolicy/tautd"]["spec"]["ingress"] == [{"ports": [{"port": 7070, "protocol": "TCP"}]}], "and its port is open"
    both = objects(render(stage, helm, "--set", "serviceMonitor.enabled=true,way=webhook").stdout)
    assert [p["port"] for rule in both["NetworkPolicy/tautd"]["spec"]["ingress"] for p in rule["ports"]] == [9443, 7070], "beside that of the webhook"
    assert "ServiceMonitor/tautd" not in objects(render(stage, helm).stdout), "without being asked for there is none"


def test_what_a_cluster_asks_of_pods(stage, helm):
    """Requirements of a cluster on pods: registries' secrets, a priority, annotations, a probe; and the configuration is checked before
    tautd starts."""
    found = objects(render(stage, helm, "--set", "imagePullSecrets[0].name=registry,priorityClassName=high,podAnnotations.team=infra,agent.enabled=true").stdout)
    template = found["StatefulSet/tautd"]["spec"]["template"]
    pod = template["spec"]
    for kind in ("StatefulSet/tautd", "DaemonSet/tautlet"):
        assert found[kind]["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "registry"}], f"{kind} can pull from a private registry"
    assert (pod["priorityClassName"], template["metadata"]["annotations"]["team"]) == ("high", "infra"), "its priority and annotations"
    assert "checksum/config" in template["metadata"]["annotations"], "beside the chart's own"
    tautd, check = pod["containers"][0], pod["initContainers"][0]
    assert tautd["livenessProbe"]["exec"]["command"] == ["/usr/bin/taut", "status", "--alive"], "a tautd that does not answer is restarted"
    assert check["command"] == ["/usr/bin/tautd", "--check-config", "--config", "/etc/tautline/tautd.yaml"], "the configuration is checked first"
    assert check["volumeMounts"] == tautd["volumeMounts"], "with the files that tautd reads"
    past = objects(render(stage, helm, "--set", "prometheus=http://prometheus.monitoring.svc:9090").stdout)
    settings = yaml.safe_load(past["ConfigMap/tautd-config"]["data"]["tautd.yaml"])
    assert settings["backfill"] == {"prometheus": "http://prometheus.monitoring.svc:9090"}, "the history is read from a Prometheus"
    assert render(stage, helm, "--set", "prometheus=monitoring:9090").returncode != 0, "whose value is a URL"
    written = objects(render(stage, helm, "--set-json", 'remoteWrite={"enabled":true,"from":[{"namespaceSelector":{"matchLabels":{"a":"b"}}}]}').stdout)
    settings = yaml.safe_load(written["ConfigMap/tautd-config"]["data"]["tautd.yaml"])["server"]
    assert (settings["listen"], settings["tokens"].get("writer_file")) == (["0.0.0.0:7070"], "/etc/tautline/tokens/writer"), (
        "a Prometheus may write, with a token")
    assert written["NetworkPolicy/tautd"]["spec"]["ingress"] == [{"ports": [{"port": 7070, "protocol": "TCP"}], "from": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]}], (
        "from where it is")
    assert "Service/tautd-write" in written and "Service/tautd-write" not in past, "through a Service, only where it is asked for"
    bare = objects(render(stage, helm, "--set", "livenessProbe=null").stdout)["StatefulSet/tautd"]["spec"]["template"]["spec"]
    assert not {"imagePullSecrets", "priorityClassName"} & set(bare) and "livenessProbe" not in bare["containers"][0], (
        "without being asked for there is none")


def test_an_agent_may_what_it_needs(stage, helm):
    """An agent has exactly the rights that it needs."""
    observing = objects(render(stage, helm, "--set", "way=webhook,agent.enabled=true").stdout)
    pod = observing["DaemonSet/tautlet"]["spec"]["template"]["spec"]
    assert (pod["securityContext"]["runAsNonRoot"] and pod["containers"][0]["command"][-1] == "--observe"
                and all(m["readOnly"] for m in pod["containers"][0]["volumeMounts"] if m["name"] in ("cgroup", "machine-id"))), (
        f"an agent that observes writes nothing and is not root: {pod}")
    assert [p.get("from") is not None for p in observing["NetworkPolicy/tautd"]["spec"]["ingress"]] == [False, True], (
        "its port is open for agents only, beside that of the webhook")
    acting = objects(render(stage, helm, "--set", "agent.enabled=true,agent.act=true,agent.tlsSecret=agents").stdout)
    pod = acting["DaemonSet/tautlet"]["spec"]["template"]["spec"]
    mounts = {m["name"]: m for m in pod["containers"][0]["volumeMounts"]}
    assert ("--observe" not in pod["containers"][0]["command"] and "readOnly" not in mounts["cgroup"]
                and pod["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}), "one that acts may write to the cgroups"
    ours = yaml.safe_load(acting["ConfigMap/tautlet-config"]["data"]["tautlet.yaml"])
    assert [t.get("manage", False) for t in ours["tasks"]] == [False, True, True, True], "of containers of pods"
    assert (ours["daemon"]["tls"], ours["daemon"]["ca_file"]) == (True, "/etc/tautline/agents-tls/ca.crt"), "over TLS, where there is a certificate"
    tls = next(v for v in pod["volumes"] if v["name"] == "tls")
    assert [i["key"] for i in tls["secret"]["items"]] == ["ca.crt"], "whose key is tautd's alone"
    theirs = yaml.safe_load(acting["ConfigMap/tautd-config"]["data"]["tautd.yaml"])
    assert (theirs["actuator"]["kind"], sorted(theirs["agents"]["tls"])) == ("agents", ["certificate", "key"]), "and tautd orders through agents"
    assert render(stage, helm, "--set", "agent.enabled=true,agent.act=true,way=act").returncode != 0, "limits are not set in both ways"
    assert "DaemonSet/tautlet" not in objects(render(stage, helm).stdout), "without being asked for there is no agent"
