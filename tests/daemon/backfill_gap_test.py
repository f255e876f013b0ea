"""tautd reads the samples that it missed while it was down from Prometheus at the next start, also while new samples arrive, after a
kill and when Prometheus is unreachable at first."""
import http.server
import re
import threading
import time
import urllib.parse

import pytest

import daemon

HOURS = 12
GAP = 3 * 3600
WINDOW = 300
CPU, MEMORY, KILLS = METRICS = ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes",
                                "container_oom_events_total")
POD = {"container": "app", "namespace": "shop", "pod": "web-5d4f8c7b9d-x2x4z"}


def sample(metric, t, killed_at):
    return {CPU: (t % 10**7) * 0.1, MEMORY: 1e8, KILLS: 3.0 if t >= killed_at else 0.0}[metric]


class Prometheus(daemon.JsonHandler):
    """A Prometheus with one container and a sample per minute. It has the samples up to `until`; responses about times from `slow_from` on
    wait for go_on."""
    until = 0
    slow_from = float("inf")
    killed_at = float("inf")
    refuse = False
    clock_behind = 0
    go_on = threading.Event()
    waits = threading.Event()

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if Prometheus.refuse:
            return self.answer(401, '{"status":"error","error":"who are you?"}')
        if self.path == "/api/v1/series":  # owners and the like: there are none
            return self.answer(200, '{"status":"success","data":[]}')
        query = form["query"][0]
        if query.startswith("vector(time())"):
            return self.answer_matrix("", [f'[{int(time.time()) - Prometheus.clock_behind},"1"]'])
        seconds = int(re.search(r"\[(\d+)s\]", query).group(1))
        metric = next((m for m in METRICS if m in query), "")
        end = int(float(form["time"][0]))
        if end > Prometheus.slow_from and not Prometheus.go_on.is_set():
            Prometheus.waits.set()
            Prometheus.go_on.wait(60)
        values = []
        if metric:
            for t in range((end - seconds) // 60 * 60 + 60, min(end, Prometheus.until) + 1, 60):
                values.append(f'[{t},"{sample(metric, t, Prometheus.killed_at)}"]')
        self.answer_matrix(metric, values)

    def answer_matrix(self, metric, values):
        labels = {"__name__": metric, **POD}
        text = ",".join(f'"{k}":"{v}"' for k, v in labels.items())
        series = f'{{"metric":{{{text}}},"values":[{",".join(values)}]}}' if values else ""
        self.answer(200, f'{{"status":"success","data":{{"resultType":"matrix","result":[{series}]}}}}')


def missing_windows(tautd):
    """Returns the windows missing between the first and the last stored one, and the age of the last one's end."""
    times = tautd.get("/api/v1/fleet/history?points=5000")["time"]
    return (times[-1] - times[0]) // WINDOW + 1 - len(times), time.time() - times[-1]


def missing_of_job(tautd):
    """Returns the missing windows of the job's stored history."""
    now = int(time.time())
    usage = tautd.get(f"/api/v1/jobs/{daemon.quoted('shop/deployment/web')}/usage?resource=memory&columns=1000"
                      f"&from={now - 86400}&to={now}")
    times = usage["time"]
    return (times[-1] - times[0]) // usage["column_seconds"] + 1 - len(times)


class Case:
    """A daemon with all samples except the last three hours."""

    def __init__(self, stage, name, backfill=""):
        self.stage, self.name = stage, name
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.config = (f'clock_wait: 0s\nbackfill: {{prometheus: "http://127.0.0.1:{self.port}", history: {HOURS}h{backfill}}}\n'
                       "ingest: {kubernetes_jobs: pods}\n")
        self.store = str(stage.dir / f"{name}.db")
        # In the middle of a window: a window with a single sample, at its begin, has no known rate.
        Prometheus.until, Prometheus.refuse = (int(time.time()) - GAP) // WINDOW * WINDOW + WINDOW // 2, False
        Prometheus.slow_from = Prometheus.killed_at = float("inf")
        Prometheus.go_on.clear()
        Prometheus.waits.clear()
        tautd = self.start()
        self.check(daemon.eventually(lambda: "12 of 12 hours" in tautd.output(), 30), "the first past is read", tautd)
        tautd.stop()
        Prometheus.until = int(time.time())

    def start(self):
        return self.stage.tautd(config=self.config, store=self.store)

    def check(self, ok, what, tautd=None):
        assert ok, f"{self.name}: {what}: {tautd.output()[-700:] if tautd is not None else ''}"

    def check_filled(self, tautd):
        self.check(daemon.eventually(lambda: "backfill: a gap, " in tautd.output(), 30), "the gap is read", tautd)
        missing, ago = missing_windows(tautd)
        assert missing == 0, f"{self.name}: no window is missing"
        self.check(ago < 900, "up to now", tautd)

    def end(self, tautd):
        tautd.stop()
        self.server.shutdown()
        self.server.server_close()


def test_a_gap_is_read_and_said(stage):
    case = Case(stage, "filled")
    Prometheus.killed_at = time.time() - GAP / 2
    Prometheus.slow_from = time.time() - GAP / 2
    tautd = case.start()
    case.check(Prometheus.waits.wait(30), "the gap is being read", tautd)
    case.check(daemon.eventually(lambda: "nothing is stored of the last " in tautd.output(), 20), "the log says so", tautd)
    status = tautd.get("/api/v1/status")
    case.check("a gap, " in status["backfill"]["sentence"], "the status knows of it", tautd)
    case.check(9000 < status["backfill"]["total"] < 13000, "and how long it is", tautd)
    case.check("backfill is running" in tautd.ask("/readyz").text, "and readiness", tautd)
    case.check("\ntautd_backfill_running 1\n" in tautd.ask("/metrics").text, "and the metrics", tautd)
    Prometheus.go_on.set()
    case.check_filled(tautd)
    jobs = {j["name"]: j for j in tautd.get("/api/v1/jobs")["jobs"]}
    assert jobs["shop/deployment/web"]["ooms"] == 3, "filled: OOM kills in it count"
    case.check("oom_kill" not in tautd.output(), "but are no news", tautd)
    tautd.stop()
    again = case.start()
    case.check("backfill" not in again.output(), "complete, it is not read again", again)
    case.end(again)


def test_a_gap_is_read_while_samples_come(stage):
    case = Case(stage, "live")
    Prometheus.slow_from = time.time() - GAP / 2
    tautd = case.start()
    case.check(Prometheus.waits.wait(30), "the gap is being read", tautd)
    # The samples that Prometheus queued arrive too, some of them twice.
    now = int(time.time()) // 60 * 60
    for first in (now - 3600, now - 600):
        body = daemon.write_body([({"__name__": m, **POD}, [(t, sample(m, t, float("inf")))
                                                            for t in range(first, now + 1, 60)]) for m in METRICS])
        assert daemon.write(tautd.port, body).status == 204, "live: new samples are accepted meanwhile"
    Prometheus.go_on.set()
    case.check_filled(tautd)
    cpu = tautd.get("/api/v1/fleet/history?points=5000")["cpu"]["usage"]
    case.check(all(abs(c - 0.1) < 0.001 for c in cpu[1:]), "nothing counts twice", tautd)
    case.end(tautd)


def test_a_kill_in_the_middle_goes_on(stage):
    case = Case(stage, "killed")
    Prometheus.slow_from = time.time() - GAP / 2
    tautd = case.start()
    case.check(Prometheus.waits.wait(30), "the gap is being read", tautd)
    tautd.kill()
    Prometheus.go_on.set()
    again = case.start()
    case.check(daemon.eventually(lambda: " samples, " in again.output(), 30), "the next start goes on", again)
    missing, ago = missing_windows(again)
    assert missing == 0, "killed: no window is missing"
    case.check(ago < 900, "up to now", again)
    case.end(again)


def test_an_unreachable_prometheus_is_asked_again(stage):
    case = Case(stage, "unreachable")
    case.server.shutdown()
    case.server.server_close()
    tautd = case.start()
    case.check(daemon.eventually(lambda: "retrying in 5 s" in tautd.output(), 30), "the log says so", tautd)
    case.check("refused" in tautd.get("/api/v1/status")["backfill_error"], "and the status, while it waits", tautd)
    now = int(time.time())
    body = daemon.write_body([({"__name__": MEMORY, **POD}, [(now, 1e8)])])
    assert daemon.write(tautd.port, body).status == 204, "unreachable: new samples are accepted"
    case.server = http.server.ThreadingHTTPServer(("127.0.0.1", case.port), Prometheus)
    threading.Thread(target=case.server.serve_forever, daemon=True).start()
    case.check_filled(tautd)
    case.check(tautd.get("/api/v1/status")["backfill_error"] is None, "and the error is gone", tautd)
    case.end(tautd)


def test_the_earlier_clock_counts(stage):
    case = Case(stage, "clocks")
    Prometheus.clock_behind = 3600
    tautd = case.start()
    case.check(daemon.eventually(lambda: re.search(r"backfill: a gap, \d of (2|2\.\d+) hours", tautd.output()), 30), "the earlier clock counts", tautd)
    missing, ago = missing_windows(tautd)
    assert missing == 0, "clocks: no window is missing"
    case.check(3600 < ago < 4500, "nothing is closed that Prometheus cannot know yet", tautd)
    Prometheus.clock_behind = 0
    case.end(tautd)


@pytest.mark.parametrize("killed", [False, True])
def test_a_refused_backfill_is_read_later(stage, killed):
    """A failed backfill is repeated: the unread part is read while tautd runs, also after a kill."""
    case = Case(stage, "refused, killed" if killed else "refused", ", later_jobs: 2s")
    Prometheus.refuse = True
    tautd = case.start()
    case.check(daemon.eventually(lambda: tautd.get("/api/v1/status")["backfill_error"], 10), "the status says so", tautd)
    case.check("\ntautd_backfill_failed 1\n" in tautd.ask("/metrics").text, "and the metrics", tautd)
    case.check("before the start are read later" in tautd.output(), "and the log, with what is read later", tautd)
    case.check(daemon.state_of(case.store, "gaps"), "what is missing is on disk", tautd)
    case.check(not daemon.state_of(case.store, "backfill"), "and the mark of the backfill is not", tautd)
    # It continues live: windows before the newest sample close.
    now = int(time.time())
    body = daemon.write_body([({"__name__": m, **POD}, [(t, sample(m, t, float("inf")))
                                                        for t in range(now - 900, now + 1, 60)]) for m in METRICS])
    assert daemon.write(tautd.port, body).status == 204, f"{case.name}: new samples are accepted"
    case.check(daemon.eventually(lambda: missing_windows(tautd)[1] < 900, 60), "and windows are stored", tautd)
    case.check(missing_windows(tautd)[0] > 20, "after a hole", tautd)
    if killed:
        tautd.kill()
        Prometheus.refuse = False
        tautd = case.start()
    Prometheus.refuse = False
    case.check(daemon.eventually(lambda: missing_of_job(tautd) == 0, 60), "the hole is read later", tautd)
    case.check(daemon.eventually(lambda: not daemon.state_of(case.store, "gaps"), 10), "once", tautd)
    case.check(daemon.eventually(lambda: "\ntautd_backfill_failed 1\n" not in tautd.ask("/metrics").text, 30),
               "and the error is over", tautd)
    assert tautd.get("/api/v1/status")["backfill_error"] is None, f"{case.name}: for the status, too"
    case.end(tautd)
