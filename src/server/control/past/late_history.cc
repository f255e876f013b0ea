#include "server/control/past/late_history.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/ingest/oom_watch.h"

namespace taut::server {
namespace {

constexpr std::chrono::seconds kLongestWait{1};
// Timeout of a request. A stop waits for the current request, so a read that takes longer is split into several
// requests.
constexpr std::chrono::seconds kLongestRequest{10};
// Limits of one batch, because the days of all its series stay in memory until they are stored.
constexpr size_t kJobsAtOnce = 128;
constexpr uint64_t kSeriesAtOnce = 2000;
// Greatest number of jobs found by one read of the server's index; the next read finds the other jobs.
constexpr size_t kFoundAtOnce = 5000;
// Part of a gap that is read at once, for all jobs of the cell.
constexpr int32_t kWindowsOfGapAtOnce = 2 * kWindowsPerHour;
// Number of jobs in one transaction; a tick waits for this transaction for some milliseconds.
constexpr size_t kStoredAtOnce = 16;
constexpr size_t kSettledAtOnce = 2000;

// Greatest number of reads of the server's index per pass.
constexpr int32_t kMostGroups = 24;
// Number of windows before a job's first window that may contain the job's first samples, because remote
// write is some minutes late.
constexpr int32_t kUnclearWindows = 3;

// Historical kills are not read: a limit that was raised after such a kill would have been lowered again by
// now.
std::vector<MappingRule> WithoutKills(std::vector<MappingRule> rules) {
  std::erase_if(rules, [](const MappingRule& rule) {
    return rule.kind == SeriesKind::kOomTotal || OomWatch::IsFor(rule.kind);
  });
  return rules;
}

MappingRules Compiled(const std::vector<MappingRule>& rules) {
  // These rules were compiled before, as part of all rules, so the compilation does not fail.
  absl::StatusOr<MappingRules> mapping = MappingRules::Compile(rules);
  return mapping.ok() ? *std::move(mapping) : *MappingRules::Compile({});
}

// Returns true for an error that concerns only these jobs: the server is reachable but refuses the amount of data
// of these jobs. Other jobs may have less data.
bool IsOfThese(const absl::Status& s) {
  return absl::IsFailedPrecondition(s) || absl::IsResourceExhausted(s);
}

// Groups jobs that appeared within an hour, or within a larger span if the jobs waited longer. Each group is
// sorted by name.
std::vector<std::vector<LateJob>> GroupsOf(std::vector<LateJob> jobs) {
  std::ranges::stable_sort(jobs, {}, &LateJob::until);
  const int32_t all = jobs.back().until.index - jobs.front().until.index;
  const int32_t span = std::max(kWindowsPerHour, all / kMostGroups);
  std::vector<std::vector<LateJob>> groups;
  for (LateJob& job : jobs) {
    if (groups.empty() || job.until.index - groups.back().front().until.index > span) groups.emplace_back();
    groups.back().push_back(std::move(job));  // groups and their jobs are still ordered by time
  }
  for (std::vector<LateJob>& group : groups) std::ranges::sort(group, {}, &LateJob::name);
  return groups;
}

}  // namespace

LateHistory::LateHistory(Options options, BackfillComponent& backfill, const DaemonContext& context)
    : options_(std::move(options)),
      backfill_(backfill),
      context_(context),
      kept_gaps_("gaps", "the gaps that are not read yet", context),
      mapping_(Compiled(WithoutKills(options_.rules))) {
  LoadGaps();
}

std::optional<LateHistory::Options> LateHistory::OptionsOf(const DaemonConfig& config) {
  const BackfillConfig& backfill = config.backfill;
  if (backfill.prometheus_url.empty() || backfill.later_jobs_s <= 0 || config.clock != ClockSource::kWall)
    return std::nullopt;
  Options options;
  options.config = backfill;
  options.rules = MappingRulesOf(config.ingest);
  options.ingest = config.ingest.options;
  options.settle = std::min(options.settle, std::chrono::seconds(backfill.later_jobs_s));
  return options;
}

std::span<const std::string_view> LateHistory::after() const {
  static constexpr std::string_view kAfter[] = {"backfill"};
  return kAfter;
}

void LateHistory::Stop() {
  if (thread_.joinable()) thread_.join();
}

absl::Status LateHistory::Start() {
  thread_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

void LateHistory::Collect(MetricsText& out) const {
  const LateProgress late = progress();
  const std::pair<std::string_view, uint64_t> states[] = {
      {"waiting", late.waiting}, {"read", late.read}, {"nothing", late.nothing}, {"failed", late.failed}};
  for (const auto& [state, jobs] : states) {
    out.Gauge("tautd_late_jobs", "Jobs by the state of their history request (backfill).",
              static_cast<double>(jobs), {{"state", state}});
  }
}

LateProgress LateHistory::progress() const {
  const LateJobCounts counts = context_.control->pasts().counts(Earliest(context_.now()));
  const std::lock_guard lock(mutex_);
  LateProgress progress{.read = counts.read, .nothing = counts.nothing, .error = error_};
  progress.failed = std::min<uint64_t>(failed_.size(), counts.waiting);
  progress.waiting = counts.waiting - progress.failed;
  return progress;
}

Timestamp LateHistory::Earliest(Timestamp now) const { return EarliestOf(options_.config, now); }

void LateHistory::Loop() {
  const auto pause = [&](std::chrono::seconds left) {
    for (; left.count() > 0 && !context_.stopping(); left -= kLongestWait) context_.wait(kLongestWait);
  };
  while (!backfill_.ended() && !context_.stopping()) pause(kLongestWait);
  pause(options_.settle);
  while (!context_.stopping()) {
    Pass();
    std::chrono::seconds left(options_.config.later_jobs_s);
    for (; left.count() > 0 && !context_.stopping(); left -= kLongestWait) {
      if (NoteGaps()) ReadGaps();
      pause(kLongestWait);
    }
  }
}

absl::Status LateHistory::AddGap(SilentSpan gap) {
  gaps_.push_back(gap);
  return SaveGaps();
}

bool LateHistory::NoteGaps() {
  const std::vector<SilentSpan> fresh = context_.control->ingest().time.TakeGaps();
  for (const SilentSpan& gap : fresh) {
    gaps_.push_back(gap);
    context_.log->Info(StrCat("backfill: no samples were received for ",
                              FormatDuration(int64_t{gap.to.index - gap.from.index} * kWindowSeconds),
                              "; reading that time from ", options_.config.prometheus_url));
  }
  if (!fresh.empty()) SaveGapsOrWarn();
  const Timestamp now = context_.now();
  return !gaps_.empty() && gap_retry_ <= now &&
         gaps_.front().to.start_s() <= now.seconds() - options_.settle.count();
}

void LateHistory::ReadGaps() {
  while (!gaps_.empty() && !context_.stopping()) {
    SilentSpan& gap = gaps_.front();
    const absl::Status read = ReadGap(gap);
    history_.reset();
    if (context_.stopping()) return;
    if (!read.ok()) {
      const int64_t retry_s = options_.config.later_jobs_s;
      gap_retry_ = Timestamp{context_.now().us + retry_s * kMicrosPerSecond};
      context_.log->Warn(StrCat("backfill: the time without samples cannot be read, retrying in ",
                                FormatDuration(retry_s), ": ", Message(read)));
      return;
    }
    context_.log->Info("backfill: the time without samples was read");
    gaps_.erase(gaps_.begin());
    SaveGapsOrWarn();
  }
  CaughtUp();
}

void LateHistory::CaughtUp() const {
  if (gaps_.empty() && error_.empty()) backfill_.ForgetError();
}

absl::Status LateHistory::ReadGap(SilentSpan& gap) {
  gap.from = std::max(gap.from, WindowId::Of(Earliest(context_.now())));
  if (!(gap.from < gap.to)) return absl::OkStatus();
  if (absl::Status s = Begin(); !s.ok()) return s;
  const Timestamp to = Timestamp::FromSeconds(gap.to.next().start_s());
  PastFacts facts(to);
  if (absl::Status s = ReadFacts(Timestamp::FromSeconds(gap.from.start_s()), to, facts); !s.ok()) return s;
  while (gap.from < gap.to) {
    const WindowId end = std::min(gap.to, WindowId{gap.from.index + kWindowsOfGapAtOnce});
    if (absl::Status s = ReadPartOfGap({gap.from, end}, facts); !s.ok()) return s;
    gap.from = end;
    SaveGapsOrWarn();
  }
  return absl::OkStatus();
}

absl::Status LateHistory::ReadPartOfGap(const SilentSpan& part, const PastFacts& facts) {
  // The windows at both ends of the part may be incomplete, so they are read as well.
  const WindowId until = part.to.next();
  PastFold fold(mapping_, options_.ingest, part.from, context_.control->pasts().AllJobs(until));
  if (absl::Status s = fold.TakeFacts(facts); !s.ok()) return s;
  history_->Select(usage_);
  const int64_t grace_s = options_.ingest.windows.grace_seconds;
  // Include the window before the part, because the first rates of counters need its samples.
  const Timestamp from = Timestamp::FromSeconds(part.from.start_s() - kWindowSeconds);
  const Timestamp to = std::min(Timestamp::FromSeconds(until.start_s() + grace_s), context_.now());
  if (absl::Status s = ReadSpan(from, to, fold); !s.ok()) return s;
  fold.CloseUntil(Timestamp::FromSeconds(until.next().start_s() + grace_s));
  std::vector<JobPast> pasts = fold.TakePasts();
  std::erase_if(pasts, [](const JobPast& past) { return past.days.empty(); });
  // Sorted by number, so that each checkpoint is written once.
  const auto chunk_of = [](const JobPast& past) { return past.job.value / brain::LiveFleet::kChunkJobs; };
  std::vector<JobPast> chunk;
  for (JobPast& past : pasts) {
    past.state.reset();
    if (!chunk.empty() && chunk_of(chunk.back()) != chunk_of(past)) {
      if (absl::Status s = Settle(std::exchange(chunk, {})); !s.ok()) return s;
    }
    chunk.push_back(std::move(past));
  }
  return Settle(std::move(chunk));
}

void LateHistory::LoadGaps() {
  const absl::StatusOr<std::optional<std::string>> kept = kept_gaps_.Read();
  if (!kept.ok()) context_.log->Warn(StrCat("the gaps that are not read yet: ", Message(kept.status())));
  if (!kept.ok() || !kept->has_value()) return;
  std::istringstream numbers(**kept);
  for (SilentSpan gap; numbers >> gap.from.index >> gap.to.index;) gaps_.push_back(gap);
}

absl::Status LateHistory::SaveGaps() {
  std::string text;
  for (const SilentSpan& gap : gaps_) StrAppend(&text, gap.from.index, " ", gap.to.index, "\n");
  return kept_gaps_.Write(text);
}

void LateHistory::SaveGapsOrWarn() {
  if (absl::Status s = SaveGaps(); !s.ok()) context_.log->Warn(Message(s));
}

void LateHistory::Pass() {
  Timestamp now = context_.now();
  const Timestamp settled{now.us - options_.settle.count() * kMicrosPerSecond};
  const std::vector<LateJob> jobs = context_.control->pasts().LateJobs(Earliest(now), settled);
  if (jobs.empty()) return;
  absl::Status read = ReadPast(jobs, now);
  history_.reset();
  if (context_.stopping()) return;
  std::set<JobId> failed;
  if (!read.ok()) {
    for (const LateJob& job : context_.control->pasts().LateJobs(Earliest(now), settled))
      failed.insert(job.id);
  }
  const LateJobCounts counts = context_.control->pasts().counts(Earliest(now));
  if (read.ok()) {
    context_.log->Info(StrCat("history of jobs that appeared later: requested for ", jobs.size(),
                              " jobs; of the known jobs, ", counts.read, " have one, ", counts.nothing,
                              " none"));
  } else {
    context_.log->Warn(StrCat("history of jobs that appeared later: ", failed.size(), " of ", jobs.size(),
                              " jobs failed; retrying in ", FormatDuration(options_.config.later_jobs_s),
                              ": ", Message(read)));
  }
  {
    const std::lock_guard lock(mutex_);
    failed_ = std::move(failed);
    error_ = Message(read);
  }
  CaughtUp();
}

absl::Status LateHistory::Begin() {
  HistoryOptions paced;
  paced.sleep = context_.wait;
  auto history = OpenHistory(options_.config, WithoutKills(options_.rules), paced, kLongestRequest);
  if (!history.ok()) return history.status();
  history_ = *std::move(history);
  absl::StatusOr<AddedLabels> added = AddedLabels::Of(options_.config);
  if (!added.ok()) return added.status();
  added_ = *std::move(added);
  facts_.clear();
  usage_.clear();
  for (HistorySelector& s : history_->selectors()) (s.facts ? facts_ : usage_).push_back(std::move(s));
  return absl::OkStatus();
}

absl::Status LateHistory::ReadPast(const std::vector<LateJob>& jobs, Timestamp now) {
  if (absl::Status s = Begin(); !s.ok()) return s;
  // Samples are not later than the server's clock.
  if (const auto server = history_->ServerTime(); server.ok()) now = std::min(now, *server);
  const Timestamp from = Timestamp::FromSeconds(WindowId::Of(Earliest(now)).next().start_s());
  WindowId until = WindowId::Of(from);
  for (const LateJob& job : jobs) until = std::max(until, job.until);
  const Timestamp to = Timestamp::FromSeconds(until.start_s());
  PastFacts facts(to);
  if (absl::Status s = ReadFacts(from, to, facts); !s.ok()) return s;

  absl::Status first_error;
  for (std::vector<LateJob>& group : GroupsOf(jobs)) {
    const absl::Status s = ReadGroup(std::move(group), facts, from);
    if (!s.ok() && !IsOfThese(s)) return s;
    if (first_error.ok()) first_error = s;
  }
  return first_error;
}

absl::Status LateHistory::ReadGroup(std::vector<LateJob> jobs, const PastFacts& facts, Timestamp from) {
  WindowId first = jobs.front().until;
  for (const LateJob& job : jobs) first = std::min(first, job.until);
  // Newer series may be the series by which the jobs were first seen.
  const Timestamp to = Timestamp::FromSeconds(WindowId{first.index - kUnclearWindows}.start_s());
  absl::Status first_error;
  while (!jobs.empty()) {
    std::vector<Found> found;
    if (absl::Status s = FindJobs(jobs, facts, from, to, found); !s.ok()) return s;
    const absl::Status s = ReadFound(found, facts, from);
    if (!s.ok() && !IsOfThese(s)) return s;
    if (first_error.ok()) first_error = s;
    if (found.size() < kFoundAtOnce) break;
    const JobId last = found.back().job.id;
    jobs.erase(jobs.begin(), std::next(std::ranges::find(jobs, last, &LateJob::id)));
  }
  return first_error;
}

absl::Status LateHistory::ReadFound(std::span<const Found> found, const PastFacts& facts, Timestamp from) {
  absl::Status first_error;
  for (size_t begin = 0; begin < found.size();) {
    size_t end = begin;
    for (uint64_t series = 0; end < found.size() && end - begin < kJobsAtOnce; ++end) {
      series += found[end].series.series();
      if (end > begin && series > kSeriesAtOnce) break;
    }
    const absl::Status s = ReadBatch(found.subspan(begin, end - begin), facts, from);
    if (!s.ok() && !IsOfThese(s)) return s;
    if (first_error.ok()) first_error = s;
    begin = end;
  }
  return first_error;
}

absl::Status LateHistory::ReadFacts(Timestamp from, Timestamp to, PastFacts& facts) {
  absl::Status s = history_->ReadSeries(facts_, from, to, context_.stopping, [&](auto labels) {
    facts.Add(added_.AddTo(labels));
    return absl::OkStatus();
  });
  facts.Finish();
  return s;
}

absl::Status LateHistory::FindJobs(const std::vector<LateJob>& jobs, const PastFacts& facts, Timestamp from,
                                   Timestamp to, std::vector<Found>& found) {
  PastFold fold(mapping_, options_.ingest, WindowId::Of(from), jobs);
  if (absl::Status s = fold.TakeFacts(facts); !s.ok()) return s;
  std::map<std::string_view, SeriesSelection> by_name;  // series by the name of the job
  absl::Status s = history_->ReadSeries(usage_, from, to, context_.stopping, [&](auto labels) {
    const LateJob* job = fold.WantedBy(added_.AddTo(labels));
    if (job == nullptr) return absl::OkStatus();
    by_name[job->name].Add(labels);
    // Keeps the first jobs by name; the next read finds the other jobs.
    if (by_name.size() > kFoundAtOnce) by_name.erase(std::prev(by_name.end()));
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  const bool is_full = by_name.size() == kFoundAtOnce;
  std::vector<JobPast> nothing;
  for (const LateJob& job : jobs) {
    if (const auto at = by_name.find(job.name); at != by_name.end()) {
      found.push_back({job, std::move(at->second)});
    } else if (!is_full || job.name < by_name.rbegin()->first) {
      nothing.push_back({job.id, PastState::kNothing, {}});
    }
    if (nothing.size() == kSettledAtOnce) {
      if (absl::Status stored = Settle(std::exchange(nothing, {})); !stored.ok()) return stored;
    }
  }
  return Settle(std::move(nothing));
}

absl::Status LateHistory::Settle(std::vector<JobPast> pasts) {
  return pasts.empty() ? absl::OkStatus() : context_.control->pasts().AddPasts(std::move(pasts));
}

absl::Status LateHistory::ReadBatch(std::span<const Found> batch, const PastFacts& facts, Timestamp from) {
  std::vector<LateJob> jobs;
  SeriesSelection series;
  WindowId until = WindowId::Of(from);
  for (const Found& f : batch) {
    jobs.push_back(f.job);
    series.Add(f.series);
    until = std::max(until, f.job.until);
  }
  history_->Select(series.Narrow(usage_));
  PastFold fold(mapping_, options_.ingest, WindowId::Of(from), jobs);
  if (absl::Status s = fold.TakeFacts(facts); !s.ok()) return s;
  // Reads beyond the last window by the grace period, so that the window is as complete as a live window.
  const int64_t grace_s = options_.ingest.windows.grace_seconds;
  const Timestamp to = std::min(Timestamp::FromSeconds(until.start_s() + grace_s), context_.now());
  for (Timestamp at = from; at < to;) {
    const Timestamp next =
        std::min(to, Timestamp::FromSeconds((FloorDiv(at.seconds(), kDaySeconds) + 1) * kDaySeconds));
    if (absl::Status s = ReadDay(at, next, fold); !s.ok()) return s;
    at = next;
  }
  fold.CloseUntil(Timestamp::FromSeconds(until.next().start_s() + grace_s));
  std::vector<JobPast> pasts = fold.TakePasts();
  for (size_t begin = 0; begin < pasts.size(); begin += kStoredAtOnce) {
    const auto first = pasts.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        pasts.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kStoredAtOnce, pasts.size()));
    if (absl::Status s = Settle({std::move_iterator(first), std::move_iterator(last)}); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LateHistory::ReadDay(Timestamp from, Timestamp to, PastFold& fold) {
  bool any = false;
  const absl::Status looked =
      history_->ReadSeries(history_->selectors(), from, to, context_.stopping, [&](auto) {
        any = true;
        return absl::OkStatus();
      });
  if (!looked.ok() || !any) return looked;
  return ReadSpan(from, to, fold);
}

absl::Status LateHistory::ReadSpan(Timestamp from, Timestamp to, PastFold& fold) {
  Timestamp chunk_end;
  HistorySink sink;
  sink.should_stop = context_.stopping;
  sink.on_chunk_begin = [&](Timestamp end) { chunk_end = end; };
  sink.on_series = [&](std::span<const LabelView> labels, std::span<const RemoteSample> samples) {
    fold.Take(added_.AddTo(labels), samples, chunk_end);
    return absl::OkStatus();
  };
  sink.on_chunk_done = [&](Timestamp watermark) {
    fold.CloseUntil(watermark);
    return absl::OkStatus();
  };
  return history_->Read(from, to, sink);
}

}  // namespace taut::server
