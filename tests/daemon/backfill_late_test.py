"""Jobs that appear weeks after tautd's start get their history from Prometheus, also across a kill in the middle and while
Prometheus is away; jobs without a past are asked for once, and nothing that people have set changes. What did not come
while tautd ran is read, too."""
import http.server
import json
import re
import threading
import time
import urllib.parse

import pytest

import daemon

CPU, MEMORY, LIMIT, REQUEST = METRICS = ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes",
                                         "kube_pod_container_resource_limits", "kube_pod_container_resource_requests")
AMOUNTS = {LIMIT: 4 * 2**30, REQUEST: 2**30}  # of memory, at all times
LATE, NEW = "late/deployment/web", "late/deployment/fresh"


def pod(namespace, name):
    return {"container": "app", "namespace": namespace, "pod": f"{name}-5d4f8c7b9d-x2x4z"}


PODS = {LATE: pod("late", "web"), NEW: pod("late", "fresh"), "shop/deployment/other": pod("shop", "other")}


def labels_of(job, metric):
    return {"__name__": metric, **PODS[job], **({"resource": "memory", "unit": "byte"} if metric in AMOUNTS else {})}


def sample(job, metric, t):
    if metric in AMOUNTS:
        return AMOUNTS[metric]
    if metric == CPU:
        return (t % 10**7) * 0.1
    # Three days ago the late job used far more than now.
    return 9e8 if job == LATE and time.time() - t > 3 * 86400 else 1e8


def fits(selector, labels):
    for label, operator, value in re.findall(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"', selector):
        value = value.replace("\\\\", "\\").replace('\\"', '"')
        is_it = labels.get(label, "") == value if operator in ("=", "!=") else re.fullmatch(value, labels.get(label, ""))
        if bool(is_it) != operator.startswith("="):
            return False
    return True


class Prometheus(daemon.JsonHandler):
    """A Prometheus with a sample per minute of each job since `since`. Responses about times after `slow_from` wait for go_on."""
    since = {}
    slow_from = float("inf")
    go_on = threading.Event()
    waits = threading.Event()
    series_asked = 0
    asked = []  # selectors of samples

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.path == "/api/v1/series":
            Prometheus.series_asked += 1
            start, end = float(form["start"][0]), float(form["end"][0])
            found = [labels_of(j, m) for j in PODS for m in METRICS
                     if self.first(j) <= end and time.time() >= start and
                     any(fits(s, labels_of(j, m)) for s in form["match[]"])]
            return self.answer(200, json.dumps({"status": "success", "data": found}))
        query = form["query"][0]
        if query.startswith("vector(time())"):
            return self.answer_matrix([({}, [(time.time(), 1)])])
        selector, seconds = re.match(r"(.*)\[(\d+)s\]$", query).groups()
        end = int(float(form["time"][0]))
        Prometheus.asked.append(selector)
        if end > Prometheus.slow_from and not Prometheus.go_on.is_set():
            Prometheus.waits.set()
            Prometheus.go_on.wait(60)
        result = []
        for job in PODS:
            for metric in METRICS:
                series = labels_of(job, metric)
                if fits(selector, series):
                    first = max((end - int(seconds)) // 60 * 60 + 60, int(self.first(job)) // 60 * 60)
                    times = range(first, min(end, int(time.time())) + 1, 60)
                    result.append((series, [(t, sample(job, metric, t)) for t in times]))
        self.answer_matrix([r for r in result if r[1]])

    @staticmethod
    def first(job):
        return Prometheus.since.get(job, 1e12)

    def answer_matrix(self, result):
        series = [{"metric": labels, "values": [[t, str(v)] for t, v in values]} for labels, values in result]
        self.answer(200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}))


class Case:
    """A daemon that has read a Prometheus without history. Then jobs are sent, and Prometheus has weeks of history of one of them."""

    def __init__(self, stage, name, days=2):
        self.stage, self.name, self.days = stage, name, days
        self.port = None
        self.serve()
        self.config = (f'clock_wait: 0s\nbackfill: {{prometheus: "http://127.0.0.1:{self.port}", history: {days}d, later_jobs: 1s}}\n'
                       "ingest: {grace: 1s, kubernetes_jobs: pods}\n")
        self.store = str(stage.dir / f"{name}.db")
        Prometheus.since = {}
        Prometheus.slow_from = float("inf")
        Prometheus.go_on.clear()
        Prometheus.waits.clear()
        self.tautd = self.start()
        self.check(daemon.eventually(lambda: "0 samples, 0 jobs" in self.tautd.output(), 60), "the first past is empty")
        Prometheus.series_asked, Prometheus.asked = 0, []

    def serve(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port or 0), Prometheus)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def start(self):
        return self.stage.tautd(config=self.config, store=self.store)

    def appear(self):
        now = int(time.time()) // 60 * 60
        # Prometheus also has the sent samples of the new job.
        Prometheus.since = {LATE: now - 30 * 86400, NEW: now - 540, "shop/deployment/other": 0}
        body = daemon.write_body([(labels_of(job, m),
                                   [(t, sample(job, m, t)) for t in range(now - 540, now + 1, 60)])
                                  for job in (LATE, NEW) for m in METRICS])
        assert daemon.write(self.tautd.port, body).status == 204, f"{self.name}: samples are accepted"
        self.check(daemon.eventually(lambda: len(self.tautd.get("/api/v1/jobs")["jobs"]) == 2, 30), "both are known")

    def check(self, ok, what):
        assert ok, f"{self.name}: {what}: {self.tautd.output()[-1500:]}"

    def late(self, state):
        found = re.search(rf'tautd_late_jobs{{state="{state}"}} (\d+)', self.tautd.ask("/metrics").text)
        return int(found.group(1)) if found else None

    def hours_known(self, job):
        now = int(time.time())
        usage = self.tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/usage?resource=memory&columns=1000"
                               f"&from={now - 10 * 86400}&to={now}")
        return len(usage["time"]) * usage["column_seconds"] / 3600

    def check_read(self):
        self.check(daemon.eventually(lambda: self.late("read") == 1 and self.late("nothing") == 1, 60),
                   "the past of the late job is read")
        self.check(24 * self.days - 1 < self.hours_known(LATE) < 24 * self.days + 1, "all days of it")
        self.check(self.hours_known(NEW) < 1, "nothing is added to the new one")
        assert len(self.tautd.get("/api/v1/jobs")["jobs"]) == 2, f"{self.name}: no job comes of it"

    def check_priced(self, hours):
        """The history is billed by its requests, as live usage is."""
        now = int(time.time())
        late = self.tautd.get(f"/api/v1/costs?from={now - 10 * 86400}&to={now}&by=:job")["late"]["memory"]
        for amount in ("allocation", "billed", "owner"):
            self.check(hours - 2 < late[amount] < hours + 1, f"{amount} of its past is by requests of 1 GiB: {late}")

    def end(self):
        self.tautd.stop()
        self.close()


def settings_of(tautd):
    return tautd.get(f"/api/v1/jobs/{daemon.quoted(LATE)}/settings")


def test_a_job_that_appears_later_learns_its_past(stage):
    case = Case(stage, "learns", days=5)
    Prometheus.slow_from = time.time() - 86400
    case.appear()
    case.check(Prometheus.waits.wait(60), "its past is being read")
    path = f"/api/v1/jobs/{daemon.quoted(LATE)}"
    answer = case.tautd.ask(f"{path}/settings", "PATCH", b'{"memory.upper": "2GiB"}',
                            {"Content-Type": "application/json"})
    assert answer.status == 200, "learns: people can set what they like meanwhile: " + answer.text[:200]
    before = settings_of(case.tautd)
    assert case.late("waiting") == 1, "learns: the metric says so"
    assert case.tautd.get("/api/v1/status")["late_jobs"]["waiting"] == 1, "learns: and the status"
    decisions = case.tautd.get("/api/v1/decisions")
    Prometheus.go_on.set()
    case.check_read()
    case.check(daemon.eventually(lambda: "history of jobs that appeared later: " in case.tautd.output(), 20), "the log says so")
    case.check_priced(24 * case.days)
    # Its usage of three days ago is known now.
    case.check(daemon.eventually(lambda: (case.tautd.get(path)["memory"]["would_be"] or 0) > 9e8, 30),
               "its recommender has learnt from it")
    assert settings_of(case.tautd) == before, "learns: settings are as before"
    case.check(case.tautd.get(path)["memory"]["limit"] == AMOUNTS[LIMIT], "no limit but the owner's is in force")
    assert [d for d in case.tautd.get("/api/v1/decisions")["decisions"] if d["kind"] != "would_set"] == [d for d in decisions["decisions"] if d["kind"] != "would_set"], (
        "learns: nothing was decided by it")
    # Other series are not requested.
    mine = [q for q in Prometheus.asked if 'namespace="late"' in q]
    assert len(mine) > 100 and all('pod="web-' in q for q in mine), f"learns: its series are asked for alone: {set(mine)}"
    case.tautd.stop()
    queries = len(Prometheus.asked)
    case.tautd = case.start()
    assert case.late("read") == 1, "learns: a restart knows that it was read"
    case.check(case.hours_known(LATE) > 24 * case.days - 1, "and the past")
    assert len(Prometheus.asked) == queries, "learns: it is not asked for again"
    case.end()


def test_a_kill_in_the_middle_goes_on(stage):
    case = Case(stage, "killed")
    Prometheus.slow_from = time.time() - 86400
    case.appear()
    case.check(Prometheus.waits.wait(60), "its past is being read")
    case.tautd.kill()
    Prometheus.go_on.set()
    case.tautd = case.start()
    case.check_read()
    case.end()


def test_a_stop_in_the_middle_goes_on(stage):
    case = Case(stage, "stopped")
    case.appear()
    case.check(daemon.eventually(lambda: len(Prometheus.asked) > 20, 60), "its past is being read")
    case.tautd.stop()
    case.tautd = case.start()
    case.check_read()
    case.end()


def test_an_absent_prometheus_is_asked_again(stage):
    case = Case(stage, "away")
    case.close()
    case.appear()
    case.check(daemon.eventually(lambda: case.late("failed") == 2, 60), "the metric says that it failed")
    case.check("retrying in" in case.tautd.output(), "the log says why")
    case.check("refused" in case.tautd.get("/api/v1/status")["late_jobs"]["error"], "and the status")
    text = stage.taut(case.tautd, "status").stdout
    case.check("2 failed" in text, "and taut status: " + text)
    case.serve()
    case.check_read()
    assert case.late("failed") == 0, "away: the failure is over"
    case.end()


def test_thousands_of_new_jobs_cost_no_query_each(stage):
    """Thousands of new jobs do not need one query each."""
    case = Case(stage, "many")
    now = int(time.time()) // 60 * 60
    count = 3000
    body = daemon.write_body([({"__name__": MEMORY, "container": "app", "namespace": "batch", "pod": f"run-{i}-once"},
                               [(now - 600, 1e8), (now - 540, 1e8)]) for i in range(count)] +
                             [({"__name__": MEMORY, **PODS[NEW]}, [(now, 1e8)])])
    assert daemon.write(case.tautd.port, body).status == 204, "many: samples are accepted"
    case.check(daemon.eventually(lambda: (case.late("nothing") or 0) >= count, 60), "all of them are settled")
    passes = case.tautd.output().count("history of jobs that appeared later: ")
    assert 0 < Prometheus.series_asked <= 6 * (passes + 1), "many: some looks at the index are enough"
    assert Prometheus.asked == [], "many: and no samples"
    case.end()


@pytest.mark.parametrize("name, interrupt", [("silence", False), ("silence_killed", True)])
def test_samples_that_did_not_come_are_read(stage, name, interrupt):
    """Samples of three hours are missing while tautd runs."""
    case = Case(stage, name)
    now = int(time.time()) // 60 * 60
    Prometheus.since = {LATE: now - 4 * 3600, "shop/deployment/other": 0}
    known = case.hours_known

    def send(first, last):
        body = daemon.write_body([(labels_of(LATE, m), [(t, sample(LATE, m, t)) for t in range(first, last + 1, 60)])
                                  for m in METRICS])
        assert daemon.write(case.tautd.port, body).status == 204, f"{name}: samples are accepted"

    send(now - 4 * 3600, now - 3 * 3600)
    case.check(daemon.eventually(lambda: case.late("read") == 1 or case.late("nothing") == 1, 60), "the job is settled")
    Prometheus.slow_from = now - 2 * 3600 if interrupt else float("inf")
    send(now - 600, now)
    case.check(daemon.eventually(lambda: "no samples were received for " in case.tautd.output(), 30), "the log says so")
    if interrupt:
        case.check(Prometheus.waits.wait(60), "the gap is being read")
        case.tautd.kill()
        Prometheus.go_on.set()
        case.tautd = case.start()
    case.check(daemon.eventually(lambda: "the time without samples was read" in case.tautd.output(), 60), "it is read")
    case.check(daemon.eventually(lambda: 3.5 < known(LATE) < 5, 10), f"no hour is missing: {known(LATE)}")
    assert len(case.tautd.get("/api/v1/jobs")["jobs"]) == 1, f"{name}: no job comes of it"
    case.check(not (stage.dir / f"{name}.db.gaps").exists(), "nothing is left to read")
    case.end()
