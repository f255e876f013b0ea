// Answers of the Prometheus HTTP API, read in one pass.
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

// One object, one thread; keeps its buffers from answer to answer.
class QueryAnswerParser {
 public:
  // Labels ascending by name, samples as they were sent. Views live as long as the call.
  using SeriesFn = absl::FunctionRef<absl::Status(std::span<const LabelView> labels,
                                                  std::span<const RemoteSample> samples)>;

  QueryAnswerParser();
  ~QueryAnswerParser();

  // The answer to a query whose result is a matrix. `body` gets room behind its end, which may move it. Calls
  // fn for each series with samples, in order; series before a damage come before the error.
  //   DataLoss            not JSON, or not such an answer
  //   FailedPrecondition  the server says that the query failed: its words
  // and what fn returns, which ends the reading. About 35 ns a sample.
  absl::Status Parse(std::string& body, SeriesFn fn);
  // The same for the answer of /api/v1/series: labels alone.
  absl::Status ParseSeries(std::string& body,
                           absl::FunctionRef<absl::Status(std::span<const LabelView> labels)> fn);
  // Of the last answer: the first warning of the server, as for data that it could not reach; "" for none.
  const std::string& warning() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What the server says in the answer to a query that failed: its error if that is JSON of Prometheus, else
// the first line, at most 300 bytes.
std::string ErrorTextOf(std::string_view body);

}  // namespace taut::server
