#include "common/net/access.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut {
namespace {

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Returns the text behind the scheme: "Bearer abc" -> "abc" for scheme "Bearer".
std::optional<std::string_view> Credentials(std::string_view value, std::string_view scheme) {
  if (value.size() <= scheme.size() || value[scheme.size()] != ' ') return std::nullopt;
  if (!EqualsIgnoreCase(value.substr(0, scheme.size()), scheme)) return std::nullopt;
  return StripSpace(value.substr(scheme.size()));
}

// Returns the token, sent as Bearer or as the password of Basic.
std::optional<std::string> TokenOf(std::string_view authorization) {
  if (const auto bearer = Credentials(authorization, "Bearer")) return std::string(*bearer);
  const auto basic = Credentials(authorization, "Basic");
  if (!basic) return std::nullopt;
  auto pair = DecodeBase64(*basic);
  const size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

HttpResponse Unauthorized(const HttpRequest& request) {
  const std::string* accept = request.header("Accept");
  const bool page = accept != nullptr && accept->find("text/html") != std::string::npos;
  HttpResponse out =
      page
          ? TextResponse(401, "Authentication required: enter a token as the password, with any user name.\n")
          : ErrorResponse(401, StrCat("authentication required: send the header Authorization: Bearer TOKEN",
                                      request.refusal.empty() ? "" : "; ", request.refusal));
  out.headers.push_back(
      {"WWW-Authenticate", page ? "Basic realm=\"tautline\"" : "Bearer realm=\"tautline\""});
  return out;
}

}  // namespace

std::string_view HostWithoutPort(std::string_view authority) {
  if (!authority.empty() && authority.front() == '[') {
    const size_t end = authority.find(']');
    return end == std::string_view::npos ? authority : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.find(':'));
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.empty() || text.back() != '=' ? 0 : text[text.size() - 2] == '=' ? 2 : 1;
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const int digit = Base64Digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>((bits >> count) & 0xFF));
  }
  return out;
}

std::optional<std::string_view> CookieOf(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& header : request.headers) {
    if (!EqualsIgnoreCase(header.name, "Cookie")) continue;
    for (const std::string_view piece : Split(header.value, ';')) {
      const std::string_view pair = StripSpace(piece);
      const size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    }
  }
  return std::nullopt;
}

Access::Access(const ServerOptions& options)
    : open_(options.is_open()),
      scheme_(options.has_tls() ? "https" : "http"),
      client_role_(options.client_role),
      open_paths_(options.open_paths),
      names_(options.names),
      verifier_(options.verifier),
      sessions_(options.sessions) {
  const auto add = [this](const std::vector<AccessToken>& tokens, Role role) {
    for (const AccessToken& token : tokens) {
      const bool bound = role == Role::kGroup;
      known_.push_back({DigestOf(token.token), role, token.name,
                        bound ? std::make_shared<const GroupBindings>(token.bindings) : nullptr});
    }
  };
  add(options.writer_tokens, Role::kWriter);
  add(options.group_tokens, Role::kGroup);
  add(options.reader_tokens, Role::kReader);
  add(options.platform_tokens, Role::kPlatform);
  add(options.operator_tokens, Role::kOperator);
}

std::string NetworkOfPeer(std::string_view peer) {
  const std::string host(HostWithoutPort(peer));
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1 || IN6_IS_ADDR_LOOPBACK(&v6)) return host;
  if (IN6_IS_ADDR_V4MAPPED(&v6))
    return StrCat(v6.s6_addr[12], ".", v6.s6_addr[13], ".", v6.s6_addr[14], ".", v6.s6_addr[15]);
  std::string prefix;
  for (int i = 0; i < 8; i += 2) {
    prefix += fmt::format("{}{:x}", i == 0 ? "" : ":", v6.s6_addr[i] << 8 | v6.s6_addr[i + 1]);
  }
  return prefix;
}

Access::Digest Access::DigestOf(std::string_view token) {
  Digest out;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), out.data());
  return out;
}

// Compares the digests of all tokens in constant time, so that the duration reveals nothing about any token.
Caller Access::CallerOfToken(std::string_view token) const {
  const Digest digest = DigestOf(token);
  const Known* found = nullptr;
  for (const Known& k : known_) {
    const bool same = CRYPTO_memcmp(k.digest.data(), digest.data(), digest.size()) == 0;
    if (same && (found == nullptr || found->role < k.role)) found = &k;
  }
  return found == nullptr ? Caller() : Caller{found->role, found->name, true, found->bindings};
}

Caller Access::CallerOf(const HttpRequest& request,
                        const std::optional<std::string>& certificate_name) const {
  if (open_) return {Role::kOperator, "", false};
  Caller caller;
  if (certificate_name.has_value()) caller = {client_role_, *certificate_name, true};
  Caller by_token = CallerOfAuthorization(request);
  // A browser may keep sending a token that has been revoked. The browser's session then still identifies the
  // caller.
  if (by_token.role == Role::kNone) TrySession(request, by_token);
  if (by_token.role <= caller.role && caller.role != Role::kNone) return caller;
  return by_token;
}

void Access::TrySession(const HttpRequest& request, Caller& caller) const {
  if (sessions_ == nullptr) return;
  const std::optional<std::string_view> cookie = CookieOf(request, sessions_->cookie_name());
  if (!cookie.has_value() || cookie->empty()) return;
  absl::StatusOr<Caller> found = sessions_->CallerOf(*cookie);
  if (found.ok()) {
    caller = *std::move(found);
    caller.by_session = true;
  } else {
    caller.refusal = Message(found.status());
  }
}

Caller Access::CallerOfAuthorization(const HttpRequest& request) const {
  const std::string* authorization = request.header("Authorization");
  if (authorization == nullptr) return {};
  const auto token = TokenOf(*authorization);
  Caller by_token = token ? CallerOfToken(*token) : Caller();
  if (token && by_token.role == Role::kNone && verifier_ != nullptr && verifier_->Takes(*token)) {
    absl::StatusOr<Caller> verified = verifier_->CallerOf(*token);
    if (verified.ok()) {
      by_token = *std::move(verified);
    } else {
      by_token.refusal = Message(verified.status());
    }
  }
  return by_token;
}

Role Access::RoleOf(const HttpRequest& request, bool has_client_certificate) const {
  return CallerOf(request, has_client_certificate ? std::optional<std::string>("") : std::nullopt).role;
}

bool Access::IsOurHost(std::string_view host) const {
  const std::string_view name = HostWithoutPort(host);
  if (IsIpAddress(std::string(name)) || EqualsIgnoreCase(name, "localhost")) return true;
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& n) {
    return EqualsIgnoreCase(n, name) || EqualsIgnoreCase(n, host);
  });
}

std::optional<HttpResponse> Access::Refuse(const HttpRequest& request) const {
  const auto hosts = std::count_if(request.headers.begin(), request.headers.end(),
                                   [](const HttpHeader& h) { return EqualsIgnoreCase(h.name, "Host"); });
  if (hosts > 1) return ErrorResponse(400, "more than one Host header");
  const std::string* host = request.header("Host");
  if (open_ && host != nullptr && !IsOurHost(*host)) {
    return ErrorResponse(421, StrCat("invalid Host header: unknown name \"", HostWithoutPort(*host),
                                     "\": use its IP address or localhost, or add the name to server.names"));
  }
  const std::string* origin = request.header("Origin");
  if (origin != nullptr && request.method != "GET") {
    const size_t scheme = origin->find("://");
    const std::string_view from =
        scheme == std::string::npos ? "" : std::string_view(*origin).substr(scheme + 3);
    // An origin with another scheme belongs to a page of another server, unless a proxy terminates TLS. In that
    // case Sec-Fetch-Site proves that the page belongs to this server.
    const std::string* site = request.header("Sec-Fetch-Site");
    const bool ours = EqualsIgnoreCase(std::string_view(*origin).substr(0, scheme), scheme_) ||
                      (site != nullptr && *site == "same-origin");
    const bool same = host != nullptr && !from.empty() && EqualsIgnoreCase(from, *host) && ours;
    const bool named =
        std::any_of(names_.begin(), names_.end(), [&](const std::string& n) { return n == from; });
    if (!same && !named)
      return ErrorResponse(403,
                           "cross-origin request rejected: pages of other sites cannot make changes (if a "
                           "proxy ends TLS before tautd, add its name to server.names)");
  }
  // A browser attaches the cookie to every request that any page makes it send. SameSite=Strict blocks other
  // sites, but not other hosts of the same domain or other ports. A session may therefore change something only if
  // the browser confirms that a page of this server sent the request. Origin accompanies every method but GET and
  // HEAD, and no page can forge Origin or Sec-Fetch-Site. There are no HTML forms, which would need a CSRF token.
  const std::string* fetch_site = request.header("Sec-Fetch-Site");
  if (request.by_session && request.method != "GET" && origin == nullptr &&
      (fetch_site == nullptr || *fetch_site != "same-origin"))
    return ErrorResponse(
        403, "request rejected: in a browser's session, Origin must say which page makes a change");
  const bool is_open_path =
      std::find(open_paths_.begin(), open_paths_.end(), request.path) != open_paths_.end();
  if (request.role == Role::kNone && !is_open_path) return Unauthorized(request);
  return std::nullopt;
}

}  // namespace taut
