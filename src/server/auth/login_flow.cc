#include "server/auth/login_flow.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/json/json_tree.h"
#include "server/auth/provider_client.h"

namespace taut::server {
namespace {

constexpr size_t kRandomBytes = 32, kMostCookie = 100, kMostCode = 4096, kMostText = 200;
constexpr int64_t kClockLeewayS = 60;  // tolerated step of the clock backwards, in seconds

// The parts of a sign-in cookie, whose form is "ID.TIME".
struct CookieParts {
  std::string_view id;
  int64_t since_s = 0;
};
// Parses a cookie. Returns nullopt if the cookie does not have the form "ID.TIME".
std::optional<CookieParts> PartsOf(std::string_view cookie) {
  const size_t dot = cookie.find('.');
  if (cookie.size() > kMostCookie || dot == std::string_view::npos || dot == 0) return std::nullopt;
  CookieParts out{cookie.substr(0, dot), 0};
  const std::string_view time = cookie.substr(dot + 1);
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), out.since_s);
  if (error != std::errc() || end != time.data() + time.size()) return std::nullopt;
  return out;
}

std::string_view Find(const std::vector<QueryParameter>& query, std::string_view name) {
  for (const QueryParameter& each : query) {
    if (each.name == name) return each.value;
  }
  return "";
}

// Returns a received text, such as an error of the provider, as one printable line.
std::string Quoted(std::string_view text) { return Printable(CutUtf8(text, kMostText)); }

bool Same(std::string_view a, std::string_view b) {
  // CRYPTO_memcmp takes constant time, so the duration reveals nothing about the secret.
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

absl::Status Declined(std::string text) { return absl::UnauthenticatedError(std::move(text)); }

}  // namespace

absl::Status CheckRedirectUrl(std::string_view url) {
  if (absl::Status s = CheckProviderUrl("server.oidc.login.redirect_url", url); !s.ok()) return s;
  const bool plain = url.find_first_of("?#\\ \t\r\n\"<>") == std::string_view::npos;
  if (plain && url.ends_with(kCallbackPath)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("server.oidc.login.redirect_url \"", url, "\": expected the address of tautd's pages with ",
             kCallbackPath, " at the end, such as https://tautline.example.com", kCallbackPath));
}

std::string_view PrefixOfRedirectUrl(std::string_view url) {
  url.remove_suffix(std::min(url.size(), kCallbackPath.size()));
  const size_t host = url.find("://");
  const size_t path = host == std::string_view::npos ? host : url.find('/', host + 3);
  return path == std::string_view::npos ? "" : url.substr(path);
}

LoginFlow::LoginFlow(LoginOptions options)
    : options_(std::move(options)), key_(options_.random(kRandomBytes)) {}

std::string LoginFlow::Keyed(std::string_view what, std::string_view cookie) const {
  const std::string text = StrCat(what, ".", cookie);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return absl::WebSafeBase64Escape(std::string(reinterpret_cast<const char*>(digest), size));
}

// A time more than kClockLeewayS in the future is not current either: the clock was set back after the sign-in
// began.
bool LoginFlow::IsCurrent(int64_t since_s, int64_t now_s) const {
  return now_s - since_s < options_.pending_s && since_s - now_s <= kClockLeewayS;
}

LoginFlow::Begun LoginFlow::Begin(const LoginProvider& provider, int64_t now_s) const {
  Begun out;
  out.cookie = StrCat(absl::WebSafeBase64Escape(options_.random(kRandomBytes)), ".", now_s);
  const std::string verifier = Keyed("verifier", out.cookie);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), digest);
  const std::string challenge =
      absl::WebSafeBase64Escape(std::string(reinterpret_cast<const char*>(digest), sizeof(digest)));
  const std::string query = FormatQuery({{"response_type", "code"},
                                         {"client_id", options_.client_id},
                                         {"redirect_uri", options_.redirect_url},
                                         {"scope", options_.scopes},
                                         {"state", Keyed("state", out.cookie)},
                                         {"nonce", Keyed("nonce", out.cookie)},
                                         {"code_challenge", challenge},
                                         {"code_challenge_method", "S256"}});
  const bool has_query = provider.authorization.find('?') != std::string::npos;
  out.location = StrCat(provider.authorization, has_query ? "&" : "?", query.substr(1));
  return out;
}

void LoginFlow::Expire(int64_t now_s) {
  std::erase_if(pending_, [&](const auto& each) { return !IsCurrent(each.second.since_s, now_s); });
}

absl::StatusOr<LoginFlow::Exchange> LoginFlow::Callback(std::string_view cookie,
                                                        const std::vector<QueryParameter>& query,
                                                        int64_t now_s) {
  const std::optional<CookieParts> parts = PartsOf(cookie);
  if (!parts.has_value() || !IsCurrent(parts->since_s, now_s))
    return Declined(StrCat("No sign-in is under way in this browser, or it took longer than ",
                           options_.pending_s / 60, " minutes."));
  // Check the state before any other part of the query is used or shown: only the browser that began the sign-in
  // knows this state.
  if (!Same(Find(query, "state"), Keyed("state", cookie)))
    return Declined("The answer of the provider is not of the last sign-in that this browser began.");
  Expire(now_s);
  if (pending_.contains(parts->id)) return Declined("This sign-in was used before.");
  if (pending_.size() >= options_.max_pending)
    return absl::UnavailableError("Too many sign-ins are under way: retry in a minute.");
  // Mark the sign-in as used before any step can fail: a second callback with the same state must never be
  // exchanged.
  pending_[std::string(parts->id)] = {Stage::kUnknown, parts->since_s};
  if (const std::string_view issuer = Find(query, "iss"); !issuer.empty() && issuer != options_.issuer)
    return Declined("The answer is of another provider.");
  if (const std::string_view error = Find(query, "error"); !error.empty()) {
    const std::string_view more = Find(query, "error_description");
    return Declined(
        StrCat("The provider refused the sign-in: ", Quoted(error), more.empty() ? "" : ": ", Quoted(more)));
  }
  const std::string_view code = Find(query, "code");
  if (code.empty() || code.size() > kMostCode) return Declined("The provider's answer has no code.");
  pending_[std::string(parts->id)].stage = Stage::kWaiting;
  return Exchange{std::string(parts->id), std::string(code), Keyed("verifier", cookie),
                  Keyed("nonce", cookie)};
}

LoginFlow::TokenRequest LoginFlow::RequestFor(const LoginProvider& provider, const Exchange& exchange) const {
  TokenRequest out;
  std::vector<QueryParameter> form = {{"grant_type", "authorization_code"},
                                      {"code", exchange.code},
                                      {"redirect_uri", options_.redirect_url},
                                      {"code_verifier", exchange.verifier}};
  const bool in_form = options_.client_secret.empty() || provider.secret_in_form;
  if (in_form) form.push_back({"client_id", options_.client_id});
  if (in_form && !options_.client_secret.empty()) form.push_back({"client_secret", options_.client_secret});
  out.form = FormatQuery(form).substr(1);
  out.headers.push_back({"Accept", "application/json"});
  if (!in_form) {
    const std::string pair =
        StrCat(PercentEncode(options_.client_id), ":", PercentEncode(options_.client_secret));
    out.headers.push_back({"Authorization", StrCat("Basic ", absl::Base64Escape(pair))});
  }
  return out;
}

absl::StatusOr<std::string> LoginFlow::IdTokenOf(int status, std::string_view body) {
  JsonTree tree;
  const bool is_json = tree.Parse(body).ok() && tree.root().is_object();
  if (status != 200) {
    const std::string_view error = is_json ? tree.root().Text("error") : "";
    const std::string_view more = is_json ? tree.root().Text("error_description") : "";
    return Declined(StrCat("The provider did not exchange the code: status ", status,
                           error.empty() ? "" : ", ", Quoted(error), more.empty() ? "" : ": ", Quoted(more)));
  }
  const std::string_view token = is_json ? tree.root().Text("id_token") : "";
  if (token.empty()) return Declined("The provider's answer has no ID token.");
  return std::string(token);
}

void LoginFlow::Finish(const std::string& id, absl::StatusOr<VerifiedToken> result) {
  const auto at = pending_.find(id);
  if (at == pending_.end() || at->second.stage != Stage::kWaiting) return;
  at->second.stage = result.ok() ? Stage::kDone : Stage::kFailed;
  if (result.ok()) {
    at->second.claims = *std::move(result);
  } else {
    at->second.error = Message(result.status());
  }
}

LoginFlow::Collected LoginFlow::Collect(std::string_view cookie, int64_t now_s) {
  Expire(now_s);
  const std::optional<CookieParts> parts = PartsOf(cookie);
  const auto at = parts.has_value() ? pending_.find(parts->id) : pending_.end();
  // The time is part of the cookie: a cookie with another time is forged.
  if (at == pending_.end() || at->second.since_s != parts->since_s) return {};
  Collected out{at->second.stage, std::move(at->second.claims), std::move(at->second.error)};
  // The entry is kept until it expires, so that the same callback cannot be used again.
  if (out.stage != Stage::kWaiting) at->second = {Stage::kUnknown, at->second.since_s};
  return out;
}

}  // namespace taut::server
