"""A backfill that is stopped or killed in the middle is resumed at the next start; one that fails logs it."""
import http.server
import re
import signal
import threading
import urllib.parse

import pytest

import daemon

HOURS = 12
METRICS = ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes")
FIRST = threading.Event()  # set when enough hours were requested for the test to interrupt
GO_ON = threading.Event()


class Prometheus(daemon.JsonHandler):
    """A Prometheus with one container and a sample per minute, CPU as a counter and memory as a gauge; slow until GO_ON."""
    asked = 0
    refuse = False

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if Prometheus.refuse:
            return self.answer(401, '{"status":"error","error":"who are you?"}')
        query = form["query"][0]
        if "time()" in query:
            return self.answer(200, '{"status":"success","data":{"resultType":"matrix","result":[]}}')
        seconds = re.search(r"\[(\d+)s\]", query).group(1)
        metric = next((m for m in METRICS if m in query), "")
        end = int(float(form["time"][0]))
        if metric == METRICS[1]:
            Prometheus.asked += 1
            if Prometheus.asked > 4 and not GO_ON.is_set():
                FIRST.set()
                GO_ON.wait(60)
        values = []
        for t in range((end - int(seconds)) // 60 * 60 + 60, end + 1, 60):
            if metric == METRICS[0]:
                values.append(f'[{t},"{(t % 10**7) * 0.1}"]')
            elif metric == METRICS[1]:
                values.append(f'[{t},"{1e8}"]')
        labels = f'"__name__":"{metric}","container":"app","namespace":"shop","pod":"web-5d4f8c7b9d-x2x4z"'
        series = f'{{"metric":{{{labels}}},"values":[{",".join(values)}]}}' if values else ""
        self.answer(200, f'{{"status":"success","data":{{"resultType":"matrix","result":[{series}]}}}}')


def windows(tautd):
    return len(tautd.get("/api/v1/fleet/history?points=5000")["time"])


@pytest.fixture(scope="module")
def server():
    its = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
    threading.Thread(target=its.serve_forever, daemon=True).start()
    yield its
    its.shutdown()


@pytest.mark.parametrize("name, sig", [("stopped", signal.SIGTERM), ("killed", signal.SIGKILL)])
def test_the_next_start_goes_on_where_it_was(stage, server, name, sig):
    Prometheus.asked = 0
    FIRST.clear()
    GO_ON.clear()
    store = str(stage.dir / f"{name}.db")
    config = f'clock_wait: 0s\nbackfill: {{prometheus: "http://127.0.0.1:{server.server_port}", history: {HOURS}h}}\n'
    tautd = stage.tautd(config=config, store=store)
    assert FIRST.wait(30), f"{name}: some hours are read"
    assert tautd.get("/api/v1/status")["backfill"], f"{name}: the status knows of it"
    assert "backfill is running" in tautd.ask("/readyz").text, f"{name}: and readiness"
    if sig == signal.SIGKILL:
        tautd.kill()
    else:
        GO_ON.set()
        tautd.stop()
    GO_ON.set()
    again = stage.tautd(config=config, store=store)
    assert daemon.eventually(lambda: " samples, " in again.output(), 30), f"{name}: the next start goes on: {again.output()[-500:]}"
    assert ", resumed" in again.output(), f"{name}: and says so: {again.output()[-500:]}"
    assert daemon.eventually(lambda: again.get("/api/v1/status")["backfill"] is None, 30), f"{name}: it ends"
    assert windows(again) > HOURS * 12 * 0.95, f"{name}: no hour is lacking"
    again.stop()
    once_more = stage.tautd(config=config, store=store)
    assert "backfill" not in once_more.output(), f"{name}: complete, it is not read again"
    once_more.stop()


def test_a_failure_is_said_everywhere(stage, server, monkeypatch):
    monkeypatch.setattr(Prometheus, "refuse", True)
    config = f'clock_wait: 0s\nbackfill: {{prometheus: "http://127.0.0.1:{server.server_port}", history: 1d}}\n'
    tautd = stage.tautd(config=config, store=str(stage.dir / "failed.db"))
    assert daemon.eventually(lambda: tautd.get("/api/v1/status")["backfill_error"], 10), "a failure is in the status"
    assert "who are you?" in tautd.get("/api/v1/status")["backfill_error"], "with the server's words"
    assert "\ntautd_backfill_failed 1\n" in tautd.ask("/metrics").text, "in the metrics"
    assert "backfill failed" in tautd.output(), f"in the log: {tautd.output()[-500:]}"
    assert "backfill failed" in tautd.ask("/readyz").text, "and in the text of readiness"
    tautd.stop()
