// How a verb reaches the daemon: the options all of them share, and what a refusal means in words.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/net/http_client.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

struct ConnectionArgs {
  std::string server = "http://127.0.0.1:7070";
  std::string token_file;  // whose first line is the token; empty: none
  std::string ca_file;     // for https; empty: the system's
};

inline constexpr const char* kStartDaemonHint =
    "start it with `tautd`, or name another server with --server or TAUT_SERVER";

// Errors name the option. Connects at the first request; `hint` is the remedy if the server is unreachable.
absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const ConnectionArgs& args,
                                                    const char* hint = kStartDaemonHint);

// OK for 2xx. Else the daemon's own words (its {"error": ...}) if it has some, and for 401 and 403 what to
// pass.
absl::Status CheckAnswer(const HttpClient& client, const HttpResponse& response);

// GET, checked, as JSON. Errors as CheckAnswer and HttpClient; DataLoss if it is no JSON.
absl::StatusOr<Json> GetJson(HttpClient& client, std::string_view path);
absl::StatusOr<Json> JsonOf(const HttpClient& client, const absl::StatusOr<HttpResponse>& response);
// What `ask` gets of the job called `name`, or of the only job whose name has `name` as a part. `name` becomes the
// full name. NotFound with the daemon's words where there is none, or several.
absl::StatusOr<Json> AskOfJob(HttpClient& client, std::string& name,
                              absl::FunctionRef<absl::StatusOr<Json>(const std::string& job)> ask);
// "/api/v1/jobs/shop%2Fweb"
std::string JobPath(std::string_view job);

}  // namespace taut::tools
