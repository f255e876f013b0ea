#include "common/net/http_poster.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/net/http_client.h"

namespace taut {
namespace {

struct UrlParts {
  std::string base;  // scheme, host and port: "https://host:1"
  std::string path;  // path and query: "/a?b=c"
};

absl::StatusOr<UrlParts> SplitUrl(std::string_view url) {
  const auto bad = [](std::string_view why) {
    return absl::InvalidArgumentError(StrCat("invalid URL: ", why, "; expected http[s]://HOST[:PORT]/PATH"));
  };
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return bad("http:// or https:// is missing");
  const size_t path = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  const std::string_view authority = url.substr(scheme + 3, path - scheme - 3);
  if (authority.find('@') != std::string_view::npos)
    return bad("a user and a password are not allowed in it");
  UrlParts out{std::string(url.substr(0, path)), std::string(url.substr(path))};
  if (!out.path.starts_with('/')) out.path.insert(0, "/");
  const bool plain =
      std::all_of(out.path.begin(), out.path.end(), [](char c) { return c > ' ' && c <= '~' && c != '#'; });
  if (!plain) return bad("its path has a blank, a '#' or another character that must be percent-encoded");
  return out;
}

class ClientPoster final : public HttpPoster {
 public:
  ClientPoster(std::unique_ptr<HttpClient> client, std::string path)
      : client_(std::move(client)), path_(std::move(path)) {}

  absl::StatusOr<HttpResponse> Post(std::string_view json, std::vector<HttpHeader> headers) override {
    return client_->Send({"POST", path_, json, "application/json", std::move(headers)});
  }

 private:
  const std::unique_ptr<HttpClient> client_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpPoster>> MakeHttpPoster(const HttpPosterOptions& options) {
  absl::StatusOr<UrlParts> url = SplitUrl(options.url);
  if (!url.ok()) return url.status();
  ClientOptions client;
  client.ca_file = options.ca_file;
  client.timeout = client.connect_timeout = options.timeout;
  client.max_body_bytes = options.max_response_bytes;
  absl::StatusOr<std::unique_ptr<HttpClient>> created = HttpClient::Create(url->base, client);
  if (!created.ok()) return created.status();
  return std::make_unique<ClientPoster>(*std::move(created), std::move(url->path));
}

bool IsUnprotectedUrl(std::string_view url) {
  constexpr std::string_view kHttp = "http://";
  if (!EqualsIgnoreCase(url.substr(0, kHttp.size()), kHttp)) return false;
  url.remove_prefix(kHttp.size());
  const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
  const bool v6 = authority.starts_with('[');
  const std::string_view host = authority.substr(0, v6 ? authority.find(']') + 1 : authority.find(':'));
  const bool v4_loopback =
      host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return !v4_loopback && host != "[::1]" && !EqualsIgnoreCase(host, "localhost");
}

}  // namespace taut
