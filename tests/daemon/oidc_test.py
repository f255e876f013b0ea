"""Tokens of a real OpenID Connect provider (oidc-provider of npm): roles by claims, keys that change, and a provider that is unreachable."""
import base64
import json
import shutil
import time

import pytest

import daemon
from oidc_provider import QUOTA, Provider, modules

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


def test_wrong_configurations_say_what_is_wrong(stage):
    good = "issuer: https://id.example, audience: tautd, "
    for oidc, wanted in ((good + 'bindings: ["x: owner shap"]', 'did you mean "shop"'), (good + 'bindings: ["x: king"]', "the role is not"),
                         (good.replace("https", "http") + 'bindings: ["x: reader"]', "expected https://"), (good + "bindings: []", "bindings is empty"),
                         ("issuer: https://id.example", "audience is empty")):
        text = f"quota: {{file: {stage.file('quota.yaml', QUOTA)}}}\nserver: {{oidc: {{{oidc}}}}}\n"
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
        assert ended.returncode == 2 and wanted in ended.stderr, f"{oidc}: {wanted}"


@pytest.fixture(scope="module")
def provider(stage):
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (see tools/packages.txt)")
    its = Provider(stage, modules(stage))
    yield its
    its.stop()


def says(tautd, token, status, text, what):
    answer = tautd.ask("/api/v1/status", token=token)
    assert answer.status == status and text in answer.text, f"{what}: {status}: {f'{answer.status} {answer.text[:300]}'}"


def test_an_owner_by_a_claim(stage, provider, story):
    provider.start("RS256", "first")
    story.tautd = stage.tautd(config=config(stage, provider.issuer))
    assert daemon.eventually(lambda: "oidc_keys_fetched" in story.tautd.output() or
                                  story.tautd.ask("/api/v1/status", token=provider.token("olga")).status == 200, 20), (
        f"the keys are fetched: {story.tautd.output()}")
    story.olga, story.mia = provider.token("olga"), provider.token("mia")
    caller = story.tautd.get("/api/v1/status", token=story.olga)["caller"]
    assert (caller["user"], caller["role"], caller["groups"]) == ("oidc:olga", "group", [{"group": "shop", "as": "owner"}]), "an owner by a claim"


def test_roles_reach_no_further(story):
    assert story.tautd.ask("/api/v1/bills", token=story.mia).status == 403, "a member sees no bills"
    assert story.tautd.ask("/api/v1/admission?group=media&tier=production&cpu=1", token=story.olga).status == 404, "nor an owner another group"
    assert story.tautd.ask("/metrics", token=story.mia).status == 403, "or metrics"


def test_wrong_tokens_say_what_is_wrong(provider, story):
    says(story.tautd, provider.token("eve"), 401, "no role is bound", "one who is bound to nothing")
    says(story.tautd, provider.token("olga", "other"), 401, "not for the audience tautd", "a token for another audience")
    says(story.tautd, story.olga[:-8] + "AAAAAAAA", 401, "signature is wrong", "a changed signature")
    head = base64.urlsafe_b64encode(b'{"alg":"none","kid":"first"}').decode().rstrip("=")
    says(story.tautd, head + "." + story.olga.split(".")[1] + ".", 401, "not a signed token", "a token without a signature")
    says(story.tautd, "eyJhbGciOiJlI=wia2lkIjoiMSJ9.e30.e30", 401, "not a signed token", "a token that the library would end the process for")


def test_operators_by_a_file_and_by_a_claim(provider, story):
    says(story.tautd, "operator-0123456789abcdef012345678", 200, '"operator"', "a token of a file beside it")
    story.sre = provider.token("sre")
    says(story.tautd, story.sre, 200, '"role":"operator"', "an operator by a claim")
    claims = json.loads(base64.urlsafe_b64decode(story.sre.split(".")[1] + "=="))
    assert claims["exp"] - claims["iat"] == 1, "whose token is valid for a second, and the minute by which clocks may differ"


def test_the_last_keys_are_used_while_the_provider_is_unreachable(provider, story):
    provider.stop()
    says(story.tautd, story.olga, 200, '"oidc:olga"', "while the provider is unreachable its last keys are used")


def test_a_new_key_is_fetched_once_a_token_has_it(provider, story):
    provider.start("ES256", "second")
    story.young = provider.token("olga")
    assert daemon.eventually(lambda: story.tautd.ask("/api/v1/status", token=story.young).status == 200, 40), (
        f"a key that is new is fetched once a token has it: {story.tautd.ask('/api/v1/status', token=story.young).text}")
    says(story.tautd, story.olga, 401, "unknown key", "a token of a key that the provider no longer has")


def test_unknown_keys_hold_up_no_one(provider, story):
    provider.stop()
    assert daemon.eventually(lambda: story.tautd.ask("/api/v1/status", token=story.sre).status == 401, 1), (
        "an old operator's token is none any more")
    begin = time.monotonic()
    for _ in range(50):
        story.tautd.ask("/api/v1/status", token=story.olga)
    assert daemon.answers(story.tautd.port, "/readyz") and time.monotonic() - begin < 60, "unknown keys hold up no one"


def test_the_log_has_the_subject_and_no_token(story):
    done = story.tautd.ask("/api/v1/requests/1", method="DELETE", token=story.young)
    assert done.status == 404 and "who=oidc:olga" in story.tautd.output(), f"what is tried is in the log with the subject: {done.text}"
    assert not any(token in story.tautd.output() for token in (story.olga, story.mia, story.young)), "and no token is"
    assert story.tautd.stop() == 0, "it stops in order"
