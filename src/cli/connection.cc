#include "cli/connection.h"

#include <fstream>

#include "base/strings.h"
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

absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const ConnectionArgs& args) {
  ClientOptions options;
  options.ca_file = args.ca_file;
  options.unreachable_hint = "start it with `tautd`, or name another server with --server or TAUT_SERVER";
  if (!args.token_file.empty()) {
    std::ifstream in(args.token_file);
    std::string line;
    if (!in || !std::getline(in, line) || StripSpace(line).empty())
      return absl::InvalidArgumentError(
          StrCat("--token-file: no token in the first line of \"", args.token_file, "\""));
    options.token = StripSpace(line);
  }
  return HttpClient::Create(args.server, options);
}

absl::Status CheckAnswer(const HttpClient& client, const HttpResponse& response) {
  const absl::Status status = StatusOf(response);
  if (status.ok()) return status;
  std::string text = ErrorText(response);
  if (text.empty()) text = StrCat(client.base_url(), ": ", Message(status));
  if (response.status == 401) StrAppend(&text, "; pass a token with --token-file or TAUT_TOKEN_FILE");
  if (response.status == 403) StrAppend(&text, "; this needs an operator's token (--token-file)");
  return absl::Status(status.code(), text);
}

}  // namespace taut
