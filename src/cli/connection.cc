#include "cli/connection.h"

#include "base/strings.h"
#include "config/daemon_config.h"
#include "nlohmann/json.hpp"

namespace taut {
namespace {

// The text of {"error": "..."}, or "".
std::string ErrorText(const HttpResponse& response) {
  const nlohmann::json body = nlohmann::json::parse(response.text(), nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || !body.contains("error") || !body["error"].is_string()) return "";
  return body["error"].get<std::string>();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const ConnectionArgs& args, const char* hint) {
  ClientOptions options;
  options.ca_file = args.ca_file;
  options.unreachable_hint = hint;
  const absl::StatusOr<std::string> token = ReadSecretFile(args.token_file);
  if (!token.ok()) return absl::InvalidArgumentError(StrCat("--token-file: ", Message(token.status())));
  options.token = *token;
  return HttpClient::Create(args.server, options);
}

absl::Status CheckAnswer(const HttpClient& client, const HttpResponse& response) {
  const absl::Status status = StatusOf(response);
  if (status.ok()) return status;
  std::string text = ErrorText(response);
  if (text.empty()) text = StrCat(client.base_url(), ": ", Message(status));
  if (response.status == 401) StrAppend(&text, "; pass a token with --token-file or TAUT_TOKEN_FILE");
  if (response.status == 403) StrAppend(&text, "; pass the token of such a role with --token-file");
  return absl::Status(status.code(), text);
}

absl::StatusOr<Json> JsonOf(const HttpClient& client, const absl::StatusOr<HttpResponse>& response) {
  if (!response.ok()) return response.status();
  if (absl::Status s = CheckAnswer(client, *response); !s.ok()) return s;
  Json body = Json::parse(response->text(), nullptr, /*allow_exceptions=*/false);
  if (body.is_discarded())
    return absl::DataLossError(
        StrCat(client.base_url(), ": the response is not JSON; check that this is tautd"));
  return body;
}

absl::StatusOr<Json> GetJson(HttpClient& client, std::string_view path) {
  return JsonOf(client, client.Get(path));
}

std::string JobPath(std::string_view job) { return StrCat("/api/v1/jobs/", PercentEncode(job)); }

}  // namespace taut
