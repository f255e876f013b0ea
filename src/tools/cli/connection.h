// Connects commands to the daemon: the options that all these commands share, and explanations of refused
// requests.
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
  std::string token_file;  // file whose first line is the token; empty: none
  std::string ca_file;     // file of certificates for https; empty: the system's certificates
};

inline constexpr const char* kStartDaemonHint =
    "start it with `tautd`, or name another server with --server or TAUT_SERVER";

// Creates a client, which connects at the first request. Errors name the option. `hint` is the advice in the
// error message if the server is unreachable.
absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const ConnectionArgs& args,
                                                    const char* hint = kStartDaemonHint);

// Returns OK for 2xx. For other responses returns the daemon's message (its {"error": ...}) if the response
// has one. For 401 and 403 the error also names the missing option.
absl::Status CheckAnswer(const HttpClient& client, const HttpResponse& response);

// Sends a GET and returns the checked response as JSON. Returns the errors of CheckAnswer and HttpClient, and
// DataLoss if the content is not JSON.
absl::StatusOr<Json> GetJson(HttpClient& client, std::string_view path);
// Returns the checked response as JSON, with the same errors as GetJson.
absl::StatusOr<Json> JsonOf(const HttpClient& client, const absl::StatusOr<HttpResponse>& response);
// Returns the result of `ask` for the job called `name`, or for the only job whose name contains `name`. Sets
// `name` to the full name. Returns NotFound with the daemon's message if no job, or more than one job,
// matches.
absl::StatusOr<Json> AskOfJob(HttpClient& client, std::string& name,
                              absl::FunctionRef<absl::StatusOr<Json>(const std::string& job)> ask);
// Returns a path such as "/api/v1/jobs/shop%2Fweb".
std::string JobPath(std::string_view job);
// Returns the words of a search for jobs, with those of the namespace; "" if both are empty.
std::string SearchOf(const std::string& search, const std::string& ns);

}  // namespace taut::tools
