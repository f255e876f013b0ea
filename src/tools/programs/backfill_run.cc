#include "tools/programs/backfill_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "spdlog/spdlog.h"
#include "tools/programs/backfill_source.h"

namespace taut::tools {
namespace {

constexpr std::string_view kGapMark = "Gap: ";

std::string SentenceOf(bool is_gap, const server::HistoryProgress& progress) {
  return StrCat(is_gap ? "a gap, " : "", progress.Sentence());
}

}  // namespace

BackfillRun::BackfillRun(server::ControlPlane& control, Options options)
    : control_(control), options_(std::move(options)) {}

std::optional<server::BackfillProgress> BackfillRun::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void BackfillRun::Note(std::string_view error, bool running) {
  const std::lock_guard lock(mutex_);
  if (!progress_.has_value()) progress_.emplace();
  progress_->error = error;
  progress_->running = running;
}

absl::Status BackfillRun::Mark(What what) {
  if (options_.mark_file.empty()) return absl::OkStatus();
  std::ofstream mark(options_.mark_file, std::ios::trunc);
  mark << (what == What::kGap ? kGapMark : "")
       << "Backfill is not complete: tautd resumes it at its next start.\n";
  mark.close();
  return mark.fail() ? absl::UnavailableError(StrCat(options_.mark_file, ": cannot be written"))
                     : absl::OkStatus();
}

std::optional<BackfillRun::What> BackfillRun::Missing(Timestamp now) const {
  const std::optional<WindowId> last = control_.status().stored_through();
  if (options_.config.prometheus_url.empty()) return std::nullopt;
  if (!last.has_value()) return What::kFirst;
  if (!options_.mark_file.empty() && std::filesystem::exists(options_.mark_file)) {
    std::string line;
    std::ifstream mark(options_.mark_file);
    return std::getline(mark, line) && line.starts_with(kGapMark) ? What::kGap : What::kInterrupted;
  }
  if (!options_.gap.has_value()) return std::nullopt;
  const int64_t missed_s = now.seconds() - last->next().start_s();
  return missed_s > options_.gap->count() ? std::optional(What::kGap) : std::nullopt;
}

// Where the store ends, but not more than the days that are asked for ago.
Timestamp BackfillRun::Begin(Timestamp now) const {
  const Timestamp from = EarliestOf(options_.config, now);
  const std::optional<WindowId> last = control_.status().stored_through();
  // With the window before, from which counters' rates go on; what is known of it comes too late and is
  // dropped.
  return last.has_value() ? std::max(from, Timestamp::FromSeconds(last->start_s())) : from;
}

absl::Status BackfillRun::ReadOn(What what, Timestamp now) {
  auto history = OpenHistory(options_.config, options_.rules);
  if (!history.ok()) return history.status();
  // This machine's clock may be wrong after a stop: samples are not later than their server's.
  if (const auto server = (*history)->ServerTime(); server.ok()) now = std::min(now, *server);
  const Timestamp from = Begin(now);
  if (!begin_.has_value()) begin_ = from;
  // Windows that are open at the end wait for their samples of the present; a stop would lose what was read.
  const Timestamp keep_from{now.us - options_.open.count() * kMicrosPerSecond};
  absl::StatusOr<AddedLabels> added = AddedLabels::Of(options_.config);
  if (!added.ok()) return added.status();
  Timestamp chunk_end;
  server::HistorySink sink;
  sink.on_chunk_begin = [&](Timestamp end) { chunk_end = end; };
  sink.on_series = [&](std::span<const LabelView> labels, std::span<const server::RemoteSample> samples) {
    control_.ingest().Take(added->AddTo(labels), samples, chunk_end, keep_from);
    return absl::OkStatus();
  };
  sink.on_chunk_done = [&](Timestamp watermark) {
    ticked_ = watermark;
    return options_.tick(watermark);
  };
  sink.on_progress = [&](const server::HistoryProgress& p) {
    const std::lock_guard lock(mutex_);
    const int64_t before_s = (from.us - begin_->us) / kMicrosPerSecond;
    progress_ = server::BackfillProgress{.done = static_cast<uint64_t>(before_s + p.done_seconds),
                                         .total = static_cast<uint64_t>(before_s + p.total_seconds),
                                         .sentence = SentenceOf(what == What::kGap, p),
                                         .running = true,
                                         .error = ""};
  };
  sink.should_stop = options_.should_stop;
  return (*history)->Read(from, now, sink);
}

void BackfillRun::Wait(std::chrono::seconds pause) {
  if (!ticked_.has_value()) return options_.wait(pause);
  for (std::chrono::seconds waited{0}; waited < pause && !options_.should_stop(); ++waited) {
    (void)options_.tick(*ticked_);  // the next read says what is wrong with the store
    options_.wait(std::chrono::seconds(1));
  }
}

absl::Status BackfillRun::ReadUntilDone(What what) {
  const Options::Patience& patience = what == What::kGap ? options_.gap_patience : options_.patience;
  std::chrono::seconds pause = patience.first_pause, waited{0};
  std::optional<WindowId> through = control_.status().stored_through();
  while (true) {
    absl::Status read = ReadOn(what, options_.now());
    const bool is_unreachable = absl::IsUnavailable(read) || absl::IsDeadlineExceeded(read);
    if (!is_unreachable || options_.should_stop()) return read;
    if (control_.status().stored_through() != through) {
      through = control_.status().stored_through();
      pause = patience.first_pause;
      waited = std::chrono::seconds(0);
    }
    if (waited >= patience.total) return read;
    Note(Message(read), true);
    spdlog::warn("backfill: {}; retrying in {} s", Message(read), pause.count());
    Wait(pause);
    waited += pause;
    pause = std::min(2 * pause, patience.longest_pause);
  }
}

bool BackfillRun::HandOver(Timestamp begun, std::string& rest) {
  rest = "only the history read before is known";
  const std::optional<WindowId> last = control_.status().stored_through();
  if (!options_.read_later) return true;
  // Without any window there are no jobs yet: all will be later ones, whose history is read when they appear.
  if (!last.has_value()) {
    rest = "the history of jobs is read after they appear";
    return true;
  }
  // Samples of the present were accepted from then on; of the window of then a part, which is read with it.
  const server::SilentSpan missing{last->next(), WindowId::Of(begun)};
  if (!(missing.from < missing.to)) return true;
  const absl::Status s = options_.read_later(missing);
  rest = s.ok() ? StrCat("the last ",
                         FormatDuration(int64_t{missing.to.index - missing.from.index} * kWindowSeconds),
                         " before the start are read later")
                : StrCat("the rest is lost by a restart (", Message(s), ")");
  return s.ok();
}

void BackfillRun::ForgetError() {
  const std::lock_guard lock(mutex_);
  if (progress_.has_value() && !progress_->running) progress_->error.clear();
}

absl::Status BackfillRun::Run() {
  const Timestamp now = options_.now();
  const std::optional<What> what = Missing(now);
  if (!what.has_value()) return absl::OkStatus();
  const Timestamp begin = Begin(now);
  // Of a gap, what is before the last stored window is known.
  if (what == What::kGap) ticked_ = begin;
  server::HistoryProgress none;
  none.total_seconds = (now.us - begin.us) / kMicrosPerSecond;
  {
    const std::lock_guard lock(mutex_);
    progress_ = server::BackfillProgress{.done = 0,
                                         .total = static_cast<uint64_t>(none.total_seconds),
                                         .sentence = SentenceOf(*what == What::kGap, none),
                                         .running = true,
                                         .error = ""};
  }
  if (absl::Status s = Mark(*what); !s.ok())
    spdlog::warn("backfill cannot be resumed after a restart: {}", Message(s));
  if (*what == What::kGap) {
    spdlog::info("backfill: nothing is stored of the last {}; reading it from {}",
                 FormatDuration(none.total_seconds - kWindowSeconds), options_.config.prometheus_url);
  } else {
    spdlog::info("backfill: {} days from {}{}", options_.config.days, options_.config.prometheus_url,
                 *what == What::kFirst ? "" : ", resumed");
  }
  const absl::Status read = ReadUntilDone(*what);
  if (options_.should_stop()) return absl::CancelledError("stopped before backfill was complete");
  // What comes now is of the present: the time before it is closed.
  std::string rest;
  if ((read.ok() || HandOver(now, rest)) && !options_.mark_file.empty()) {
    std::error_code ignored;
    std::filesystem::remove(options_.mark_file, ignored);
  }
  if (read.ok() && *what != What::kGap) {
    // Else these jobs are asked for once more, which changes nothing.
    if (absl::Status s = control_.pasts().SettlePasts(); !s.ok()) spdlog::warn("backfill: {}", Message(s));
  }
  Note(read.ok() ? std::string_view() : Message(read), false);
  const std::optional<server::BackfillProgress> end = progress();
  if (read.ok()) {
    spdlog::info("backfill: {}, {} jobs", end->sentence, control_.view()->jobs.size());
  } else {
    spdlog::error("backfill failed; {}: {}", rest, Message(read));
  }
  return read;
}

}  // namespace taut::tools
