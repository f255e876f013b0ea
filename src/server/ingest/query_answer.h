// Parser for responses of the Prometheus HTTP API, in one pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

// Not thread-safe; reuses its buffers.
class QueryAnswerParser {
 public:
  // Labels are ascending by name; samples are in the order of the response. Views are valid during the call.
  using SeriesFn = absl::FunctionRef<absl::Status(std::span<const LabelView> labels,
                                                  std::span<const RemoteSample> samples)>;

  QueryAnswerParser();
  ~QueryAnswerParser();

  // Parses the response to a query with a matrix as result. `body` may be reallocated, because a few bytes
  // are appended. Calls fn for each series with samples, in order. If the response is damaged, fn receives
  // the series before the damage.
  //   DataLoss            not JSON, or not a response of this kind
  //   FailedPrecondition  the server reports that the query failed; the message is the server's text
  // Also returns an error of fn, which ends the parsing. Takes about 35 ns per sample.
  absl::Status Parse(std::string& body, SeriesFn fn);
  // Parses the response of /api/v1/series, which contains only labels. Returns the errors of Parse.
  absl::Status ParseSeries(std::string& body,
                           absl::FunctionRef<absl::Status(std::span<const LabelView> labels)> fn);
  // Returns the first warning in the last response, such as a notice about data that the server could not
  // reach; "" if there is none.
  const std::string& warning() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the server's error text for a failed query: the error field of Prometheus' JSON, else the first
// line of `body`, at most 300 bytes.
std::string ErrorTextOf(std::string_view body);

}  // namespace taut::server
