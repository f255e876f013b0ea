#!/usr/bin/env python3
"""Tokens of a real OpenID Connect provider (oidc-provider of npm): roles by claims, keys that change, and a provider that is unreachable."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.parse

import daemon

HERE = pathlib.Path(__file__).resolve().parent / "oidc"
QUOTA = """groups:
  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 4}, {tier: production, resource: memory, nominal: 8GiB}]}
  - {name: media, quotas: [{tier: production, resource: cpu, nominal: 4}]}
"""


def modules(stage):
    """The folder with oidc-provider: that of TAUT_OIDC_MODULES, or one that npm fills."""
    if os.environ.get("TAUT_OIDC_MODULES"):
        return pathlib.Path(os.environ["TAUT_OIDC_MODULES"])
    folder = stage.dir / "node"
    folder.mkdir()
    shutil.copy(HERE / "package.json", folder)
    ended = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if ended.returncode != 0:
        print(f"SKIPPED: npm cannot install oidc-provider; nothing was tested: {ended.stderr[-300:]}")
        sys.exit(daemon.SKIPPED)
    return folder


class Provider:
    def __init__(self, stage, folder):
        self.stage, self.folder, self.port, self.process = stage, folder, daemon.free_port(), None
        self.issuer = f"http://127.0.0.1:{self.port}"

    def start(self, algorithm, kid, *redirects):
        env = {**os.environ, "NODE_MODULES": str(self.folder)}
        log = self.stage.dir / f"provider.{kid}.log"
        with open(log, "wb") as out:
            self.process = subprocess.Popen(["node", HERE / "provider.mjs", str(self.port), algorithm, kid, *redirects], env=env, stdout=out, stderr=out,
                                            preexec_fn=daemon.end_with_parent)
        if not daemon.eventually(lambda: daemon.answers(self.port, "/.well-known/openid-configuration"), 30):
            raise RuntimeError(f"the provider does not start: {log.read_text()[-1000:]}")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def token(self, client, audience="tautd"):
        body = urllib.parse.urlencode({"grant_type": "client_credentials", "resource": f"urn:{audience}"})
        basic = base64.b64encode(f"{client}:secret-of-{client}".encode()).decode()
        answer = daemon.ask(self.port, "/token", "POST", body, {"Content-Type": "application/x-www-form-urlencoded", "Authorization": f"Basic {basic}"})
        if answer.status != 200:
            raise RuntimeError(f"no token for {client}: {answer.text}")
        return answer.json()["access_token"]


def config(stage, issuer):
    return f"""clock: samples
quota: {{file: {stage.file("quota.yaml", QUOTA)}}}
server:
  tokens: {{operator_file: {stage.file("operators", "operator-0123456789abcdef012345678 anna")}}}
  oidc:
    issuer: {issuer}
    audience: tautd
    bindings: ["shop-leads: owner shop", "shop-members: member shop", "sre: operator"]
"""


def wrong_configurations(stage):
    good = "issuer: https://id.example, audience: tautd, "
    for oidc, wanted in ((good + 'bindings: ["x: owner shap"]', 'did you mean "shop"'), (good + 'bindings: ["x: king"]', "the role is not"),
                         (good.replace("https", "http") + 'bindings: ["x: reader"]', "expected https://"), (good + "bindings: []", "bindings is empty"),
                         ("issuer: https://id.example", "audience is empty")):
        text = f"quota: {{file: {stage.file('quota.yaml', QUOTA)}}}\nserver: {{oidc: {{{oidc}}}}}\n"
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
        stage.check(ended.returncode == 2 and wanted in ended.stderr, f"{oidc}: {wanted}", ended.stderr)


def says(stage, tautd, token, status, text, what):
    answer = tautd.ask("/api/v1/status", token=token)
    stage.check(answer.status == status and text in answer.text, f"{what}: {status}", f"{answer.status} {answer.text[:300]}")


def main():
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        wrong_configurations(stage)
        daemon.skip_without("node", "npm")
        provider = Provider(stage, modules(stage))
        provider.start("RS256", "first")
        tautd = stage.tautd(config=config(stage, provider.issuer))
        stage.check(daemon.eventually(lambda: "oidc_keys_fetched" in tautd.output() or
                                      tautd.ask("/api/v1/status", token=provider.token("olga")).status == 200, 20), "the keys are fetched", tautd.output())
        olga, mia = provider.token("olga"), provider.token("mia")
        caller = tautd.get("/api/v1/status", token=olga)["caller"]
        stage.equal((caller["user"], caller["role"], caller["groups"]), ("oidc:olga", "group", [{"group": "shop", "as": "owner"}]), "an owner by a claim")
        stage.equal(tautd.ask("/api/v1/bills", token=mia).status, 403, "a member sees no bills")
        stage.equal(tautd.ask("/api/v1/admission?group=media&tier=production&cpu=1", token=olga).status, 404, "nor an owner another group")
        stage.equal(tautd.ask("/metrics", token=mia).status, 403, "or metrics")
        says(stage, tautd, provider.token("eve"), 401, "no role is bound", "one who is bound to nothing")
        says(stage, tautd, provider.token("olga", "other"), 401, "not for the audience tautd", "a token for another audience")
        says(stage, tautd, olga[:-8] + "AAAAAAAA", 401, "signature is wrong", "a changed signature")
        head = base64.urlsafe_b64encode(b'{"alg":"none","kid":"first"}').decode().rstrip("=")
        says(stage, tautd, head + "." + olga.split(".")[1] + ".", 401, "not a signed token", "a token without a signature")
        says(stage, tautd, "eyJhbGciOiJlI=wia2lkIjoiMSJ9.e30.e30", 401, "not a signed token", "a token that the library would end the process for")
        says(stage, tautd, "operator-0123456789abcdef012345678", 200, '"operator"', "a token of a file beside it")
        sre = provider.token("sre")
        says(stage, tautd, sre, 200, '"role":"operator"', "an operator by a claim")
        claims = json.loads(base64.urlsafe_b64decode(sre.split(".")[1] + "=="))
        stage.check(claims["exp"] - claims["iat"] == 1, "whose token is valid for a second, and the minute by which clocks may differ", claims)
        provider.stop()
        says(stage, tautd, olga, 200, '"oidc:olga"', "while the provider is unreachable its last keys are used")
        provider.start("ES256", "second")
        young = provider.token("olga")
        stage.check(daemon.eventually(lambda: tautd.ask("/api/v1/status", token=young).status == 200, 40), "a key that is new is fetched once a token has it",
                    tautd.ask("/api/v1/status", token=young).text)
        says(stage, tautd, olga, 401, "unknown key", "a token of a key that the provider no longer has")
        provider.stop()
        stage.check(daemon.eventually(lambda: tautd.ask("/api/v1/status", token=sre).status == 401, 1), "an old operator's token is none any more")
        begin = time.monotonic()
        for _ in range(50):
            tautd.ask("/api/v1/status", token=olga)
        stage.check(daemon.answers(tautd.port, "/readyz") and time.monotonic() - begin < 60, "unknown keys hold up no one")
        done = tautd.ask("/api/v1/requests/1", method="DELETE", token=young)
        stage.check(done.status == 404 and "who=oidc:olga" in tautd.output(), "what is tried is in the log with the subject", done.text)
        stage.check(not any(token in tautd.output() for token in (olga, mia, young)), "and no token is")
        stage.equal(tautd.stop(), 0, "it stops in order")
    stage.finish()


if __name__ == "__main__":
    main()
