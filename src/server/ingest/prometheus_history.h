// The past of the series that the mapping rules want, read from the HTTP API of a Prometheus or of what
// speaks as one (VictoriaMetrics, Thanos), so that a daemon with an empty store knows its jobs.
//
// Raw samples are asked for, with the times they were scraped at: query_range would repeat a dead target's
// last value for five minutes. How a daemon uses it (`client` holds the token and the CA of its settings):
//
//   auto history = PrometheusHistory::Create(config.backfill.prometheus_url, client, rules, {});
//   if (!history.ok()) return history.status();
//   Timestamp chunk_end;
//   HistorySink sink;
//   sink.on_chunk_begin = [&](Timestamp end) { chunk_end = end; };
//   sink.on_series = [&](auto labels, auto samples) {
//     control.Take(labels, samples, chunk_end);
//     return absl::OkStatus();
//   };
//   sink.on_chunk_done = [&](Timestamp watermark) { return control.Tick(watermark); };
//   sink.on_progress = [&](const HistoryProgress& p) { Say("backfill: " + p.Sentence()); };
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
  // Of time that is read, all metrics of it, before on_chunk_done: windows of that long and the samples in
  // them are what the receiver holds at once. Rounded up to whole windows.
  int64_t chunk_seconds = 3600;
  // A chunk with more samples makes the next ones shorter, down to one window.
  uint64_t max_chunk_samples = 20'000'000;
  // Of one answer. A larger one is asked for in halves.
  size_t max_answer_bytes = size_t{64} << 20;
  // Samples closer together than this are thinned out: the largest of a gauge, the last of a counter. 0: all
  // are handed over. The receiver holds 1,024 samples of a series.
  int64_t thin_seconds = 10;
  // Retries of a server that is unreachable or too busy, after pauses of 1, 2, 4 s, ...
  int retries = 3;
  std::function<void(std::chrono::milliseconds)> sleep;  // unset: really
  // What errors call the places where the user gave the URL and the token.
  std::string url_option = "backfill.prometheus", token_option = "backfill.bearer_token_file";
};

struct HistoryProgress {
  int64_t done_seconds = 0, total_seconds = 0;
  uint64_t series = 0;   // of the last chunk
  uint64_t samples = 0;  // handed over so far
  uint64_t queries = 0;  // answered so far
  std::string warning;   // the first that the server gave, as for data it could not reach; "" for none

  std::string Sentence() const;  // "3 of 14 days, 12.4 M samples"
};

// What is done with it. on_series must be set; an error it returns ends the reading.
struct HistorySink {
  // What is handed over until on_chunk_done(end) is not after `end`: the "now" for the receiver.
  std::function<void(Timestamp end)> on_chunk_begin;
  // Labels ascending by name, as in remote write; samples ascending, those of one series in time order from
  // call to call. Views are valid during the call. Within a chunk series of facts (owners) come first.
  std::function<absl::Status(std::span<const LabelView> labels, std::span<const RemoteSample> samples)>
      on_series;
  // Everything until `watermark` has been handed over: windows may be closed.
  std::function<absl::Status(Timestamp watermark)> on_chunk_done;
  std::function<void(const HistoryProgress&)> on_progress;  // after each chunk
  std::function<bool()> should_stop;                        // asked between queries
};

// Not thread-safe. Holds one answer at a time: up to max_answer_bytes and about twice that for reading it.
class PrometheusHistory {
 public:
  // `url`: what comes before /api/v1. Connects with the first Read. Errors of HttpClient::Create;
  // InvalidArgument if there are no rules.
  static absl::StatusOr<std::unique_ptr<PrometheusHistory>> Create(std::string_view url,
                                                                   const ClientOptions& client_options,
                                                                   std::span<const MappingRule> rules,
                                                                   const HistoryOptions& options);

  // What time it is by the server's clock, which is that of its samples. One query, not repeated.
  absl::StatusOr<Timestamp> ServerTime();

  // Passes on the samples in (from, to], both cut to whole seconds. Errors name the URL and the remedy:
  //   Unavailable, DeadlineExceeded        away, or too slow, all retries long
  //   Unauthenticated, PermissionDenied    it wants a token, or another one
  //   FailedPrecondition                   it refuses a query that cannot be made smaller; its words
  //   ResourceExhausted                    the answer for the shortest time is too large
  //   DataLoss, NotFound                   it is no Prometheus
  //   Cancelled                            should_stop said so
  // and what the sink returned. Chunks that are done stay done.
  absl::Status Read(Timestamp from, Timestamp to, const HistorySink& sink);

  // The labels, ascending, of the series of `selectors` that the server's index has in [from, to]; some may
  // come twice, and where the index is coarse some that have no sample then. Costs it less than samples do.
  // Errors as Read.
  using LabelsFn = absl::FunctionRef<absl::Status(std::span<const LabelView> labels)>;
  absl::Status ReadSeries(std::span<const HistorySelector> selectors, Timestamp from, Timestamp to,
                          const std::function<bool()>& should_stop, LabelsFn on_series);
  // What Read asks for; at first that is what the rules want.
  std::vector<HistorySelector> selectors() const;
  void Select(std::vector<HistorySelector> selectors);

 private:
  struct Query {
    HistorySelector selector;
    std::vector<std::string> matches;  // of which only the series are asked for; empty: samples of `selector`
    int64_t length_s = 0;              // of time asked for at once, now
    int successes = 0;                 // since length_s changed
  };
  struct Span {
    int64_t from_s = 0, to_s = 0;  // (from, to]
  };
  enum class Verdict : uint8_t { kGood, kTooMuch, kTryLater, kFinal };

  PrometheusHistory(std::unique_ptr<HttpClient> client, std::span<const MappingRule> rules,
                    const HistoryOptions& options);
  absl::Status ReadChunk(const Span& chunk, const HistorySink& sink);
  absl::Status ReadQuery(Query& query, const Span& chunk, const HistorySink& sink);
  // One request. OK: `body` is the answer.
  absl::Status Ask(const Query& query, const Span& span, std::string& body, Verdict& verdict);
  // The answer was not 200.
  absl::Status Refusal(const HttpResponse& response, const Query& query, const Span& span,
                       Verdict& verdict) const;
  // There was no answer, or none of a bearable size.
  absl::Status Failure(const absl::Status& status, const Query& query, const Span& span,
                       Verdict& verdict) const;
  // As Ask; asked again while kTryLater, and kTooMuch too if the span cannot be halved.
  absl::Status AskPatiently(const Query& query, const Span& span, const HistorySink& sink, std::string& body,
                            Verdict& verdict);
  absl::Status HandOver(std::string& body, const Span& span, const HistorySink& sink);
  // Into thinned_: of this span only, and not too close together.
  void Thin(std::span<const LabelView> labels, std::span<const RemoteSample> samples, const Span& span);
  bool IsCounter(std::span<const LabelView> labels) const;

  const std::unique_ptr<HttpClient> client_;
  const std::vector<MappingRule> rules_;
  const HistoryOptions options_;
  std::vector<Query> queries_;
  int64_t chunk_s_;  // now
  QueryAnswerParser parser_;
  HistoryProgress progress_;
  uint64_t chunk_samples_ = 0;
  std::vector<RemoteSample> thinned_;
};

}  // namespace taut::server
