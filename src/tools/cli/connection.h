// Connects commands to the daemon, with options that all these commands share, and explains rejected requests.
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
  std::string token_file;  // path of a file with the token in its first line; empty: no token
  std::string ca_file;     // path of a file with CA certificates for https; empty: the system's
};

inline constexpr const char* kStartDaemonHint =
    "start it with `tautd`, or name another server with --server or TAUT_SERVER";

// Creates a client, which connects when the first request is sent. Errors name the invalid option. The error for
// an unreachable server includes `hint`.
absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const ConnectionArgs& args,
                                                    const char* hint = kStartDaemonHint);

// Returns OK for 2xx. For any other response, returns the daemon's message, or the status line if the response has
// no message. For 401 and 403 the error also names the missing option.
absl::Status CheckAnswer(const HttpClient& client, const HttpResponse& response);

// Sends a GET and returns the response as JSON. Returns errors of CheckAnswer() and HttpClient, and DataLoss if
// the body is not JSON.
absl::StatusOr<Json> GetJson(HttpClient& client, std::string_view path);
// Returns a response as JSON, with the errors of GetJson().
absl::StatusOr<Json> JsonOf(const HttpClient& client, const absl::StatusOr<HttpResponse>& response);
// Calls `ask` for the job named `name`, or for the only job whose name contains `name`, and returns the result.
// Sets `name` to the full name. Returns NotFound with the daemon's message if no job or several jobs match.
absl::StatusOr<Json> AskOfJob(HttpClient& client, std::string& name,
                              absl::FunctionRef<absl::StatusOr<Json>(const std::string& job)> ask);
// Returns the API path of a job, such as "/api/v1/jobs/shop%2Fweb".
std::string JobPath(std::string_view job);
// Returns the query for a search for jobs in a namespace; "" if both are empty.
std::string SearchOf(const std::string& search, const std::string& ns);

}  // namespace taut::tools
