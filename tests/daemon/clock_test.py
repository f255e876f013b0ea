"""A start far beyond the stored data decides and ends nothing until its clock is confirmed: by time, or by an operator.

The stored data are a day old. To tautd that is a stop of a day, or a machine that boots a day ahead.
"""
import json
import pathlib
import shutil
import time

import daemon

STEP = 30
HOUR = 3600
OPERATOR = "operator-token-0123456789"
READER = "reader-token-0123456789"
QUOTA = "groups: [{name: shop, quotas: [{tier: production, resource: cpu, nominal: 40}]}]\n"
BUDGETS = """businesses: [{name: retail, budget: 1000}]
groups: [{name: shop, shares: {retail: 100%}}]
"""


def scrape(at):
    labels = {"namespace": "shop", "pod": "web-5d4f8c7b9d-xbbbz", "container": "app"}
    return [
        ({"__name__": "container_cpu_usage_seconds_total", "cpu": "total", **labels}, [(at, at % 100_000 * 0.1)]),
        ({"__name__": "container_memory_working_set_bytes", **labels}, [(at, 2e8)])]


def send(tautd, begin, end):
    for at in range(begin, end, STEP):
        daemon.send(tautd.port, scrape(at), OPERATOR)


def config(stage, more):
    (stage.dir / "quota.yaml").write_text(QUOTA)
    (stage.dir / "budgets.yaml").write_text(BUDGETS)
    operators, readers = stage.file("operators", OPERATOR + "\n"), stage.file("readers", READER + "\n")
    return f"""server: {{tokens: {{operator_file: {operators}, reader_file: {readers}}}}}
quota: {{file: {stage.dir}/quota.yaml}}
budgets: {{file: {stage.dir}/budgets.yaml}}
prices: {{core_hour: 1, gib_hour: 0.1}}
store: {{decisions: 400d}}
{more}"""


def through(tautd):
    return tautd.get("/api/v1/status", token=OPERATOR)["last_window_end"]


def post(tautd, path, body, token=OPERATOR):
    return tautd.ask(path, "POST", json.dumps(body), {"Content-Type": "application/json"}, token=token)


def entries(tautd):
    return len(tautd.get("/api/v1/budget-ledger?limit=1000", token=OPERATOR)["entries"])


def test_windows_of_yesterday_are_stored(stage, story):
    story.store = stage.dir / "tautd.db"
    story.tautd = stage.tautd(config=config(stage, "clock: samples\n"), store=story.store)
    end = int(time.time()) - 25 * HOUR
    send(story.tautd, end - 2 * HOUR, end)
    assert daemon.eventually(lambda: (through(story.tautd) or 0) > end - 15 * 60, 30), "windows of yesterday are stored"
    assert daemon.eventually(lambda: entries(story.tautd) > 0, 30), "the ledger has its definition"
    assert story.tautd.stop() == 0, "and tautd stops"


def test_a_start_far_beyond_them_waits_and_says_so(stage, story):
    story.tautd = stage.tautd(config=config(stage, "clock_wait: 1h\n"), store=story.store)
    story.stored, story.ledger = through(story.tautd), entries(story.tautd)
    ready = story.tautd.ask("/readyz")
    assert ready.status == 200 and "beyond the stored data" in ready.text, "/readyz is ready and says what it waits for"
    assert "taut confirm-clock" in story.tautd.output(), f"so does the log: {story.tautd.output()[-600:]}"
    assert daemon.metric(story.tautd, "tautd_clock_unconfirmed", OPERATOR) == 1, "and the metric"


def test_samples_are_taken_and_nothing_else(story):
    story.now = int(time.time())
    send(story.tautd, story.now - 900, story.now)
    assert daemon.metric(story.tautd, "tautd_waiting_samples", OPERATOR) > 30, "samples are taken"
    ask = {"group": "shop", "tier": "production", "cpu": 1}
    answer = post(story.tautd, "/api/v1/requests", ask)
    assert answer.status == 503 and "beyond the stored data" in answer.text, "a request for quota is answered 503"
    story.grant = {"act": "grant", "of": "business:retail", "amount": "5", "why": "a test"}
    answer = post(story.tautd, "/api/v1/budget-ledger", story.grant)
    assert answer.status == 503 and "beyond the stored data" in answer.text, "as is an entry of the ledger"


def test_no_window_closes_and_nothing_is_entered(story):
    send(story.tautd, story.now, story.now + STEP)
    assert daemon.eventually(lambda: story.tautd.has_ticked(OPERATOR), 20), "a tick has come since"
    assert (through(story.tautd), entries(story.tautd)) == (story.stored, story.ledger), "no window closes, and nothing is entered"


def test_a_copy_of_the_store_is_there(story):
    assert daemon.eventually(pathlib.Path(f"{story.store}.before-clock").exists, 10), "a copy of tautd.db is there"


def test_an_operator_confirms_the_clock(stage, story):
    assert post(story.tautd, "/api/v1/clock/confirm", {}, READER).status == 403, "a reader may not confirm the clock"
    token = stage.file("operator-token", OPERATOR + "\n")
    done = stage.run(stage.args.taut, "confirm-clock", "--server", story.tautd.url, "--token-file", token)
    assert (done.returncode, done.stdout) == (0, "the clock is confirmed\n"), "an operator confirms it"
    assert daemon.eventually(lambda: daemon.metric(story.tautd, "tautd_clock_unconfirmed", OPERATOR) == 0, 10), "the wait is over"
    assert daemon.eventually(lambda: through(story.tautd) > story.now - 1000, 60), f"windows close: {through(story.tautd)}"
    assert daemon.eventually(lambda: post(story.tautd, "/api/v1/budget-ledger", story.grant).status == 200, 10), "the ledger is written again"
    assert post(story.tautd, "/api/v1/clock/confirm", {}).status == 409, "there is nothing more to confirm"
    assert ".before-clock" in story.tautd.output(), f"the log says where the copy is: {story.tautd.output()[-600:]}"
    assert story.tautd.stop() == 0, "tautd stops"


def test_the_copy_brings_back_what_was(stage, story):
    # These are the steps of docs/operate/backup.md.
    for log in ("-wal", "-shm"):
        pathlib.Path(f"{story.store}{log}").unlink(missing_ok=True)
    shutil.move(f"{story.store}.before-clock", story.store)
    for samples in story.store.parent.glob("tautd.db.samples.*"):
        samples.unlink()
    story.tautd = stage.tautd(config=config(stage, "clock_wait: 5s\n"), store=story.store)
    assert (through(story.tautd), entries(story.tautd)) == (story.stored, story.ledger), "the copy is the store and ledger as they were"
    assert daemon.eventually(lambda: daemon.metric(story.tautd, "tautd_clock_unconfirmed", OPERATOR) == 0, 20), "time ends the wait, too"
    assert story.tautd.stop() == 0, "tautd stops"
