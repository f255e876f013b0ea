"""Sign-in to the pages with a real OpenID Connect provider (oidc-provider of npm): by an HTTP client, and with Chromium."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest

import daemon
from oidc_provider import HERE, QUOTA, Provider, modules

APP = HERE.parent.parent.parent / "web" / "app"
BINDINGS = ["shop-leads: owner shop", "shop-members: member shop", "sre: operator"]
SESSION, PENDING = "taut_session", "taut_login"  # of http:// on this machine


class Answer:
    def __init__(self, response):
        self.status, self.text = response.status, response.read().decode(errors="replace")
        self.headers = response.getheaders()
        self.location = response.getheader("Location")
        self.cookies = {v.split("=", 1)[0]: v for k, v in self.headers if k.lower() == "set-cookie"}


class Browser:
    """A browser with cookies by port, as hosts have them; it follows no redirect by itself."""

    def __init__(self, address="127.0.0.1"):
        self.jars, self.address = {}, address

    def ask(self, url, method="GET", body=None, headers=None):
        parts = urllib.parse.urlsplit(url)
        jar = self.jars.setdefault(parts.port, {})
        sent = {"Cookie": "; ".join(f"{k}={v}" for k, v in jar.items()), **(headers or {})} if jar else dict(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=30, source_address=(self.address, 0))
        try:
            connection.request(method, parts.path + ("?" + parts.query if parts.query else ""), body, sent)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        for name, cookie in answer.cookies.items():
            jar[name] = cookie.split("=", 1)[1].split(";")[0]
            if not jar[name]:
                del jar[name]
        return answer

    def follow(self, url, until):
        """Follows redirects up to the first one that leads to `until`."""
        for _ in range(10):
            answer = self.ask(url)
            if answer.location is None:
                return answer, url
            url = urllib.parse.urljoin(url, answer.location)
            if urllib.parse.urlsplit(url).path == until:
                return answer, url
        raise RuntimeError(f"redirects without end: {url}")


class Pages:
    def __init__(self, stage, tautd, provider):
        self.stage, self.tautd, self.provider = stage, tautd, provider

    def url(self, path):
        return f"http://127.0.0.1:{self.tautd.port}{path}"

    def callback_of(self, person, browser=None, cancel=False):
        """Signs in at the provider; returns the address of the callback, without requesting it."""
        browser = browser or Browser()
        page, url = browser.follow(self.url("/login"), "/login/callback")
        if page.location is None:  # the provider's form
            form = re.search(r'action="([^"]+)"', page.text).group(1)
            if cancel:
                _, url = browser.follow(urllib.parse.urljoin(url, form + "/abort"), "/login/callback")
            else:
                body = urllib.parse.urlencode({"prompt": "login", "login": person, "password": "any"})
                sent = browser.ask(urllib.parse.urljoin(url, form), "POST", body, {"Content-Type": "application/x-www-form-urlencoded"})
                _, url = browser.follow(urllib.parse.urljoin(url, sent.location), "/login/callback")
        return browser, url

    def wait(self, browser, seconds=20):
        answers = []

        def is_over():
            answers.append(browser.ask(self.url("/login/wait")))
            return "Waiting for" not in answers[-1].text

        daemon.eventually(is_over, seconds)
        return answers[-1]

    def sign_in(self, person):
        browser, callback = self.callback_of(person)
        taken = browser.ask(callback)
        if (taken.status, taken.location) != (303, "/login/wait"):
            raise AssertionError(f"the callback: {taken.status} {taken.text}")
        return browser, self.wait(browser)

    def status(self, browser):
        return browser.ask(self.url("/api/v1/status"))


def config(stage, provider, port, client="pages", bindings=BINDINGS, session="12h"):
    secret = f"client_secret_file: {stage.file('client-secret', 'secret of pages: %&+')}, " if client == "pages" else ""
    return f"""clock: samples
quota: {{file: {stage.file("quota.yaml", QUOTA)}}}
server:
  tokens: {{operator_file: {stage.file("operators", "operator-0123456789abcdef012345678 anna")}}}
  oidc:
    issuer: {provider.issuer}
    audience: tautd
    bindings: {json.dumps(bindings)}
    login: {{client_id: {client}, {secret}redirect_url: "http://127.0.0.1:{port}/login/callback", session: {session}, name: "the <test> provider"}}
"""


def test_wrong_configurations_say_what_is_wrong(stage):
    good = 'issuer: https://id.example, audience: tautd, bindings: ["x: reader"], login: {client_id: pages, redirect_url: "https://tautline.example/login/callback"}'
    for oidc, wanted in ((good, "is valid"),
                         (good.replace("https://tautline", "http://tautline"), 'server.oidc.login.redirect_url "http://tautline.example/login/callback": expected https://'),
                         (good.replace("/login/callback", "/callback"), "/login/callback at the end"),
                         (good.replace(', redirect_url: "https://tautline.example/login/callback"', ""), "server.oidc.login.redirect_url is empty"),
                         (good.replace("client_id: pages, ", ""), "redirect_url requires server.oidc.login.client_id"),
                         (good.replace("client_id: pages", "client_id: pages, scopes: profile"), "expected openid among them"),
                         (good.replace("client_id: pages", "client_id: pages, session: 30d"), "server.oidc.login.session"),
                         (good.replace("client_id: pages", "client_id: pages, client_secret_file: /nowhere"), "/nowhere"),
                         (good.replace("issuer: https://id.example, ", ""), "requires server.oidc.issuer")):
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", f"server: {{oidc: {{{oidc}}}}}\n"))
        assert (ended.returncode == 0) == (wanted == "is valid") and wanted in ended.stdout + ended.stderr, f"a configuration: {wanted}"


@pytest.fixture(scope="module")
def pages(stage):
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (see tools/packages.txt)")
    provider, port = Provider(stage, modules(stage)), daemon.free_port()
    provider.start("RS256", "first", f"http://127.0.0.1:{port}/login/callback")
    its = Pages(stage, stage.tautd(config=config(stage, provider, port), port=port), provider)
    assert daemon.eventually(lambda: "oidc_keys_fetched" in its.tautd.output(), 20), f"the keys are fetched: {its.tautd.output()}"
    yield its
    provider.stop()


@pytest.fixture(scope="module")
def text(pages):
    """Returns the initial configuration."""
    return config(pages.stage, pages.provider, pages.tautd.port)


def test_before_a_session_there_is_the_page_alone(pages):
    browser = Browser()
    assert "<script" in browser.ask(pages.url("/")).text or not (APP / "dist" / "index.html").is_file(), "the page itself is there for everyone"
    ways = json.loads(browser.ask(pages.url("/api/v1/login")).text)
    assert ways == {"login": {"name": "the <test> provider", "session_seconds": 43200}, "token": True}, "it says how people get in"
    for path in ("/api/v1/status", "/api/v1/jobs", "/api/v1/events", "/metrics", "/api/v1/openapi.yaml", "/index.html", "/nosuch"):
        assert browser.ask(pages.url(path)).status == 401, f"{path} needs more"
    asked = browser.ask(pages.url("/?token"))
    assert asked.status == 401 and ("WWW-Authenticate", 'Basic realm="tautline"') in asked.headers, "who has a token is asked for it"
    assert browser.ask(pages.url("/logout"), "POST").status == 204, "a sign-out without a session is one"
    assert browser.ask(pages.url("/logout")).status == 405, "no link signs out"
    begun = browser.ask(pages.url("/login"))
    asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.location).query))
    assert (begun.status, asked["response_type"], asked["client_id"], asked["code_challenge_method"], len(asked["code_challenge"]), asked["scope"]) == (302, "code", "pages", "S256", 43, "openid"), (
        "a sign-in begins at the provider")
    assert "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax" in begun.cookies[PENDING], "with a cookie of the browser"


def test_a_session_may_what_a_token_of_the_same_claims_may(pages):
    """Signs in and out; the session has the permissions of a bearer token with the same claims."""
    tautd = pages.tautd
    browser, done = pages.sign_in("olga")
    assert done.status == 200 and 'content="0; url=/"' in done.text, "olga is signed in"
    cookie = done.cookies[SESSION]
    assert "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict" in cookie and PENDING not in browser.jars[tautd.port], (
        f"her session is a cookie: {done.cookies}")
    caller = json.loads(pages.status(browser).text)["caller"]
    token = pages.provider.token("olga")
    same = tautd.get("/api/v1/status", token=token)["caller"]
    assert {**caller, "valid_until": 0} == {**same, "session": True, "valid_until": 0} and caller["user"] == "oidc:olga", (
        f"she is who her token says, too: {(caller, same)}")
    assert 43100 < caller["valid_until"] - time.time() <= 43200, "for 12 hours"
    assert browser.ask(pages.url("/metrics")).status == 403, "and may no more than that"
    assert browser.ask(pages.url("/login/wait")).status == 200, "the page of before leads on"
    body = json.dumps({"group": "shop", "tier": "production", "cpu": "1", "job": "shop/x"})
    ask = lambda headers: browser.ask(pages.url("/api/v1/requests"), "POST", body, headers).status  # noqa: E731
    own = {"Origin": tautd.url}
    assert [ask(h) for h in ({}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"})] == [403] * 5, (
        "no page of others changes anything with her cookie")
    assert ask(own) not in (401, 403) and ask({"Sec-Fetch-Site": "same-origin"}) not in (401, 403), "a page of ours does"
    assert "request_done who=oidc:olga roles=\"owner of shop\" method=GET path=/login/wait" in tautd.output(), (
        f"the log says that she signed in: {tautd.output()[-900:]}")
    assert "request_refused who=oidc:olga" in tautd.output(), "and what she tried"
    assert bool(re.search("tautd_login_sessions 1\n", tautd.ask("/metrics", token="operator-0123456789abcdef012345678").text)), (
        "the metrics count her session")
    assert browser.ask(pages.url("/logout"), "POST").status == 403, "no other page signs her out"
    value = browser.jars[tautd.port][SESSION]
    out = browser.ask(pages.url("/logout"), "POST", headers=own)
    assert out.status == 204 and "Max-Age=0" in out.cookies[SESSION], "she signs out"
    browser.jars[tautd.port][SESSION] = value
    after = pages.status(browser)
    assert after.status == 401 and "the session is over" in after.text, "the cookie of before is worth nothing"
    assert value not in tautd.output() and "code=" not in tautd.output(), "no secret is in the log"


def test_callbacks_of_others_and_wrong_codes_are_refused(pages):
    browser, callback = pages.callback_of("mia")
    victim = Browser()
    victim.ask(pages.url("/login"))
    refused = victim.ask(callback)
    assert refused.status == 401 and "not of the last sign-in that this browser began" in refused.text and SESSION not in refused.cookies, (
        "the callback of another browser is refused")
    assert "No sign-in is under way" in Browser().ask(callback).text, "and without a cookie"
    cookie = browser.jars[pages.tautd.port][PENDING]
    assert browser.ask(callback).status == 303, "the browser itself goes on"
    assert pages.wait(browser).status == 200, "and is signed in"
    again = Browser()
    again.jars[pages.tautd.port] = {PENDING: cookie}
    assert "was used before" in again.ask(callback).text, "a second time it is refused"
    assert again.ask(pages.url("/login/wait")).status == 401, "and there is no second session"
    begun = Browser()
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.ask(pages.url("/login")).location).query))["state"]
    evil = begun.ask(pages.url("/login/callback?" + urllib.parse.urlencode({"state": state, "error": "x<img>", "error_description": "<script>alert(1)</script>\n\"'"})))
    assert evil.status == 401 and "<script>" not in evil.text and "&lt;script&gt;alert(1)&lt;/script&gt;" in evil.text and "x&lt;img&gt;" in evil.text, (
        "what the address says is text")
    begun = Browser()
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.ask(pages.url("/login")).location).query))["state"]
    begun.ask(pages.url(f"/login/callback?state={state}&code=wrong"))
    wrong = pages.wait(begun)
    assert wrong.status == 401 and "invalid_grant" in wrong.text and 'href="/login"' in wrong.text, (
        "a code that is none is refused by the provider, with a way on")
    cancelled, callback = pages.callback_of("mia", cancel=True)
    page = cancelled.ask(callback)
    assert page.status == 401 and "access_denied: End-User aborted interaction" in page.text and "Sign in again" in page.text, (
        "the page says that the sign-in was cancelled")
    _, stranger = pages.sign_in("eve")
    assert stranger.status == 401 and "as eve, but may do nothing here: no role is bound" in stranger.text and SESSION not in stranger.cookies, (
        "who is bound to nothing gets no session")
    assert "the &lt;test&gt; provider" in stranger.text, "names are text"


def test_garbage_keeps_nobody_else_out(pages):
    """Two addresses with garbage codes block nobody else, and their requests are not forwarded without limit."""
    stop, statuses = threading.Event(), []

    def flood(address):
        while not stop.is_set():
            browser = Browser(address)
            state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(browser.ask(pages.url("/login")).location).query))["state"]
            statuses.append(browser.ask(pages.url(f"/login/callback?state={state}&code=garbage")).status)

    floods = [threading.Thread(target=flood, args=(address,), daemon=True) for address in ("127.0.0.2", "127.0.0.3") for _ in range(4)]
    for thread in floods:
        thread.start()
    try:
        assert daemon.eventually(lambda: statuses.count(429) > 20, 30), f"garbage of an address is refused after a while: {statuses[-20:]}"
        for attempt in range(12):
            _, done = pages.sign_in("olga")
            assert done.status == 200, f"honest sign-in {attempt} of 12 succeeds meanwhile"
    finally:
        stop.set()
        for thread in floods:
            thread.join()
    taken = statuses.count(303)
    assert taken < 120, f"few garbage codes reach the provider: {f'{taken} of {len(statuses)}'}"


def test_a_second_sign_in_ends_the_first_session(pages):
    """A second sign-in ends the browser's previous session."""
    browser, _ = pages.sign_in("olga")
    old = browser.jars[pages.tautd.port][SESSION]
    _, callback = pages.callback_of("olga", browser)
    assert (browser.ask(callback).status, pages.wait(browser).status) == (303, 200), "olga signs in again in the same browser"
    assert browser.jars[pages.tautd.port][SESSION] != old and pages.status(browser).status == 200, "with a new session"
    before = Browser()
    before.jars[pages.tautd.port] = {SESSION: old}
    assert pages.status(before).status == 401, "the session of before is over"


def test_changed_bindings_count_at_once(pages, text, story):
    """Changed bindings apply at once, for sessions too."""
    tautd = pages.tautd
    browser, _ = pages.sign_in("sre")
    assert json.loads(pages.status(browser).text)["caller"]["role"] == "operator", "an operator is signed in"
    change = lambda old, new: (tautd.config.write_text(text.replace(old, new)), tautd.popen.send_signal(signal.SIGHUP))  # noqa: E731
    role = lambda: json.loads(pages.status(browser).text).get("caller", {}).get("role")  # noqa: E731
    change("sre: operator", "sre: reader")
    assert daemon.eventually(lambda: role() == "reader", 10), "the role is taken away at SIGHUP"
    change('"sre: operator"', '"others: reader"')
    assert daemon.eventually(lambda: pages.status(browser).status == 401, 10), "all of it"
    change('"sre: operator"', '"sre: owner nosuch"')
    assert daemon.eventually(lambda: "reload_failed" in tautd.output(), 10) and pages.status(browser).status == 401, (
        "bindings that are wrong change nothing")
    change("sre: operator", "sre: operator")
    assert daemon.eventually(lambda: role() == "operator", 10), "and given back"
    assert "restart_needed" not in tautd.output(), f"without a restart: {tautd.output()[-600:]}"
    story.signed_in = browser


def test_a_provider_that_is_away_holds_up_nobody(pages, story):
    """The provider stops, or accepts a connection without a response: the page reports it, and no request waits."""
    tautd, provider = pages.tautd, pages.provider
    browser, callback = pages.callback_of("mia")
    provider.stop()
    assert browser.ask(callback).status == 303, "the callback is taken while the provider does not answer"
    failed = pages.wait(browser)
    assert failed.status == 401 and "did not answer" in failed.text and 'href="/login">Sign in again' in failed.text, (
        "the page says so, with a way on")
    silent = socket.create_server(("127.0.0.1", provider.port))
    held = []

    def hold():
        try:
            while True:
                held.append(silent.accept()[0])
        except OSError:
            pass  # closed

    threading.Thread(target=hold, daemon=True).start()
    waiting = []
    for _ in range(8):
        begun = Browser()
        state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.ask(pages.url("/login")).location).query))["state"]
        begin = time.monotonic()
        begun.ask(pages.url(f"/login/callback?state={state}&code=c"))
        begun.ask(pages.url("/login/wait"))
        waiting.append(time.monotonic() - begin)
        assert "Waiting for" in begun.ask(pages.url("/login/wait")).text, "the browser waits"
    begin = time.monotonic()
    for _ in range(50):
        assert tautd.ask("/healthz").status == 200, "others are answered"
    assert max(waiting) < 2 and time.monotonic() - begin < 5, "eight exchanges with a provider that says nothing hold up no request"
    begin = time.monotonic()
    assert tautd.stop() == 0, "tautd stops"
    assert time.monotonic() - begin < 5, "at once"
    silent.close()


def test_sessions_are_over_after_a_restart(stage, pages, text, story):
    port, browser = pages.tautd.port, story.signed_in
    pages.tautd = stage.tautd(config=text, port=port)
    assert pages.status(browser).status == 401, "after a restart sessions are over"
    page = browser.ask(pages.url("/login"))
    assert page.status == 503 and "cannot reach the &lt;test&gt; provider" in page.text and 'href="/login">Sign in again' in page.text, (
        "while the provider was never reached the page says so")
    pages.provider.start("ES256", "second", pages.url("/login/callback"))
    assert daemon.eventually(lambda: browser.ask(pages.url("/login")).status == 302, 20), "once it is there one can sign in"
    _, done = pages.sign_in("mia")
    assert done.status == 200, "with its new keys"
    assert pages.tautd.stop() == 0, "it stops in order"


def test_behind_a_proxy_cookies_and_links_are_its_own(stage, pages, text, story):
    """Browsers connect by https and with a prefix: cookies that no other host can set, and links with the prefix."""
    before = pages.tautd
    pages.tautd = stage.tautd(config=re.sub('redirect_url: "[^"]+"', 'redirect_url: "https://tautline.example:8443/taut/login/callback"', text))
    assert daemon.eventually(lambda: Browser().ask(pages.url("/login")).status == 302, 20), "behind a proxy a sign-in begins"
    begun = Browser().ask(pages.url("/login"))
    assert begun.cookies["__Host-taut_login"].endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure"), (
        "its cookie is of this host and of https alone")
    assert dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.location).query))["redirect_uri"] == "https://tautline.example:8443/taut/login/callback", (
        "and it comes back to the proxy")
    failed = Browser().ask(pages.url("/login/wait"))
    assert 'href="/taut/login">' in failed.text and 'href="/taut/login/style.css"' in failed.text, "links have the prefix"
    out = Browser().ask(pages.url("/logout"), "POST", headers={"Origin": "https://tautline.example:8443"})
    assert out.status == 204 and "; SameSite=Strict; Secure" in out.cookies["__Host-taut_session"], "its pages are tautd's own"
    assert Browser().ask(pages.url("/logout"), "POST", headers={"Origin": "https://tautline.example"}).status == 403, "those of another port are not"
    assert pages.tautd.stop() == 0, "it stops in order"
    pages.tautd = before


HAS_PAGES = (APP / "node_modules" / "playwright-core").is_dir() and (APP / "dist" / "index.html").is_file()
HAS_CHROMIUM = os.path.exists(os.environ.get("CHROMIUM", "/usr/bin/chromium"))


@pytest.mark.skipif(not HAS_PAGES or not HAS_CHROMIUM, reason="the dashboard is not built, or there is no Chromium")
def test_chromium_signs_in_and_out(stage, pages, story):
    """A public client in a browser: the button, the provider's form, the signed-in user, and sign-out."""
    port = pages.tautd.port
    text = config(stage, pages.provider, port, client="public")
    pages.tautd = stage.tautd(config=text, port=port)
    assert daemon.eventually(lambda: Browser().ask(pages.url("/login")).status == 302, 20), "a public client needs no secret"
    shots = pathlib.Path(os.environ.get("TAUT_SHOTS", stage.dir))
    ran = subprocess.run(["node", HERE / "pages.mjs", pages.url("/"), shots], cwd=APP, env={**os.environ, "APP": str(APP)}, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode == 0, f"the page does what it should in Chromium {ran.stdout[-2000:]} {ran.stderr[-3000:] if ran.returncode else ''}"
    assert all((shots / f"sign_in_{n}.png").stat().st_size > 5000 for n in ("out", "in", "cancelled")), "with pictures"
    assert pages.tautd.stop() == 0, "it stops in order"
