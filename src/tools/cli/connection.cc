#include "tools/cli/connection.h"

#include "common/base/strings.h"
#include "nlohmann/json.hpp"
#include "server/config/daemon_config.h"

namespace taut::tools {
namespace {

// Returns the message of a body {"error": "..."}; "" if the body has no such field.
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
  const absl::StatusOr<std::string> token = server::ReadSecretFile(args.token_file);
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

absl::StatusOr<Json> AskOfJob(HttpClient& client, std::string& name,
                              absl::FunctionRef<absl::StatusOr<Json>(const std::string& job)> ask) {
  absl::StatusOr<Json> answer = ask(name);
  // A blank or "=" is an operator in a search, so a name that contains either cannot be searched for.
  if (!absl::IsNotFound(answer.status()) || name.empty() || name.find_first_of(" =") != std::string::npos)
    return answer;
  const auto page = GetJson(
      client,
      "/api/v1/jobs" + FormatQuery({{"search", name}, {"sort", "name"}, {"order", "asc"}, {"limit", "2"}}));
  if (!page.ok() || !page->is_object() || !page->contains("jobs")) return answer;
  const Json& jobs = (*page)["jobs"];
  if (!jobs.is_array() || jobs.size() != 1 || !jobs[0].is_object()) return answer;
  const std::string found = jobs[0].value("name", "");
  if (found.find(name) == std::string::npos) return answer;
  name = found;
  return ask(name);
}

std::string JobPath(std::string_view job) { return StrCat("/api/v1/jobs/", PercentEncode(job)); }

std::string SearchOf(const std::string& search, const std::string& ns) {
  if (ns.empty()) return search;
  return StrCat(search, search.empty() ? "" : " ", "namespace=", ns);
}

}  // namespace taut::tools
