#include "server/control/past/backfill_component.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/control/past/backfill_source.h"

namespace taut::server {
namespace {

// Time in addition to the length of an open window. A shorter gap needs no backfill, because senders that retry
// resend its samples.
constexpr std::chrono::seconds kShortGap{60};
constexpr std::string_view kGapMark = "Gap: ";

std::string SentenceOf(bool is_gap, const HistoryProgress& progress) {
  return StrCat(is_gap ? "a gap, " : "", progress.Sentence());
}

}  // namespace

BackfillComponent::BackfillComponent(Options options, const DaemonContext& context)
    : options_(std::move(options)),
      context_(context),
      mark_("backfill", "the mark of an open backfill", context) {}

BackfillComponent::Options BackfillComponent::OptionsOf(const DaemonConfig& config) {
  Options options;
  options.config = config.backfill;
  options.rules = MappingRulesOf(config.ingest);
  const std::chrono::seconds open(kWindowSeconds + config.ingest.options.windows.grace_seconds);
  options.open = open + kShortGap;
  if (config.clock == ClockSource::kWall) options.gap = open + kShortGap;
  return options;
}

std::optional<BackfillProgress> BackfillComponent::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void BackfillComponent::Note(std::string_view error, bool running) {
  const std::lock_guard lock(mutex_);
  if (!progress_.has_value()) progress_.emplace();
  progress_->error = error;
  progress_->running = running;
}

absl::Status BackfillComponent::Mark(What what) {
  return mark_.Write(StrCat(what == What::kGap ? kGapMark : "",
                            "Backfill is not complete: tautd resumes it at its next start.\n"));
}

std::optional<BackfillComponent::What> BackfillComponent::Missing(Timestamp now) const {
  const std::optional<WindowId> last = context_.control->status().stored_through();
  if (options_.config.prometheus_url.empty()) return std::nullopt;
  if (!last.has_value()) return What::kFirst;
  const absl::StatusOr<std::optional<std::string>> mark = mark_.Read();
  // A backfill has begun even if its mark cannot be read.
  if (!mark.ok() || mark->has_value())
    return mark.ok() && (*mark)->starts_with(kGapMark) ? What::kGap : What::kInterrupted;
  if (!options_.gap.has_value()) return std::nullopt;
  const int64_t missed_s = now.seconds() - last->next().start_s();
  return missed_s > options_.gap->count() ? std::optional(What::kGap) : std::nullopt;
}

// Returns the start of the period to read: the start of the last stored window, but at most backfill.days ago.
Timestamp BackfillComponent::Begin(Timestamp now) const {
  const Timestamp from = EarliestOf(options_.config, now);
  const std::optional<WindowId> last = context_.control->status().stored_through();
  // Include the window before the gap, because the first rates of counters need its samples. Samples of stored
  // windows are dropped as too late.
  return last.has_value() ? std::max(from, Timestamp::FromSeconds(last->start_s())) : from;
}

absl::Status BackfillComponent::ReadOn(What what, Timestamp now) {
  HistoryOptions patient;
  patient.sleep = context_.wait;  // this function returns early when the daemon stops
  auto history = OpenHistory(options_.config, options_.rules, patient);
  if (!history.ok()) return history.status();
  // This machine's clock may be wrong after a stop. Samples are not later than the server's clock.
  if (const auto server = (*history)->ServerTime(); server.ok()) now = std::min(now, *server);
  const Timestamp from = Begin(now);
  if (!begin_.has_value()) begin_ = from;
  // Windows that are open at the end need samples of the present to close. Without the log, a stop would lose the
  // samples that were read for these windows.
  const Timestamp keep_from{now.us - options_.open.count() * kMicrosPerSecond};
  absl::StatusOr<AddedLabels> added = AddedLabels::Of(options_.config);
  if (!added.ok()) return added.status();
  Timestamp chunk_end;
  HistorySink sink;
  sink.on_chunk_begin = [&](Timestamp end) { chunk_end = end; };
  sink.on_series = [&](std::span<const LabelView> labels, std::span<const RemoteSample> samples) {
    context_.control->ingest().samples.Take(added->AddTo(labels), samples, chunk_end, keep_from);
    return absl::OkStatus();
  };
  sink.on_chunk_done = [&](Timestamp watermark) {
    ticked_ = watermark;
    return options_.tick(watermark);
  };
  sink.on_progress = [&](const HistoryProgress& p) {
    const std::lock_guard lock(mutex_);
    const int64_t before_s = (from.us - begin_->us) / kMicrosPerSecond;
    progress_ = BackfillProgress{.done = static_cast<uint64_t>(before_s + p.done_seconds),
                                 .total = static_cast<uint64_t>(before_s + p.total_seconds),
                                 .sentence = SentenceOf(what == What::kGap, p),
                                 .running = true,
                                 .error = ""};
  };
  sink.should_stop = context_.stopping;
  return (*history)->Read(from, now, sink);
}

void BackfillComponent::Wait(std::chrono::seconds pause) {
  if (!ticked_.has_value()) return context_.wait(pause);
  for (std::chrono::seconds waited{0}; waited < pause && !context_.stopping(); ++waited) {
    (void)options_.tick(*ticked_);  // the next read reports an error of the store
    context_.wait(std::chrono::seconds(1));
  }
}

absl::Status BackfillComponent::ReadUntilDone(What what) {
  const Options::Patience& patience = what == What::kGap ? options_.gap_patience : options_.patience;
  std::chrono::seconds pause = patience.first_pause, waited{0};
  std::optional<WindowId> through = context_.control->status().stored_through();
  while (true) {
    absl::Status read = ReadOn(what, context_.now());
    const bool is_unreachable = absl::IsUnavailable(read) || absl::IsDeadlineExceeded(read);
    if (!is_unreachable || context_.stopping()) return read;
    if (context_.control->status().stored_through() != through) {
      through = context_.control->status().stored_through();
      pause = patience.first_pause;
      waited = std::chrono::seconds(0);
    }
    if (waited >= patience.total) return read;
    Note(Message(read), true);
    context_.log->Warn(StrCat("backfill: ", Message(read), "; retrying in ", pause.count(), " s"));
    Wait(pause);
    waited += pause;
    pause = std::min(2 * pause, patience.longest_pause);
  }
}

bool BackfillComponent::HandOver(Timestamp begun, std::string& rest) {
  rest = "only the history read before is known";
  const std::optional<WindowId> last = context_.control->status().stored_through();
  if (!read_later_) return true;
  // Without any window there are no jobs yet. Each job will be a late job, whose history is read when it
  // appears.
  if (!last.has_value()) {
    rest = "the history of jobs is read after they appear";
    return true;
  }
  // Live samples were accepted from `begun` on. The window of `begun` has only a part of its samples, so it
  // is read as well.
  const SilentSpan missing{last->next(), WindowId::Of(begun)};
  if (!(missing.from < missing.to)) return true;
  const absl::Status s = read_later_(missing);
  rest = s.ok() ? StrCat("the last ",
                         FormatDuration(int64_t{missing.to.index - missing.from.index} * kWindowSeconds),
                         " before the start are read later")
                : StrCat("the rest is lost by a restart (", Message(s), ")");
  return s.ok();
}

void BackfillComponent::ForgetError() {
  const std::lock_guard lock(mutex_);
  if (progress_.has_value() && !progress_->running) progress_->error.clear();
}

absl::Status BackfillComponent::Run() {
  const absl::Status read = ReadAll();
  ended_ = true;
  return read;
}

void BackfillComponent::Collect(MetricsText& out) const {
  const std::optional<BackfillProgress> backfill = progress();
  if (!backfill.has_value()) return;
  out.Gauge("tautd_backfill_running", "1 while history is read from a Prometheus.",
            backfill->running ? 1 : 0);
  out.Gauge("tautd_backfill_failed", "1 if backfill failed or waits for a retry.",
            backfill->error.empty() ? 0 : 1);
  out.Gauge("tautd_backfill_done_seconds", "Seconds of history read so far.",
            static_cast<double>(backfill->done));
  out.Gauge("tautd_backfill_seconds", "Seconds of history to read.", static_cast<double>(backfill->total));
}

absl::Status BackfillComponent::ReadAll() {
  const Timestamp now = context_.now();
  const std::optional<What> what = Missing(now);
  if (!what.has_value()) return absl::OkStatus();
  const Timestamp begin = Begin(now);
  // Stored windows precede a gap, so ticks until the gap's start are safe during the first read.
  if (what == What::kGap) ticked_ = begin;
  HistoryProgress none;
  none.total_seconds = (now.us - begin.us) / kMicrosPerSecond;
  {
    const std::lock_guard lock(mutex_);
    progress_ = BackfillProgress{.done = 0,
                                 .total = static_cast<uint64_t>(none.total_seconds),
                                 .sentence = SentenceOf(*what == What::kGap, none),
                                 .running = true,
                                 .error = ""};
  }
  if (absl::Status s = Mark(*what); !s.ok())
    context_.log->Warn(StrCat("backfill cannot be resumed after a restart: ", Message(s)));
  if (*what == What::kGap) {
    context_.log->Info(StrCat("backfill: nothing is stored of the last ",
                              FormatDuration(none.total_seconds - kWindowSeconds), "; reading it from ",
                              options_.config.prometheus_url));
  } else {
    context_.log->Info(StrCat("backfill: ", options_.config.days, " days from ",
                              options_.config.prometheus_url, *what == What::kFirst ? "" : ", resumed"));
  }
  const absl::Status read = ReadUntilDone(*what);
  if (context_.stopping()) return absl::CancelledError("stopped before backfill was complete");
  // From now on, samples are of the present, and earlier windows are closed.
  std::string rest;
  if (read.ok() || HandOver(now, rest)) mark_.WriteOrLog("");
  if (read.ok() && *what != What::kGap) {
    // After an error, the history of these jobs is requested once more, which changes nothing.
    if (absl::Status s = context_.control->pasts().SettlePasts(); !s.ok())
      context_.log->Warn(StrCat("backfill: ", Message(s)));
  }
  Note(read.ok() ? std::string_view() : Message(read), false);
  const std::optional<BackfillProgress> end = progress();
  if (read.ok()) {
    context_.log->Info(
        StrCat("backfill: ", end->sentence, ", ", context_.control->view()->jobs.size(), " jobs"));
  } else {
    context_.log->Error(StrCat("backfill failed; ", rest, ": ", Message(read)));
  }
  return read;
}

}  // namespace taut::server
