#include "common/net/server_options.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/strings.h"

namespace taut {
namespace {

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

absl::Status CheckToken(std::string_view token) {
  constexpr size_t kShortest = 16;
  if (token.size() < kShortest) {
    return Bad(StrCat("a token has ", token.size(), " characters; expected at least ", kShortest,
                      ", such as the output of `openssl rand -hex 32`"));
  }
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7F && c != '"'; });
  if (!plain)
    return Bad("a token has blanks or characters beyond ASCII; create one with `openssl rand -hex 32`");
  return absl::OkStatus();
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string_view::npos ? std::nullopt : ParsePort(text.substr(colon + 1));
  std::string host(text.substr(0, std::min(colon, text.size())));
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (EqualsIgnoreCase(host, "localhost")) host = "127.0.0.1";
  const bool is_v6 = host.find(':') != std::string::npos;
  if (!port || !IsIpAddress(host) || is_v6 != brackets) {
    return Bad(StrCat(
        "cannot listen on '", text,
        "': expected ADDRESS:PORT with an IP address, such as 127.0.0.1:9190, [::1]:9190 or 0.0.0.0:9190"));
  }
  return ListenAddress{std::move(host), *port};
}

std::string FormatAddress(const ListenAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? StrCat("[", address.host, "]:", address.port) : StrCat(address.host, ":", address.port);
}

bool IsIpAddress(const std::string& host) {
  char raw[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), raw) == 1 || inet_pton(AF_INET6, host.c_str(), raw) == 1;
}

bool IsLoopback(std::string_view host) {
  const std::string text(host);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

size_t ServerOptions::BodyLimitOf(std::string_view path) const {
  size_t limit = max_body_bytes;
  size_t longest = 0;
  for (const auto& [prefix, bytes] : body_limits) {
    if (prefix.size() >= longest && path.starts_with(prefix)) {
      longest = prefix.size();
      limit = bytes;
    }
  }
  return limit;
}

absl::Status ServerOptions::Check() const {
  if (listen.empty()) return Bad("no address to listen on; expected one such as 127.0.0.1:9190");
  if (threads < 1 || threads > 256) return Bad(StrCat("threads is ", threads, "; give 1 to 256"));
  if (certificate_file.empty() != key_file.empty()) {
    return Bad(StrCat("TLS needs certificate and key: the ", key_file.empty() ? "key" : "certificate",
                      " is missing"));
  }
  if (!client_ca_file.empty() && !has_tls()) {
    return Bad("a client CA requires TLS: set certificate and key too");
  }
  for (const auto* tokens :
       {&writer_tokens, &group_tokens, &reader_tokens, &platform_tokens, &operator_tokens}) {
    for (const AccessToken& token : *tokens) {
      if (const absl::Status status = CheckToken(token.token); !status.ok()) return status;
    }
  }
  // A token of a weak role must not also have a stronger role: the stronger role would apply unnoticed.
  const auto in = [](const AccessToken& token, const std::vector<AccessToken>& others) {
    return std::any_of(others.begin(), others.end(),
                       [&](const AccessToken& other) { return other.token == token.token; });
  };
  for (const AccessToken& token : writer_tokens) {
    if (in(token, group_tokens) || in(token, reader_tokens) || in(token, platform_tokens) ||
        in(token, operator_tokens))
      return Bad("a writer token is also a token of another role; use different tokens for each role");
  }
  for (const AccessToken& token : group_tokens) {
    if (in(token, reader_tokens) || in(token, platform_tokens) || in(token, operator_tokens)) {
      return Bad(StrCat("the token of ", token.name,
                        " for groups is also a reader, platform or operator token; use different tokens"));
    }
  }
  for (const ListenAddress& address : listen) {
    if (!IsIpAddress(address.host)) {
      return Bad(StrCat("cannot listen on '", address.host,
                        "': expected an IP address, such as 127.0.0.1 or 0.0.0.0"));
    }
    if (is_open() && !IsLoopback(address.host)) {
      return Bad(
          StrCat("refusing to listen on ", address.host,
                 " without authentication. Listen on 127.0.0.1, or configure an operator token (a file with "
                 "the output of `openssl rand -hex 32`), or a client CA with a certificate and its key"));
    }
  }
  return absl::OkStatus();
}

std::vector<HttpHeader> PageSecurityHeaders() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
           "'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

}  // namespace taut
