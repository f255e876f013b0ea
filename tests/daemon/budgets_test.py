"""Money of businesses and groups in a tautd: spending and forecasts, an append-only ledger that a kill
neither shortens nor doubles, a budgets file that changes, and the output of taut budget."""
import json
import signal
import threading
import time
from decimal import Decimal

import pytest

import daemon

QUOTA = """groups:
  - {name: pool}
  - {name: shop, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 40}, {tier: production, resource: memory, nominal: 80GiB}]}
  - {name: web, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 40}, {tier: production, resource: memory, nominal: 80GiB}]}
"""
BUDGETS = """currency: EUR
period: year
units: [{name: credits, rate: 0.50}]
businesses:
  - {name: retail, budget: 1000, carry_over: 50%, carry_cap: 200}
  - {name: media, budget: 2000, unit: credits}
groups:
  - {name: shop, shares: {retail: 70%, media: 30%}}
  - {name: web, shares: {retail: 100%}}
"""
PRICES = """currency: EUR
tiers:
  - {name: production, prices: [{core_hour: 1}]}
"""
READER = "reader-0123456789abcdef0123456789"
OPERATOR = "operator-0123456789abcdef012345678"
LEDGER = "/api/v1/budget-ledger"


def config(stage):
    return f"""clock: samples
store: {{decisions: 400d}}
quota: {{file: {stage.dir / "quota.yaml"}}}
budgets: {{file: {stage.dir / "budgets.yaml"}, entries_per_day: 100000}}
prices: {{core_hour: 1, gib_hour: 0, currency: EUR, budgets: ["all: 5000"], alerts: ["1%"], file: {stage.dir / "prices.yaml"}}}
server:
  tokens: {{reader_file: {stage.file("readers", READER)}, operator_file: {stage.file("operators", OPERATOR + " anna")}}}
"""


def usage(start, seconds):
    """Usage of three namespaces with a limit of 2 cores each, lab without a budget."""
    out = []
    at = range(start, start + seconds, 15)
    for namespace in ("shop", "web", "lab"):
        labels = {"namespace": namespace, "pod": "app-0", "container": "app"}
        for metric, value in (("container_cpu_usage_seconds_total", lambda t: 0.5 * (t - start)), ("container_memory_working_set_bytes", lambda t: 1e9),
                              ("container_spec_cpu_quota", lambda t: 2e5)):
            out.append(({"__name__": metric, **labels}, [(t, value(t)) for t in at]))
    return out


class Budgets:
    def __init__(self, stage, tautd):
        self.stage, self.tautd = stage, tautd

    def call(self, method, path, body=None, token=OPERATOR):
        return self.tautd.ask(path, method=method, body=None if body is None else json.dumps(body), token=token, timeout=30)

    def page(self):
        return self.call("GET", "/api/v1/businesses").json()

    def of(self, name):
        page = self.page()
        return next((row for row in page["businesses"] + page["groups"] if row["holder"] == name), None)

    def enter(self, act, of, status=200, **more):
        answer = self.call("POST", LEDGER, {"act": act, "of": of, "why": "a test", **more})
        assert answer.status == status, f"{act} of {of} {more}: {status} ({answer.text[:200]})"
        return answer.json()

    def entries(self):
        return self.call("GET", LEDGER + "?limit=10000").json()["entries"]

    def cli(self, *argv):
        return self.stage.run(self.stage.args.taut, "budget", *argv, "--server", self.tautd.url, "--token-file", self.stage.file("token", OPERATOR))


@pytest.fixture(scope="module")
def files(stage):
    (stage.dir / "quota.yaml").write_text(QUOTA)
    (stage.dir / "budgets.yaml").write_text(BUDGETS)
    (stage.dir / "prices.yaml").write_text(PRICES)


@pytest.fixture(scope="module")
def budgets(stage, files):
    return Budgets(stage, stage.tautd(config=config(stage), store=stage.dir / "tautd.db"))


def test_the_ledger_opens_with_the_first_sample(budgets, story):
    story.start = int(time.time()) // 3600 * 3600 - 6 * 3600
    assert budgets.page()["from"] is None, "before the first sample no period is open"
    assert budgets.call("POST", LEDGER, {"act": "grant", "of": "retail", "amount": "1", "why": "x"}).status == 503, "and the ledger is not open yet"


def test_groups_spend_and_businesses_pay_by_their_shares(budgets, story):
    for at in range(story.start, story.start + 6 * 3600, 3600):
        assert daemon.write(budgets.tautd.port, daemon.write_body(usage(at, 3600)), OPERATOR).status == 204, "an hour of samples"
    assert daemon.eventually(lambda: budgets.of("business:retail") and Decimal(budgets.of("business:retail")["spent"]) > 18, 60), (
        f"the businesses spend: {budgets.page()}")
    page = budgets.page()
    shop = next(g for g in page["groups"] if g["name"] == "shop")
    paid = {f["business"]: Decimal(f["paid"]) for f in shop["funders"]}
    assert paid["retail"] + paid["media"] == Decimal(shop["spent_in_all"]), "what businesses pay for a group is what it spent"
    assert abs(paid["retail"] - Decimal(shop["spent_in_all"]) * 7 / 10) <= Decimal("0.000001"), "by their shares"
    retail, media = budgets.of("business:retail"), budgets.of("business:media")
    web = next(g for g in page["groups"] if g["name"] == "web")
    assert Decimal(retail["spent"]) == paid["retail"] + Decimal(web["spent_in_all"]), "a business pays for both of its groups"
    assert (media["unit"], Decimal(media["spent"])) == ("credits", 2 * paid["media"]), "a credit is 0.50 EUR"
    assert [g["group"] for g in page["without_budget"]] == ["lab"], "a group without a budget is named"
    assert Decimal(page["spent"]) == sum(Decimal(g["spent_in_all"]) for g in page["groups"]) + Decimal(page["unfunded"]), (
        "all of it is somebody's, or unfunded")
    assert Decimal(retail["forecast"]) > Decimal(retail["spent"]), "the forecast is higher"
    costs = budgets.call("GET", "/api/v1/costs?by=namespace&from=0&to=4000000000").json()
    assert abs(costs["total"]["cost"]["billed"] - float(page["spent"])) < 1e-4, (
        f"and is what the costs say: {(costs['total']['cost'], page['spent'])}")
    assert [b["name"] for b in budgets.call("GET", "/api/v1/budgets").json()["budgets"]] == ["all"], "the budgets of labels go on"


def test_money_moves_and_says_who_why_and_what(budgets, story):
    entry = budgets.enter("transfer", "retail", to="group:shop", amount="250")
    assert entry["who"] == "anna" and entry["why"] == "a test" and "250.00 EUR from business:retail to group:shop" in entry["text"], (
        "an entry says who, why and what")
    shop = budgets.of("group:shop")
    assert (shop["budget"], Decimal(shop["spent"])) == ("250.00", Decimal(shop["spent_in_all"])), "a group's own money pays first"
    assert budgets.enter("transfer", "media", to="shop", amount="100")["received"] == "50.00", "credits arrive as EUR"
    budgets.enter("split", "retail", amount="0.000001", parts={"shop": "33.33%", "web": "66.67%"})


def test_a_frozen_business_says_why(budgets, story):
    budgets.enter("freeze", "media")
    refused = budgets.enter("transfer", "media", 409, to="shop", amount="1")
    assert "business:media is frozen by entry" in refused["error"] and "a test" in refused["error"], "a frozen business says why"
    budgets.enter("unfreeze", "media")


def test_an_override_is_beside_the_balance(budgets, story):
    budgets.enter("override", "retail", amount="100", until="2999-01-01", status=400)
    budgets.enter("override", "retail", amount="100", until=int(time.time()) + 86400)
    assert Decimal(budgets.of("business:retail")["budget"]) - Decimal(budgets.of("business:retail")["balance"]) == 100, (
        "an override is beside the balance")


def test_what_is_spent_does_not_move(budgets, story):
    left = Decimal(budgets.of("business:retail")["balance"]) - Decimal(budgets.of("business:retail")["spent"])
    said = budgets.enter("expire", "retail", 409, amount=str(left + 1))["error"]
    assert "has spent" in said and "can move" in said, "what is spent does not move"


def test_wrong_entries_change_nothing(budgets, story):
    before = budgets.page()
    for body, status, what in (({"act": "grant", "of": "retail", "amount": "-5"}, 400, "expected more than 0"), ({"act": "grant", "of": "retail", "amount": "99999999999999999"}, 400, "out of range"),
                               ({"act": "grant", "of": "nobody", "amount": "5"}, 404, "no business or group"), ({"act": "split", "of": "retail", "amount": "5", "parts": {"shop": "60%", "web": "30%"}}, 400, "add up to 90 %"),
                               ({"act": "seize", "of": "retail"}, 400, "expected grant"), ({"act": "transfer", "of": "retail", "to": "retail", "amount": "1"}, 400, "to itself"), ({"act": "grant", "of": "retail", "amount": "5", "why": ""}, 400, "why is missing"),
                               ({"act": "grant", "of": "retail", "amount": "5", "note": "x"}, 400, "expected act, of, to")):
        answer = budgets.call("POST", LEDGER, {"why": "x", **body})
        assert answer.status == status and what in answer.text, f"{body}: {status}, {what}"
    assert budgets.call("POST", LEDGER, {"act": "grant", "of": "retail", "amount": "5", "why": "x"}, READER).status == 403, "a reader enters nothing"
    assert [b["balance"] for b in budgets.page()["businesses"]] == [b["balance"] for b in before["businesses"]], "what is refused changes nothing"


def test_entries_outlive_a_kill_and_come_once(stage, budgets, story):
    """tautd is killed while money is granted; each request is repeated with its key after the restart."""
    before = Decimal(budgets.of("business:retail")["balance"])
    asked, answered, stop = [], [], threading.Event()

    def grant(thread):
        number = 0
        while not stop.is_set():
            body = {"act": "grant", "of": "retail", "amount": "0.01", "why": "kill", "key": f"{thread}-{number}"}
            number += 1
            asked.append(body)
            try:
                answer = budgets.call("POST", LEDGER, body)
            except OSError:
                return
            if answer.status == 200:
                answered.append(answer.json()["id"])

    threads = [threading.Thread(target=grant, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    assert daemon.eventually(lambda: len(answered) > 200, 30), "money is granted"
    budgets.tautd.kill()
    stop.set()
    for thread in threads:
        thread.join()
    budgets.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    entries = budgets.entries()
    assert sorted(set(answered) - {e["id"] for e in entries}) == [], "every entry that was answered is kept"
    assert [e["id"] for e in reversed(entries)] == list(range(1, len(entries) + 1)), "ids have no gap and come once"
    assert [e["time"] for e in entries] == sorted((e["time"] for e in entries), reverse=True), "times do not go back"
    for body in asked:
        assert budgets.call("POST", LEDGER, body).status == 200, f"{body['key']} again"
    assert Decimal(budgets.of("business:retail")["balance"]) == before + Decimal("0.01") * len(asked), (
        "each was granted once, also when it is asked for again")
    answer = budgets.call("POST", LEDGER, {**asked[0], "amount": "7"})
    assert answer.status == 409 and "another key" in answer.text, "a key is of one request"


def change(budgets, text, until, what):
    """Changes the budgets' file."""
    (budgets.stage.dir / "budgets.yaml").write_text(text)
    budgets.tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(until, 20), f"{what}: {budgets.tautd.output()[-600:]}"


def test_a_changed_file_is_entered(budgets, story):
    story.count = len(budgets.entries())
    change(budgets, BUDGETS.replace("retail: 70%, media: 30%", "retail: 50%, media: 50%").replace("budget: 1000", "budget: 1500"), lambda: len(budgets.entries()) == story.count + 2, "changed shares and a changed budget are two entries")
    newest = budgets.entries()[:2]
    assert all(e["who"] == "file budgets.yaml" for e in newest) and "retail 50 %" in newest[0]["text"], f"by the file: {newest}"
    shop = budgets.of("group:shop")
    assert [f["share_bp"] for f in shop["funders"]] == [7000, 3000], "today goes by the shares of before"


def test_a_wrong_file_is_named_and_enters_nothing(budgets, story):
    for text, said in ((BUDGETS.replace("30%", "20%"), "the shares add up to 90 %"), (BUDGETS.replace("{name: web", "{name: webb"), "group webb: is not a group of the quota file"),
                       (BUDGETS.replace("units: [{name: credits, rate: 0.50}]", ""), "has no conversion"), (BUDGETS.replace("currency: EUR", "currency: USD"), "is not that of the prices"),
                       (BUDGETS.replace("media: 30%", "medai: 30%"), 'no business \\"medai\\"')):
        change(budgets, text, lambda said=said: said in budgets.tautd.output(), f"a wrong file is named: {said}")
    assert len(budgets.entries()) == story.count + 2, "and enters nothing"


def test_what_is_gone_from_the_file_keeps_its_money_until_the_period_ends(budgets, story):
    without = "\n".join(line for line in BUDGETS.splitlines() if "media" not in line and "{name: shop" not in line)
    change(budgets, without, lambda: (budgets.of("business:media") or {}).get("removed"), "a business and a group that are gone are removed")
    media = budgets.of("business:media")
    assert media["balance"] == "1900.00", "with their money, until the period ends"
    budgets.enter("transfer", "media", to="retail", amount="all")
    assert budgets.enter("transfer", "retail", 409, to="group:shop", amount="1")["error"] == "group:shop was removed: it receives nothing", (
        "and receive none")
    change(budgets, BUDGETS, lambda: budgets.of("business:media")["removed"] is False, "and come back")


def test_metrics_and_the_log_tell_it(budgets, story):
    metrics = budgets.call("GET", "/metrics").text
    for name in ('tautd_holder_budget{holder="business:retail",unit="EUR"}', 'tautd_holder_spent{holder="business:media",unit="credits"}', "tautd_budget_ledger_entries ", "tautd_budget_unfunded "):
        assert name in metrics, f"metrics have {name}"
    said = budgets.tautd.output()
    assert "budget_transfer" in said and "business:retail" in said, "the log has each entry"


def test_taut_budget_shows_and_moves_money(budgets, story):
    listed = budgets.cli()
    assert listed.returncode == 0 and "business:retail" in listed.stdout and 'group "lab" has no budget' in listed.stdout, (
        f"taut budget lists them: {listed.stdout + listed.stderr}")
    shown = budgets.cli("show", "retail")
    assert shown.returncode == 0 and "EUR spent" in shown.stdout and "pays 100 % of group web" in shown.stdout, (
        f"taut budget show tells one: {shown.stdout + shown.stderr}")
    moved = budgets.cli("transfer", "retail", "web", "12.5", "--why", "by hand")
    assert moved.returncode == 0 and "transfer of 12.50 EUR from business:retail to group:web" in moved.stdout, (
        f"taut budget transfer moves money: {moved.stdout + moved.stderr}")
    ledger = json.loads(budgets.cli("ledger", "web", "--limit", "1", "--output", "json").stdout)
    assert ledger["entries"][0]["why"] == "by hand", "taut budget ledger has it"
    older = json.loads(budgets.cli("ledger", "--limit", "2", "--before", "4", "--output", "json").stdout)
    assert [e["id"] for e in older["entries"]] == [3, 2], "and its older pages"
    for argv, text in ((("grant", "retail", "5"), "--why is missing"), (("transfer", "retail", "5", "--why", "x"), "FROM TO AMOUNT"), (("override", "retail", "5", "--why", "x"), "--until is missing"),
                       (("show",), "expected one business or group"), (("grant", "nobody", "5", "--why", "x"), "nobody")):
        ended = budgets.cli(*argv)
        assert ended.returncode != 0 and text in ended.stderr, f"taut budget {' '.join(argv)}: {text}"


def ask(budgets, group):
    return budgets.call("POST", "/api/v1/requests", {"group": group, "tier": "production", "cpu": "1", "memory": "1GiB"}).json()


def test_a_group_without_money_makes_no_request(stage, budgets, story):
    """A group with when_spent: refuse makes no new request while a business that pays for it can pay nothing."""
    text = BUDGETS.replace("{name: web, shares: {retail: 100%}}", "{name: web, when_spent: refuse, shares: {retail: 100%}}")
    (stage.dir / "budgets.yaml").write_text(text)
    budgets.tautd.popen.send_signal(signal.SIGHUP)
    assert ask(budgets, "web").get("state") == "admitted", "with money a request is admitted"
    balance = Decimal(budgets.of("group:web")["balance"]) - Decimal(budgets.of("group:web")["spent"])
    if balance > 0:
        budgets.enter("expire", "group:web", amount="all")
    budgets.enter("freeze", "retail")
    assert daemon.eventually(lambda: "budget_held" in budgets.tautd.output(), 20), f"the log says that it is held: {budgets.tautd.output()[-600:]}"
    refused = ask(budgets, "web")
    assert refused.get("end") == "refused" and "retail" in refused.get("reason", ""), "without money it is refused, with the business"
    checked = budgets.call("GET", "/api/v1/admission?group=web&tier=production&cpu=1&memory=1GiB").json()
    assert checked["outcome"] == "refused" and checked["reasons"][0]["resource"] == "", "a dry run says so too"
    assert ask(budgets, "shop").get("state") == "admitted", "another group of the same business goes on"
    assert any("when_spent" in w for w in budgets.page()["warnings"]), f"the page warns: {budgets.page()['warnings']}"


def test_it_makes_none_after_a_kill_until_somebody_pays_again(stage, budgets, story):
    budgets.tautd.kill()
    budgets.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    assert ask(budgets, "web").get("end") == "refused", "also right after a restart"
    assert daemon.eventually(lambda: "budget_held" in budgets.tautd.output(), 20), "whose log says so too"
    budgets.enter("unfreeze", "retail")
    assert daemon.eventually(lambda: ask(budgets, "web").get("state") == "admitted", 20), "and no longer when it may pay again"
    assert daemon.eventually(lambda: "budget_free" in budgets.tautd.output(), 20), "the log says so"


def test_bills_say_that_past_prices_were_edited(stage, budgets, story):
    """An edited past price changes bills; they report it once, and after each restart."""
    def bills():
        ended = stage.run(stage.args.taut, "get", "bills", "--server", budgets.tautd.url, "--token-file", stage.file("token", OPERATOR))
        assert ended.returncode == 0, f"taut get bills ({ended.stderr})"
        return ended.stdout

    assert "price file was changed" not in bills(), "a bill by the first prices says nothing"
    before = budgets.call("GET", "/api/v1/bills").json()
    (stage.dir / "prices.yaml").write_text(PRICES.replace("core_hour: 1", "core_hour: 2"))
    for _ in range(2):
        assert budgets.tautd.stop() == 0, "it stops in order"
        budgets.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    assert "past_prices_changed" not in budgets.tautd.output(), f"it is logged once: {budgets.tautd.output()[-600:]}"
    after = budgets.call("GET", "/api/v1/bills").json()
    assert abs(Decimal(after["total"]) - 2 * Decimal(before["total"])) < Decimal("0.0001"), (
        f"the bill is twice as high: {(before['total'], after['total'])}")
    assert [c["what"] for c in after["price_changes"]] == ["tier production: 2.00 per core-hour, was 1.00 per core-hour"], "and says why"
    assert "was 1.00 per core-hour" in bills(), "as does taut get bills"


def test_check_config_says_what_is_wrong(stage, files):
    usd = stage.file("usd.yaml", PRICES.replace("EUR", "USD"))
    for text, said in ((f"prices: {{core_hour: 1, currency: EUR, file: {usd}}}\n", "its currency is USD, and prices.currency is EUR"),
                       (f"prices: {{file: {stage.file('clock.yaml', PRICES.replace('core_hour', 'from: 12d, core_hour'))}}}\n", "clock.yaml:3: from: \"12d\": expected a date such as 2026-01-01"),
                       (f"prices: {{file: {stage.file('days.yaml', PRICES.replace('core_hour', 'from: 20700d, core_hour'))}}}\n", "from: \"20700d\": expected a date such as 2026-01-01"),
                       (f"budgets: {{file: {stage.dir / 'budgets.yaml'}}}\nprices: {{core_hour: 1}}\n", "budgets.file requires quota.file"),
                       (f"budgets: {{file: {stage.dir / 'budgets.yaml'}}}\nquota: {{file: {stage.dir / 'quota.yaml'}}}\n", "nothing costs"),
                       (f"budgets: {{file: {stage.dir / 'budgets.yaml'}}}\nquota: {{file: {stage.dir / 'quota.yaml'}}}\nprices: {{core_hour: 1}}\n", "a year needs store.decisions of 367"),
                       (f"budgets: {{file: {stage.dir / 'none.yaml'}}}\nprices: {{core_hour: 1}}\nquota: {{file: {stage.dir / 'quota.yaml'}}}\n", "none.yaml")):
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
        assert ended.returncode == 2 and said in ended.stderr, f"a configuration is refused: {said}"


def test_a_damaged_ledger_is_named_and_read_only(stage, budgets, story):
    """A byte of the ledger is changed: no entry is invented, and none is appended."""
    assert budgets.tautd.stop() == 0, "it stops in order"
    daemon.in_store(stage.dir / "tautd.db", "UPDATE budget_ledger SET text = replace(text, '250.00', '999.00')")
    budgets.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    page = budgets.page()
    assert any("damaged and read-only" in w for w in page["warnings"]), f"a damaged ledger is named: {page['warnings']}"
    assert budgets.call("POST", LEDGER, {"act": "grant", "of": "retail", "amount": "5", "why": "x"}).status == 409, "and nothing is entered"


def test_a_new_ledger_begins_as_the_pages_say(stage, budgets, story):
    assert budgets.tautd.stop() == 0, "it stops in order"
    daemon.in_store(stage.dir / "tautd.db", "DELETE FROM budget_ledger")  # docs/operate/costs.md
    budgets.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    grant = lambda: budgets.call("POST", LEDGER, {"act": "grant", "of": "retail", "amount": "5", "why": "x"}).status  # noqa: E731
    assert daemon.eventually(lambda: grant() == 200, 20), "a new one is written, once its period has begun with the first tick"


def test_a_deleted_store_is_noticed(stage, budgets, story):
    (stage.dir / "tautd.db").unlink()
    assert daemon.eventually(lambda: "tautd.db: the file was deleted" in budgets.tautd.output(), 40), (
        f"a deleted store is noticed: {budgets.tautd.output()[-600:]}")
    assert budgets.call("POST", LEDGER, {"act": "grant", "of": "retail", "amount": "5", "why": "x"}).status == 503, "and nothing is entered"
