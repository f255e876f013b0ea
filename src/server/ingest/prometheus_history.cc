#include "server/ingest/prometheus_history.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "common/base/name_template.h"
#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::server {
namespace {

// Shortest time of one request.
constexpr int64_t kMinLengthSeconds = 60;
// Number of successful responses after which a shortened query grows again.
constexpr int kGoodAnswersToGrow = 16;

std::string WrongPath(const HistoryOptions& options) {
  return StrCat("check ", options.url_option,
                ": expected the URL before /api/v1 (a VictoriaMetrics cluster: "
                "http://HOST:8481/select/0/prometheus)");
}

int64_t WholeWindows(int64_t seconds) {
  return std::max<int64_t>(1, (seconds + kWindowSeconds - 1) / kWindowSeconds) * kWindowSeconds;
}

bool CanHalve(int64_t length_s) { return length_s > kMinLengthSeconds; }

constexpr std::string_view kQueryPath = "/api/v1/query", kSeriesPath = "/api/v1/series";

std::string SeriesFormOf(std::span<const std::string> matches, int64_t from_s, int64_t to_s) {
  std::vector<QueryParameter> form;
  for (const std::string& match : matches) form.push_back({"match[]", match});
  form.push_back({"start", StrCat(from_s)});
  form.push_back({"end", StrCat(to_s)});
  return FormatQuery(form).substr(1);
}

std::string FormOf(std::string_view selector, int64_t from_s, int64_t to_s) {
  return FormatQuery({{"query", StrCat(selector, "[", to_s - from_s, "s]")}, {"time", StrCat(to_s)}})
      .substr(1);
}

// Returns the error with a hint appended.
absl::Status WithHint(const absl::Status& status, std::string_view hint) {
  return absl::Status(status.code(), StrCat(Message(status), "; ", hint));
}

}  // namespace

std::string HistoryProgress::Sentence() const {
  const bool in_days = total_seconds >= 2 * kDaySeconds;
  const int64_t unit = in_days ? kDaySeconds : 3600;
  const double total = static_cast<double>(total_seconds) / static_cast<double>(unit);
  const auto count = static_cast<double>(samples);
  const std::string how_many = samples < 1000        ? StrCat(samples)
                               : samples < 1'000'000 ? fmt::format("{:.1f} k", count / 1e3)
                                                     : fmt::format("{:.1f} M", count / 1e6);
  return fmt::format("{} of {:.3g} {}, {} samples", done_seconds / unit, total, in_days ? "days" : "hours",
                     how_many);
}

absl::StatusOr<std::unique_ptr<PrometheusHistory>> PrometheusHistory::Create(
    std::string_view url, const ClientOptions& client_options, std::span<const MappingRule> rules,
    const HistoryOptions& options) {
  ClientOptions its_options = client_options;
  its_options.max_body_bytes = options.max_answer_bytes;
  if (its_options.unreachable_hint.empty()) {
    its_options.unreachable_hint =
        StrCat("check that it is running and that ", options.url_option, " is its address");
  }
  auto client = HttpClient::Create(url, its_options);
  if (!client.ok()) return client.status();
  std::unique_ptr<PrometheusHistory> out(new PrometheusHistory(*std::move(client), rules, options));
  if (out->queries_.empty()) {
    return absl::InvalidArgumentError(
        "backfill needs mapping rules: there are none, so no series can be queried");
  }
  return out;
}

PrometheusHistory::PrometheusHistory(std::unique_ptr<HttpClient> client, std::span<const MappingRule> rules,
                                     const HistoryOptions& options)
    : client_(std::move(client)),
      rules_(rules.begin(), rules.end()),
      options_(options),
      chunk_s_(WholeWindows(options.chunk_seconds)) {
  Select(SelectorsOf(rules_));
}

void PrometheusHistory::Select(std::vector<HistorySelector> selectors) {
  queries_.clear();
  for (HistorySelector& selector : selectors) queries_.push_back({std::move(selector), {}, chunk_s_, 0});
}

std::vector<HistorySelector> PrometheusHistory::selectors() const {
  std::vector<HistorySelector> out;
  for (const Query& query : queries_) out.push_back(query.selector);
  return out;
}

absl::Status PrometheusHistory::Read(Timestamp from, Timestamp to, const HistorySink& sink) {
  progress_ = {};
  progress_.total_seconds = std::max<int64_t>(0, to.seconds() - from.seconds());
  for (int64_t at = from.seconds(); at < to.seconds();) {
    // A chunk ends at the start of a window, so that no window is split.
    const int64_t end = std::min(to.seconds(), FloorDiv(at + chunk_s_, kWindowSeconds) * kWindowSeconds);
    if (sink.on_chunk_begin) sink.on_chunk_begin(Timestamp::FromSeconds(end));
    chunk_samples_ = 0;
    progress_.series = 0;
    if (absl::Status status = ReadChunk({at, end}, sink); !status.ok()) return status;
    if (sink.on_chunk_done) {
      if (absl::Status status = sink.on_chunk_done(Timestamp::FromSeconds(end)); !status.ok()) return status;
    }
    progress_.done_seconds = end - from.seconds();
    if (sink.on_progress) sink.on_progress(progress_);
    if (chunk_samples_ > options_.max_chunk_samples) {
      chunk_s_ = WholeWindows(chunk_s_ / 2 - kWindowSeconds + 1);
    } else if (chunk_samples_ < options_.max_chunk_samples / 4) {
      chunk_s_ = std::min(WholeWindows(options_.chunk_seconds), 2 * chunk_s_);
    }
    at = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<Timestamp> PrometheusHistory::ServerTime() {
  constexpr std::string_view kQuery = "vector(time())[10s:1s]";  // returns samples, as other queries do
  auto response = client_->Post("/api/v1/query", FormatQuery({{"query", std::string(kQuery)}}).substr(1),
                                "application/x-www-form-urlencoded");
  if (!response.ok()) return response.status();
  if (absl::Status s = StatusOf(*response); !s.ok()) return s;
  std::string body = std::move(response->body);
  Timestamp newest{INT64_MIN};
  const absl::Status parsed =
      parser_.Parse(body, [&](std::span<const LabelView>, std::span<const RemoteSample> samples) {
        newest = std::max(newest, Timestamp{samples.back().timestamp_ms * 1000});
        return absl::OkStatus();
      });
  if (!parsed.ok()) return parsed;
  if (newest.us == INT64_MIN) return absl::NotFoundError(StrCat(kQuery, " returned no data"));
  return newest;
}

absl::Status PrometheusHistory::ReadChunk(const Span& chunk, const HistorySink& sink) {
  for (Query& query : queries_) {
    if (absl::Status status = ReadQuery(query, chunk, sink); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PrometheusHistory::ReadQuery(Query& query, const Span& chunk, const HistorySink& sink) {
  std::string body;
  for (int64_t at = chunk.from_s; at < chunk.to_s;) {
    const Span span{at, std::min(chunk.to_s, at + query.length_s)};
    Verdict verdict = Verdict::kGood;
    const absl::Status asked = AskPatiently(query, span, sink, body, verdict);
    const int64_t length = span.to_s - span.from_s;
    if (verdict == Verdict::kTooMuch && CanHalve(length)) {
      query.length_s = std::max(kMinLengthSeconds, length / 2);
      query.successes = 0;
      continue;
    }
    if (!asked.ok()) return asked;
    const bool is_small = body.size() < options_.max_answer_bytes / 4;
    if (absl::Status status = HandOver(body, span, sink); !status.ok()) return status;
    at = span.to_s;
    if (!is_small || query.length_s >= WholeWindows(options_.chunk_seconds)) continue;
    if (++query.successes < kGoodAnswersToGrow) continue;
    query.length_s = std::min(WholeWindows(options_.chunk_seconds), 2 * query.length_s);
    query.successes = 0;
  }
  return absl::OkStatus();
}

absl::Status PrometheusHistory::ReadSeries(std::span<const HistorySelector> selectors, Timestamp from,
                                           Timestamp to, const std::function<bool()>& should_stop,
                                           LabelsFn on_series) {
  Query query;
  for (const HistorySelector& s : selectors) query.matches.push_back(s.text);
  if (query.matches.empty()) return absl::OkStatus();
  query.selector.text = StrCat("the series of ", query.matches.front(), " ...");
  HistorySink sink;
  sink.should_stop = should_stop;
  std::string body;
  int64_t length_s = to.seconds() - from.seconds();
  for (int64_t at = from.seconds(); at < to.seconds();) {
    const Span span{at, std::min(to.seconds(), at + length_s)};
    Verdict verdict = Verdict::kGood;
    const absl::Status asked = AskPatiently(query, span, sink, body, verdict);
    if (verdict == Verdict::kTooMuch && CanHalve(span.to_s - span.from_s)) {
      length_s = std::max(kMinLengthSeconds, (span.to_s - span.from_s) / 2);
      continue;
    }
    if (!asked.ok()) return asked;
    bool is_sinks = false;  // true for an error of on_series, which is returned unchanged
    const absl::Status parsed = parser_.ParseSeries(body, [&](std::span<const LabelView> labels) {
      absl::Status taken = on_series(labels);
      is_sinks = !taken.ok();
      return taken;
    });
    if (!parsed.ok() && !is_sinks) {
      return absl::Status(parsed.code(), StrCat(client_->base_url(), kSeriesPath, ": ", Message(parsed), "; ",
                                                WrongPath(options_)));
    }
    if (!parsed.ok()) return parsed;
    at = span.to_s;
  }
  return absl::OkStatus();
}

absl::Status PrometheusHistory::AskPatiently(const Query& query, const Span& span, const HistorySink& sink,
                                             std::string& body, Verdict& verdict) {
  std::chrono::milliseconds pause = std::chrono::seconds(1);
  for (int attempt = 0;; ++attempt) {
    if (sink.should_stop && sink.should_stop()) {
      verdict = Verdict::kFinal;
      return absl::CancelledError("reading the history was stopped");
    }
    absl::Status asked = Ask(query, span, body, verdict);
    if (verdict != Verdict::kTryLater) return asked;
    if (attempt >= options_.retries) return asked;
    if (options_.sleep) {
      options_.sleep(pause);
    } else {
      std::this_thread::sleep_for(pause);
    }
    pause *= 2;
  }
}

absl::Status PrometheusHistory::Ask(const Query& query, const Span& span, std::string& body,
                                    Verdict& verdict) {
  const bool samples = query.matches.empty();
  auto response = client_->Post(samples ? kQueryPath : kSeriesPath,
                                samples ? FormOf(query.selector.text, span.from_s, span.to_s)
                                        : SeriesFormOf(query.matches, span.from_s, span.to_s),
                                "application/x-www-form-urlencoded");
  if (!response.ok()) return Failure(response.status(), query, span, verdict);
  if (response->status != 200) return Refusal(*response, query, span, verdict);
  ++progress_.queries;
  body = std::move(response->body);
  verdict = Verdict::kGood;
  return absl::OkStatus();
}

absl::Status PrometheusHistory::Failure(const absl::Status& status, const Query& query, const Span& span,
                                        Verdict& verdict) const {
  if (absl::IsResourceExhausted(status)) {
    verdict = Verdict::kTooMuch;
    return WithHint(status, StrCat("the query covered ", span.to_s - span.from_s, " s of ",
                                   query.selector.text, ": map fewer series, with custom mapping rules"));
  }
  if (absl::IsDeadlineExceeded(status)) {
    verdict = CanHalve(span.to_s - span.from_s) ? Verdict::kTooMuch : Verdict::kTryLater;
    return WithHint(status, "the server is too slow; retry when its load is lower");
  }
  verdict = absl::IsUnavailable(status) ? Verdict::kTryLater : Verdict::kFinal;
  return verdict == Verdict::kFinal ? WithHint(status, WrongPath(options_)) : status;
}

absl::Status PrometheusHistory::Refusal(const HttpResponse& response, const Query& query, const Span& span,
                                        Verdict& verdict) const {
  const std::string words = ErrorTextOf(response.text());
  const auto error = [&](absl::StatusCode code, std::string_view hint) {
    return absl::Status(code,
                        StrCat(client_->base_url(), query.matches.empty() ? kQueryPath : kSeriesPath,
                               ": the server answered ", response.status, " ", ReasonPhrase(response.status),
                               words.empty() ? "" : ": ", words, hint.empty() ? "" : "; ", hint));
  };
  verdict = Verdict::kFinal;
  switch (response.status) {
    case 401:
      return error(absl::StatusCode::kUnauthenticated,
                   StrCat("authentication required: set ", options_.token_option));
    case 403:
      return error(absl::StatusCode::kPermissionDenied,
                   StrCat("the token in ", options_.token_option, " has no permission to query"));
    case 413:
    case 422:
      // The server's limit on samples or series was exceeded; other causes are only in the error text.
      verdict = Verdict::kTooMuch;
      return error(absl::StatusCode::kFailedPrecondition,
                   StrCat("query of ", span.to_s - span.from_s, " s of ", query.selector.text,
                          "; raise the server's limits (--query.max-samples), or map fewer series"));
    case 400:
      return error(absl::StatusCode::kFailedPrecondition, StrCat("query of ", query.selector.text));
    case 429:
      verdict = Verdict::kTryLater;
      return error(absl::StatusCode::kUnavailable, "the server is too busy; retry later");
    case 503:
    case 504:
      // Prometheus answers 503 when a query takes too long.
      verdict = CanHalve(span.to_s - span.from_s) && words.find("timed out") != std::string::npos
                    ? Verdict::kTooMuch
                    : Verdict::kTryLater;
      return error(absl::StatusCode::kUnavailable, "retry when its load is lower");
    default:
      break;
  }
  if (response.status >= 500) {
    verdict = Verdict::kTryLater;
    return error(absl::StatusCode::kUnavailable, "see the server's log");
  }
  return error(absl::StatusCode::kNotFound, WrongPath(options_));
}

absl::Status PrometheusHistory::HandOver(std::string& body, const Span& span, const HistorySink& sink) {
  bool is_sinks = false;  // true for an error of the sink, which is returned unchanged
  absl::Status status = parser_.Parse(
      body, [&](std::span<const LabelView> labels, std::span<const RemoteSample> samples) -> absl::Status {
        Thin(labels, samples, span);
        if (thinned_.empty()) return absl::OkStatus();
        ++progress_.series;
        progress_.samples += thinned_.size();
        chunk_samples_ += thinned_.size();
        absl::Status taken = sink.on_series(labels, thinned_);
        is_sinks = !taken.ok();
        return taken;
      });
  if (progress_.warning.empty()) progress_.warning = parser_.warning();
  if (status.ok() || is_sinks) return status;
  return absl::Status(status.code(), StrCat(client_->base_url(), "/api/v1/query: ", Message(status), "; ",
                                            WrongPath(options_)));
}

bool PrometheusHistory::IsCounter(std::span<const LabelView> labels) const {
  const std::string_view metric = LabelValue(labels, kMetricNameLabel);
  for (const MappingRule& rule : rules_) {
    if (!FitsPattern(metric, rule.metric)) continue;
    return rule.kind == SeriesKind::kCpuSecondsTotal || rule.kind == SeriesKind::kOomTotal ||
           rule.kind == SeriesKind::kLoadTotal || IsThrottling(rule.kind);
  }
  return false;
}

void PrometheusHistory::Thin(std::span<const LabelView> labels, std::span<const RemoteSample> samples,
                             const Span& span) {
  thinned_.clear();
  const bool is_counter = options_.thin_seconds > 0 && IsCounter(labels);
  const int64_t cell_ms = options_.thin_seconds * 1000;
  int64_t last_cell = INT64_MIN;
  for (const RemoteSample& s : samples) {
    // Prometheus before 3.0 also returns the sample at the start of the span.
    if (s.timestamp_ms <= span.from_s * 1000 || s.timestamp_ms > span.to_s * 1000) continue;
    const int64_t cell = cell_ms > 0 ? FloorDiv(s.timestamp_ms, cell_ms) : 0;
    if (cell_ms == 0 || thinned_.empty() || cell != last_cell) {
      thinned_.push_back(s);
      last_cell = cell;
    } else if (std::isnan(thinned_.back().value) || s.value > thinned_.back().value ||
               (is_counter && !std::isnan(s.value))) {
      thinned_.back() = s;
    }
  }
}

}  // namespace taut::server
