"""VictoriaMetrics 1.79 of Debian: vmagent as a second sender, and the single node as a check of `taut-dev feed`.

- vmagent scrapes Prometheus's node exporter and itself and writes to tautd: it has a remote write client of its own.
- `taut-dev feed` sends a past to VictoriaMetrics, which must know every sample of it: our sender before a receiver of
  others. What VictoriaMetrics exports of it (/api/v1/export) then goes to a tautd, which must see the same fleet as
  a tautd that was fed directly.

Single-node VictoriaMetrics has no remote write of its own to test.
"""
import math
import time

import daemon
import senders

pytestmark = daemon.needs("victoria-metrics", "vmagent", "prometheus-node-exporter")
HISTORY_HOURS = 24
MEMORY = "container_memory_working_set_bytes"


def test_vmagent_sends_and_its_jobs_appear(stage, tautd):
    """A later sample closes the window, because the clock is the samples'."""
    node, agent = daemon.free_port(), daemon.free_port()
    stage.start("prometheus-node-exporter", ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{node}"],
                lambda p: daemon.answers(node, "/metrics"))
    config = stage.file("scrape.yml", f"""global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: node
    static_configs: [{{targets: ['127.0.0.1:{node}']}}]
  - job_name: vmagent
    static_configs: [{{targets: ['127.0.0.1:{agent}']}}]
""")
    vmagent = stage.start(
        "vmagent", ["vmagent", f"-httpListenAddr=127.0.0.1:{agent}", f"-promscrape.config={config}",
                    f"-remoteWrite.url=http://127.0.0.1:{tautd.port}/api/v1/write",
                    f"-remoteWrite.tmpDataPath={stage.dir}/agent"],
        lambda p: daemon.answers(agent, "/metrics"))

    def ingest():
        return tautd.get("/api/v1/status")["ingest"]

    assert daemon.eventually(lambda: ingest()["accepted"] >= 200 and ingest()["unmapped"] >= 5000, 60), f"vmagent's samples arrive: {ingest()}"
    counts = ingest()
    print(f"      {counts}")
    assert sum(counts[k] for k in ("far_future", "over_capacity", "refused", "invalid", "conflicts")) == 0, "none is refused"
    lines = daemon.ask(agent, "/metrics").text.splitlines()
    some = [line for line in lines if not line.endswith(" 0")]
    sent = [line for line in some if line.startswith("vmagent_remotewrite_requests_total{")]
    ok = [line for line in sent if 'status_code="2XX"' in line]
    bad = [line for line in sent if line not in ok]
    dropped = [line for line in some if line.startswith("vmagent_remotewrite_packets_dropped_total{")]
    assert ok and not bad and not dropped, f"vmagent says that all it sent was taken: {(ok, bad, dropped)}"

    daemon.eventually(lambda: time.time() % 300 > 5, 10)
    later = {"__name__": "container_memory_working_set_bytes", "namespace": "test", "pod": "clock-0", "container": "c"}
    daemon.write(tautd.port, daemon.write_body([(later, [(time.time() + 600, 1.0)])]))
    names = daemon.eventually(
        lambda: {"machine/node", "vmagent"} <= {j["name"] for j in tautd.get("/api/v1/jobs")["jobs"]}, 30)
    assert names, f"its jobs appear: {tautd.get('/api/v1/jobs')}"
    assert vmagent.stop() == 0, "vmagent stops"


def same(a, b):
    """Returns whether numbers are equal to the precision of a decimal store, and all else is equal."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6)
    return a == b


def feed_is_understood(stage, tautd):
    """Returns the fed series, their number of samples, and the ends of their windows."""
    victoria = senders.victoria_metrics(stage)
    past = ["--history", f"{HISTORY_HOURS}h", "--live", "0", "--jobs", "20"]
    said = stage.feed(victoria, *past)
    print("      " + said.strip().splitlines()[0])
    sent = int(next(word for word in said.split("sent ")[1].split()).replace(",", ""))
    daemon.answers(victoria, "/internal/force_flush")
    now = int(time.time())
    begin = now - now % senders.SLICE_S - (HISTORY_HOURS + 1) * 3600
    slices = [senders.export(victoria, t, t + senders.SLICE_S) for t in range(begin, now + senders.SLICE_S, senders.SLICE_S)]
    assert sum(len(samples) for s in slices for _, samples in s) == sent, "VictoriaMetrics has every sample of taut-dev feed"
    assert any(labels["__name__"] == MEMORY for s in slices for labels, _ in s), "under the names that cAdvisor gives them"

    for series in slices:
        if series:
            daemon.send(tautd.port, series, ahead=True)
    counts = tautd.get("/api/v1/status")["ingest"]
    print(f"      {counts}")
    assert sum(counts.values()) == sent, "tautd is sent every sample of the export"
    windows = {int(t) // senders.SLICE_S * senders.SLICE_S + senders.SLICE_S for s in slices for labels, samples in s
               for t, _ in samples if labels["__name__"] == MEMORY}
    return past, sent, sorted(windows)


def test_the_same_fleet_by_way_of_victoria_metrics(stage, tautd):
    """The fleet is the same through VictoriaMetrics and directly."""
    past, sent, windows = feed_is_understood(stage, tautd)
    direct = stage.tautd(config="clock: samples\n")
    stage.feed(direct.port, *past)

    def pages(path):
        return tautd.get(path), direct.get(path)

    def closed(of):
        return of.get("/api/v1/fleet/history?points=5000")["time"]

    # The last one or two wait for later samples.
    daemon.eventually(lambda: len(closed(tautd)) >= len(windows) - 2 and closed(tautd) == closed(direct), 60)
    print(f"      {len(windows)} windows, {direct.get('/api/v1/jobs')['total']} jobs", flush=True)
    assert len(windows) > 100 and sent > 10_000, f"it is a history worth the name: {(len(windows), sent)}"
    assert len(closed(direct)) >= len(windows) - 2 and closed(direct) == windows[:len(closed(direct))], (
        f"tautd has closed each window that has samples: {(closed(direct)[-4:], windows[-4:])}")
    # Until a pod's owner is known, its limits may be under another name, for a window or two.
    assert same(*pages(f"/api/v1/fleet/history?points=5000&from={windows[4]}")), (
        f"and sees the same fleet over time by way of VictoriaMetrics: {pages('/api/v1/fleet')}")
    assert same(*pages("/api/v1/jobs?sort=name")), f"and the same jobs: {pages('/api/v1/jobs?sort=name&limit=2')}"
    assert direct.get("/api/v1/status")["ingest"] == tautd.get("/api/v1/status")["ingest"], "from the same samples"
