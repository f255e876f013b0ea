"""Savings and sums: a machine's total beside its containers counts once, and Fleet, jobs, costs and exports have one saving."""
import json
import math
import re
import time

import pytest

import daemon

PRICES = "prices: {currency: EUR, core_hour: 0.03, gib_hour: 0.004}\n"
HOURS_PER_MONTH = 730
GIB = 2**30


def near(a, b, share=1e-4):
    return math.isclose(a, b, rel_tol=share, abs_tol=1e-6)


@pytest.mark.settings("clock: samples\n" + PRICES)
def test_what_would_be_saved_is_one_number_everywhere(stage, tautd):
    """A simulated cell of three days: the possible saving is the same number on every page and command."""
    stage.feed_history(tautd, "3d", "--jobs", "24", "--every", "150s")
    fleet, page = tautd.get("/api/v1/fleet"), tautd.get("/api/v1/jobs?limit=1000&totals=true")
    rows, totals = page["jobs"], page["totals"]
    now = [row for row in rows if row["last_seen"] == fleet["time"]]
    would_save = fleet["saving_per_month"]["would_save"]
    assert would_save > 0, f"the recommended limits save something: {fleet['saving_per_month']}"
    assert near(sum(row["saving_per_month"] or 0 for row in now), would_save), (
        f"Fleet saves what its jobs of the last window save: {(sum(row['saving_per_month'] or 0 for row in now), would_save)}")
    assert near(would_save, totals["saving_per_month"]), "the list's sum is Fleet's"
    for resource in ("cpu", "memory"):
        rows_save = sum((row[resource]["saving"] or 0) * row["tasks"] for row in now)
        assert near(rows_save, fleet[resource]["would_save"]), f"and of {resource}"
    listed = stage.taut(tautd, "get", "jobs")
    said = re.search(r"mode auto would save .*, ([\d.]+) EUR a month", listed.stdout)
    assert said and near(float(said[1]), totals["saving_per_month"], 0.001), f"taut get jobs says the sum of the list: {listed.stdout[-600:]}"
    report = stage.taut(tautd, "export", "--format", "report", "--output", "json")
    assert report.returncode == 0, f"taut export --format report: {report.stderr}"
    priced = stage.taut(tautd, "export", "--format", "report")
    assert "what this changes, at the configured prices" in priced.stdout, f"says what its money is of: {priced.stdout[-500:]}"
    costs(stage, tautd, fleet, would_save)


def costs(stage, tautd, fleet, would_save):
    """Costs are sums over a period, which they name; the last hour, scaled to a month, equals the Fleet page's current value.

    Just after midnight the last hour is in a day that is kept as a whole: then the answer is of that day, and says so.
    """
    end = fleet["time"] // 3600 * 3600
    answer = tautd.get(f"/api/v1/costs?from={end - 3600}&to={end}&by=:job")
    cost, hours = answer["total"]["cost"], (answer["to"] - answer["from"]) / 3600
    assert hours == (24 if end % 86400 == 0 else 1), f"the period of the sums: {(answer['from'], answer['to'])}"
    assert near(cost["owner"] - cost["would_be"], cost["would_save"]), "costs save what the owners' limits cost more"
    month = cost["would_save"] / hours * HOURS_PER_MONTH
    assert near(month, would_save, 0.15 if hours == 1 else 0.25), f"an hour of it is near to what Fleet says of a month: {(month, would_save)}"
    said = stage.taut(tautd, "get", "costs")
    assert "These are sums of this time; taut top and the page Fleet have a month at the limits of now." in said.stdout, (
        f"taut get costs says how the two differ: {said.stdout[-500:] + said.stderr}")


def container(pod, name, cores, memory, at, seconds):
    labels = {"namespace": "shop", "pod": pod, "container": name, "image": "x"}
    return [({"__name__": "container_cpu_usage_seconds_total", **labels}, [(at, cores * seconds)]),
            ({"__name__": "container_memory_working_set_bytes", **labels}, [(at, memory)])]


def machine(at, seconds):
    labels = {"job": "node", "instance": "h:9100"}
    return [({"__name__": "node_cpu_seconds_total", "cpu": "0", "mode": "user", **labels}, [(at, 2.0 * seconds)]),
            ({"__name__": "node_memory_MemTotal_bytes", **labels}, [(at, 16.0 * GIB)]),
            ({"__name__": "node_memory_MemAvailable_bytes", **labels}, [(at, 12.0 * GIB)])]


@pytest.mark.settings("clock: samples\n" + PRICES)
def test_a_machine_beside_its_containers_counts_once(stage, tautd):
    """Two containers of half a core and a GiB, and node_exporter of the machine that has them: 2 cores and 4 GiB."""
    begin = int(time.time()) // 3600 * 3600 - 3 * 3600
    if (begin + 9000) % 86400 < 9000:  # within one day: costs of a day that is over are those of the whole day
        begin -= 3 * 3600
    for minute in range(0, 150):
        at, seconds = begin + 60 * minute, 1000 + 60 * minute
        body = [*container("web-1", "app", 0.5, GIB, at, seconds), *container("db-0", "app", 0.5, GIB, at, seconds), *machine(at, seconds)]
        if minute < 40:  # ends, and is known for a while
            body += container("gone-0", "app", 4, 8 * GIB, at, seconds)
        daemon.send(tautd.port, body)
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + 8400, 60)
    fleet, page = tautd.get("/api/v1/fleet"), tautd.get("/api/v1/jobs?totals=true")
    rows = {row["name"]: row for row in page["jobs"]}
    assert rows["machine/node"]["whole_machine"] and not rows["shop/pod/db-0/app"]["whole_machine"] if "shop/pod/db-0/app" in rows else rows["machine/node"]["whole_machine"], (
        f"the job of node_exporter is a whole machine: {list(rows)}")
    for face, sums in (("Fleet", fleet), ("the list", page["totals"])):
        assert (sums["jobs"], sums["whole_machines"]) == (len(rows) - (2 if face == "Fleet" else 1), 1), f"{face} counts it beside the jobs"
        assert near(sums["cpu"]["usage"], 1, 0.02) and near(sums["memory"]["usage"], 2 * GIB, 0.001), (
            f"{face} sums the containers alone: {(sums['cpu'], sums['memory'])}")
    assert page["totals"]["not_measured"] == 1, "the list counts a job that has ended, and sums it no more than Fleet does"
    end = begin + 7200
    cost = tautd.get(f"/api/v1/costs?from={end - 3600}&to={end}&by=:job")
    assert "machine/node" not in {g["value"] for g in cost["groups"]} and near(cost["total"]["cpu"]["usage"], 1, 0.02), (
        f"costs are of the containers alone: {cost['total']['cpu']}")
    job = tautd.get("/api/v1/jobs/machine%2Fnode")
    assert job["labels"].get("workload") == "machine" and any("in no sum" in n for n in job["notices"]), f"its page says so: {job['notices']}"
    said = stage.taut(tautd, "get", "jobs")
    assert "1 more job is all that some machines use, and in no sum" in said.stdout, f"taut get jobs says so: {said.stdout[-500:]}"


OWN_RULE = """ingest:
  mapping:
    - {name: racks, metric: rack_cpu_seconds_total, kind: cpu_seconds_total, job: "rack/all", task: "{rack}", whole_machine: true}
"""


@pytest.mark.settings("clock: samples\n" + PRICES + OWN_RULE)
def test_a_rule_names_series_of_a_whole_machine(stage, tautd):
    """A user's rule marks its series as those of a whole machine: they are in no sum, and other series are."""
    begin = int(time.time()) // 3600 * 3600 - 3 * 3600
    for minute in range(0, 130):
        at, seconds = begin + 60 * minute, 1000 + 60 * minute
        body = [*container("web-1", "app", 0.5, GIB, at, seconds), ({"__name__": "rack_cpu_seconds_total", "rack": "r1"}, [(at, 30.0 * seconds)])]
        daemon.send(tautd.port, body)
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + 7200, 60)
    fleet, page = tautd.get("/api/v1/fleet"), tautd.get("/api/v1/jobs?totals=true")
    whole = {row["name"]: row["whole_machine"] for row in page["jobs"]}
    assert whole.get("rack/all") is True and sum(whole.values()) == 1 and len(whole) == 2, "the rule's job is a whole machine"
    assert near(fleet["cpu"]["usage"], 0.5, 0.02) and fleet["whole_machines"] == 1 and page["totals"]["whole_machines"] == 1, "and in no sum"
    wrong = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", OWN_RULE.replace("true}", "maybe}")))
    assert wrong.returncode != 0 and "whole_machine: expected true or false" in wrong.stderr + wrong.stdout, (
        "another word than true or false is refused")


def gauge(metric, pod, resource, value, at):
    labels = {"namespace": "shop", "pod": pod, "container": "app", "resource": resource, "job": "kube-state-metrics"}
    return ({"__name__": f"kube_pod_container_resource_{metric}", **labels}, [(at, value)])


REQUESTED = {"web-1": (1.0, 2 * GIB), "db-0": (0.25, None), "soft-0": (2.0, 4 * GIB)}  # cores and bytes, or no request
LIMITED = {"web-1": (4.0, 8 * GIB), "db-0": (1.0, 4 * GIB)}  # soft-0 has no limit


def test_savings_are_of_requests_in_a_cluster(stage):
    """Two days of three containers whose requests are a quarter, half or all of their limits."""
    tautd = stage.tautd(config="clock: samples\n" + PRICES, store=stage.dir / "cluster.db")
    end = int(time.time()) // 3600 * 3600
    if end % 86400 == 0:
        end -= 3600  # the hour before midnight is kept in a whole day
    begin = end - 50 * 3600
    for n, at in enumerate(range(begin, end + 660, 120)):
        body = []
        for pod in REQUESTED:
            body += container(pod, "app", 0.1, 200 * 2**20, at, 1000 + 120 * n)
        for metric, amounts in (("requests", REQUESTED), ("limits", LIMITED)):
            for pod, values in amounts.items():
                body += [gauge(metric, pod, r, float(v), at) for r, v in zip(("cpu", "memory"), values) if v is not None]
        daemon.send(tautd.port, body, ahead=True)
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= end, 120)
    fleet, page = tautd.get("/api/v1/fleet"), tautd.get("/api/v1/jobs?limit=100&totals=true")
    rows, totals = {next(pod for pod in REQUESTED if f"/{pod[:-2]}/" in row["name"]): row for row in page["jobs"]}, page["totals"]
    assert all(rows[p]["cpu"]["would_be"] and rows[p]["memory"]["would_be"] for p in REQUESTED), f"each job has recommendations: {rows}"

    def saving(pod, r, resource):
        a = rows[pod][resource]
        if REQUESTED[pod][r] is None or pod not in LIMITED:  # the limit, or the request alone
            return a["owner_limit"] - a["would_be"]
        return REQUESTED[pod][r] * (1 - a["would_be"] / LIMITED[pod][r])  # at the owner's ratio

    expected = {}
    for r, (resource, ulp) in enumerate((("cpu", 0.002), ("memory", 2**20))):
        for pod in REQUESTED:
            want, a = saving(pod, r, resource), rows[pod][resource]
            assert abs(a["saving"] - want) <= ulp, f"{pod} saves {resource} of its request: {(a, want)}"
            assert a["owner_request"] == (REQUESTED[pod][r] if pod in LIMITED else None), f"the request of {pod}"
        expected[resource] = sum(rows[p][resource]["saving"] for p in REQUESTED)
        assert near(fleet[resource]["would_save"], expected[resource]) and near(totals[resource]["would_save"], expected[resource]), (
            f"Fleet and the list sum {resource} of requests: {(fleet[resource], totals[resource])}")
        assert fleet[resource]["requests"]["jobs"] == sum(1 for pod in REQUESTED if REQUESTED[pod][r] is not None), (
            f"jobs whose saving of {resource} is of a request")
        requests = fleet[resource]["requests"]
        assert requests["limit_would_save"] > 0 and requests["owner"] > requests["would_be"], "their limits are a detail"
    money = (expected["cpu"] * 0.03 + expected["memory"] / GIB * 0.004) * HOURS_PER_MONTH
    assert near(fleet["saving_per_month"]["would_save"], money) and near(totals["saving_per_month"], money), (
        f"and so is the money: {(fleet['saving_per_month'], money)}")
    listed = stage.taut(tautd, "get", "jobs")
    said = re.search(r"mode auto would save .*, ([\d.]+) EUR a month", listed.stdout)
    assert said and near(float(said[1]), money, 0.001) and "savings are of requests" in " ".join(listed.stdout.split()), (
        f"taut get jobs says so: {listed.stdout[-800:]}")
    assert "savings are of requests" in " ".join(stage.taut(tautd, "top").stdout.split()), "taut top says so"
    job = stage.taut(tautd, "get", "job", page["jobs"][0]["name"])
    assert "savings are of it, which a cluster bills" in job.stdout or page["jobs"][0]["cpu"]["owner_request"] is None, "taut get job names the request"
    report = json.loads(stage.taut(tautd, "export", "--format", "report", "--output", "json").stdout)["total"]
    assert near(report["saving_per_month"], money, 0.01), f"the export's report has the same money: {(report, money)}"
    hour = tautd.get(f"/api/v1/costs?from={end - 3600}&to={end}&by=:job")["total"]["cost"]
    assert near(hour["would_save"] * HOURS_PER_MONTH, money, 0.03), f"and costs: {(hour['would_save'] * HOURS_PER_MONTH, money)}"
    tautd.kill()
    again = stage.tautd(config="clock: samples\n" + PRICES, store=stage.dir / "cluster.db")
    after = again.get("/api/v1/fleet")["saving_per_month"]["would_save"]
    assert near(after, money), "a kill and a restart change none of it"
    again.stop()
