#include "programs/backfill_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "backfill/prometheus_history.h"
#include "base/strings.h"
#include "spdlog/spdlog.h"

namespace taut {

BackfillRun::BackfillRun(ControlPlane& control, Options options)
    : control_(control), options_(std::move(options)) {}

std::optional<BackfillProgress> BackfillRun::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void BackfillRun::Note(std::string_view error, bool running) {
  const std::lock_guard lock(mutex_);
  if (!progress_.has_value()) progress_.emplace();
  progress_->error = error;
  progress_->running = running;
}

absl::Status BackfillRun::Mark() {
  if (options_.mark_file.empty()) return absl::OkStatus();
  std::ofstream mark(options_.mark_file, std::ios::trunc);
  mark << "Backfill is not complete: tautd resumes it at its next start.\n";
  mark.close();
  return mark.fail() ? absl::UnavailableError(StrCat(options_.mark_file, ": cannot be written"))
                     : absl::OkStatus();
}

// From where the store ends.
absl::Status BackfillRun::ReadOn(Timestamp now) {
  const BackfillConfig& config = options_.config;
  absl::StatusOr<std::string> token = ReadSecretFile(config.bearer_token_file);
  if (!token.ok()) return token.status();
  ClientOptions client;
  client.token = *std::move(token);
  client.ca_file = config.ca_file;
  auto history = PrometheusHistory::Create(config.prometheus_url, client, options_.rules, {});
  if (!history.ok()) return history.status();
  const auto days_us = static_cast<int64_t>(config.days * kDay * static_cast<double>(kMicrosPerSecond));
  Timestamp from{now.us - days_us};
  if (const std::optional<WindowId> last = control_.stored_through(); last.has_value()) {
    // With the window before, from which counters' rates go on; what is known of it comes too late and is
    // dropped.
    from = std::max(from, Timestamp::FromSeconds(last->start_s()));
  }
  Timestamp chunk_end;
  HistorySink sink;
  sink.on_chunk_begin = [&](Timestamp end) { chunk_end = end; };
  sink.on_series = [&](std::span<const LabelView> labels, std::span<const RemoteSample> samples) {
    control_.Take(labels, samples, chunk_end);
    return absl::OkStatus();
  };
  sink.on_chunk_done = [&](Timestamp watermark) { return control_.Tick(watermark); };
  sink.on_progress = [&](const HistoryProgress& p) {
    const std::lock_guard lock(mutex_);
    const int64_t before_s = (from.us - (now.us - days_us)) / kMicrosPerSecond;
    progress_ = BackfillProgress{.done = static_cast<uint64_t>(before_s + p.done_seconds),
                                 .total = static_cast<uint64_t>(before_s + p.total_seconds),
                                 .sentence = p.Sentence(),
                                 .running = true,
                                 .error = ""};
  };
  sink.should_stop = options_.should_stop;
  return (*history)->Read(from, now, sink);
}

absl::Status BackfillRun::Run() {
  const bool is_interrupted = !options_.mark_file.empty() && std::filesystem::exists(options_.mark_file);
  const bool is_empty = !control_.stored_through().has_value();
  if (options_.config.prometheus_url.empty() || (!is_empty && !is_interrupted)) return absl::OkStatus();
  {
    const std::lock_guard lock(mutex_);
    progress_ = BackfillProgress{.done = 0,
                                 .total = static_cast<uint64_t>(options_.config.days * kDay),
                                 .sentence = StrCat("0 of ", options_.config.days, " days"),
                                 .running = true,
                                 .error = ""};
  }
  if (absl::Status s = Mark(); !s.ok())
    spdlog::warn("backfill cannot be resumed after a restart: {}", Message(s));
  spdlog::info("backfill: {} days from {}{}", options_.config.days, options_.config.prometheus_url,
               is_empty ? "" : ", resumed");
  absl::Status read;
  std::chrono::seconds pause = options_.first_pause, waited{0};
  std::optional<WindowId> through = control_.stored_through();
  while (true) {
    read = ReadOn(options_.now());
    const bool is_away = absl::IsUnavailable(read) || absl::IsDeadlineExceeded(read);
    if (!is_away || options_.should_stop()) break;
    if (control_.stored_through() != through) {
      through = control_.stored_through();
      pause = options_.first_pause;
      waited = std::chrono::seconds(0);
    }
    if (waited >= options_.patience) break;
    Note(Message(read), true);
    spdlog::warn("backfill: {}; retrying in {} s", Message(read), pause.count());
    options_.wait(pause);
    waited += pause;
    pause = std::min(2 * pause, options_.longest_pause);
  }
  if (options_.should_stop()) return absl::CancelledError("stopped before backfill was complete");
  // What comes now is of the present: the time before it is closed.
  if (!options_.mark_file.empty()) {
    std::error_code ignored;
    std::filesystem::remove(options_.mark_file, ignored);
  }
  Note(read.ok() ? std::string_view() : Message(read), false);
  const std::optional<BackfillProgress> end = progress();
  if (read.ok()) {
    spdlog::info("backfill: {}, {} jobs", end->sentence, control_.view()->jobs.size());
  } else {
    spdlog::error("backfill failed; only the history read before is known: {}", Message(read));
  }
  return read;
}

}  // namespace taut
