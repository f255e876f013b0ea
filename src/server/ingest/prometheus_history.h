// Reads the history of the series in the mapping rules from the HTTP API of a Prometheus, or of a compatible
// server (VictoriaMetrics, Thanos). A daemon with an empty store learns its jobs from this history.
//
// The reader requests raw samples with their scrape times, because query_range would repeat a dead target's last
// value for five minutes. Usage in a daemon (`client` contains the token and the CA of its settings):
//
//   auto history = PrometheusHistory::Create(config.backfill.prometheus_url, client, rules, {});
//   if (!history.ok()) return history.status();
//   Timestamp chunk_end;
//   HistorySink sink;
//   sink.on_chunk_begin = [&](Timestamp end) { chunk_end = end; };
//   sink.on_series = [&](auto labels, auto samples) {
//     control.ingest().samples.Take(labels, samples, chunk_end);
//     return absl::OkStatus();
//   };
//   sink.on_chunk_done = [&](Timestamp watermark) { return control.Tick(watermark, brain::When::kPast); };
//   sink.on_progress = [&](const HistoryProgress& p) { log.Info("backfill: " + p.Sentence()); };
//   sink.should_stop = [&] { return stopping.load(); };
//   return (*history)->Read(now - days, now, sink);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "common/net/http_client.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/query_answer.h"
#include "server/ingest/selectors.h"

namespace taut::server {

struct HistoryOptions {
  // Length of a chunk of time, for all metrics; rounded up to whole windows. on_chunk_done is called after
  // each chunk. The receiver holds the samples of one chunk at a time.
  int64_t chunk_seconds = 3600;
  // Maximum number of samples in a chunk. If a chunk has more samples, the next chunks are shorter, down to one
  // window.
  uint64_t max_chunk_samples = 20'000'000;
  // Maximum size of one response, bytes. If a response is larger, its time span is requested in halves.
  size_t max_answer_bytes = size_t{64} << 20;
  // Interval for thinning. Of samples within one interval, only the largest of a gauge and the last of a counter
  // are passed on. 0: all samples are passed on. The receiver holds at most 1,024 samples of a series.
  int64_t thin_seconds = 10;
  // Number of retries if the server is unreachable or too busy, after pauses of 1, 2, 4 s, ...
  int retries = 3;
  // Function that waits between retries; unset: sleeps by the system's clock.
  std::function<void(std::chrono::milliseconds)> sleep;
  // Names of the settings for URL and token, for error messages.
  std::string url_option = "backfill.prometheus", token_option = "backfill.bearer_token_file";
};

struct HistoryProgress {
  int64_t done_seconds = 0, total_seconds = 0;
  uint64_t series = 0;   // number of series in the last chunk
  uint64_t samples = 0;  // number of samples passed on so far
  uint64_t queries = 0;  // number of queries answered so far
  std::string warning;   // server's first warning, such as a notice about unreachable data; "" if none

  std::string Sentence() const;  // text such as "3 of 14 days, 12.4 M samples"
};

// Callbacks of a read. on_series must be set. An error of on_series ends the read.
struct HistorySink {
  // Called before a chunk. The chunk's samples are not after `end`, which the receiver uses as "now".
  std::function<void(Timestamp end)> on_chunk_begin;
  // Receives a series. Labels are ascending by name, as in remote write. Samples are ascending, also over
  // several calls for one series. Views are valid during the call. Within a chunk, series of facts (owners)
  // are first.
  std::function<absl::Status(std::span<const LabelView> labels, std::span<const RemoteSample> samples)>
      on_series;
  // Called once all samples until `watermark` were passed on, so that windows may close.
  std::function<absl::Status(Timestamp watermark)> on_chunk_done;
  std::function<void(const HistoryProgress&)> on_progress;  // receives the progress after each chunk
  // Returns true to end the read. Called between queries.
  std::function<bool()> should_stop;
};

// Not thread-safe. Holds one response at a time: up to max_answer_bytes, and about twice as much during
// parsing.
class PrometheusHistory {
 public:
  // Creates a reader; the first Read connects. `url`: URL of the server without /api/v1. Returns the errors of
  // HttpClient::Create, and InvalidArgument if there are no rules.
  static absl::StatusOr<std::unique_ptr<PrometheusHistory>> Create(std::string_view url,
                                                                   const ClientOptions& client_options,
                                                                   std::span<const MappingRule> rules,
                                                                   const HistoryOptions& options);

  // Returns the present time by the server's clock, which dates the server's samples. Sends one query, without
  // retries.
  absl::StatusOr<Timestamp> ServerTime();

  // Passes on the samples in (from, to], both cut to whole seconds. Errors name the URL and the remedy:
  //   Unavailable, DeadlineExceeded        unreachable or too slow, in all retries
  //   Unauthenticated, PermissionDenied    a token is required, or has no permission
  //   FailedPrecondition                   the server rejects a query that cannot be made smaller
  //   ResourceExhausted                    the response for the shortest time is too large
  //   DataLoss, NotFound                   not a Prometheus
  //   Cancelled                            should_stop returned true
  // and the errors of the sink. Completed chunks stay completed.
  absl::Status Read(Timestamp from, Timestamp to, const HistorySink& sink);

  // Passes on the labels, ascending, of the series of `selectors` that the server's index has in [from, to]. A
  // series may be repeated. If the index is coarse, series without samples in this time are included. Costs the
  // server less than samples. Returns the errors of Read.
  using LabelsFn = absl::FunctionRef<absl::Status(std::span<const LabelView> labels)>;
  absl::Status ReadSeries(std::span<const HistorySelector> selectors, Timestamp from, Timestamp to,
                          const std::function<bool()>& should_stop, LabelsFn on_series);
  // Returns the selectors whose series Read requests. Initially these are SelectorsOf(rules).
  std::vector<HistorySelector> selectors() const;
  // Replaces the selectors.
  void Select(std::vector<HistorySelector> selectors);

 private:
  struct Query {
    HistorySelector selector;
    // Matchers of the series to request; empty: all series of `selector`.
    std::vector<std::string> matches;
    int64_t length_s = 0;  // present length of the time of one request
    int successes = 0;     // number of successful responses since length_s has changed
  };
  struct Span {
    int64_t from_s = 0, to_s = 0;  // the times are in (from_s, to_s]
  };
  enum class Verdict : uint8_t { kGood, kTooMuch, kTryLater, kFinal };

  PrometheusHistory(std::unique_ptr<HttpClient> client, std::span<const MappingRule> rules,
                    const HistoryOptions& options);
  absl::Status ReadChunk(const Span& chunk, const HistorySink& sink);
  absl::Status ReadQuery(Query& query, const Span& chunk, const HistorySink& sink);
  // Sends one request and sets `verdict`. If OK, `body` is the response.
  absl::Status Ask(const Query& query, const Span& span, std::string& body, Verdict& verdict);
  // Returns the error for a response with another status than 200. Sets `verdict`, which decides whether to
  // retry.
  absl::Status Refusal(const HttpResponse& response, const Query& query, const Span& span,
                       Verdict& verdict) const;
  // Returns the error for a missing or too large response. Sets `verdict`.
  absl::Status Failure(const absl::Status& status, const Query& query, const Span& span,
                       Verdict& verdict) const;
  // Calls Ask, and repeats the call on kTryLater, and on kTooMuch if the span cannot be halved.
  absl::Status AskPatiently(const Query& query, const Span& span, const HistorySink& sink, std::string& body,
                            Verdict& verdict);
  absl::Status HandOver(std::string& body, const Span& span, const HistorySink& sink);
  // Copies the samples in this span to thinned_, after thinning (HistoryOptions::thin_seconds).
  void Thin(std::span<const LabelView> labels, std::span<const RemoteSample> samples, const Span& span);
  bool IsCounter(std::span<const LabelView> labels) const;

  const std::unique_ptr<HttpClient> client_;
  const std::vector<MappingRule> rules_;
  const HistoryOptions options_;
  std::vector<Query> queries_;
  int64_t chunk_s_;  // present length of a chunk
  QueryAnswerParser parser_;
  HistoryProgress progress_;
  uint64_t chunk_samples_ = 0;
  std::vector<RemoteSample> thinned_;
};

}  // namespace taut::server
