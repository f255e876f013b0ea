#include "server/store/history_reader.h"

#include <algorithm>

#include "common/base/strings.h"
#include "server/store/account_block.h"
#include "server/store/records.h"
#include "server/store/schema.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

int64_t Limit(size_t limit) { return static_cast<int64_t>(std::min<size_t>(limit, INT64_MAX)); }
int64_t Id(uint64_t id) { return static_cast<int64_t>(std::min<uint64_t>(id, INT64_MAX)); }

Decision DecisionOf(const Rows& rows) {
  Decision d;
  d.id = static_cast<uint64_t>(rows.Int(0));
  d.job.value = static_cast<uint32_t>(rows.Int(1));
  d.target = Target::FromCode(rows.Int(2)).value_or(d.target);
  d.kind = static_cast<DecisionKind>(rows.Int(3));
  d.mode = static_cast<Mode>(rows.Int(4));
  d.time_s = rows.Int(5);
  d.before = rows.RealOrNull(6);
  d.after = rows.RealOrNull(7);
  d.outcome = static_cast<Outcome>(rows.Int(8));
  d.outcome_time_s = rows.Int(9);
  d.outcome_text = rows.Bytes(10);
  d.sentence = rows.Bytes(11);
  d.reason = rows.Bytes(12);
  return d;
}

// Returns the last entry of `days` if it has this day, else appends an entry.
JobDay& DayAtEnd(std::vector<JobDay>& days, JobId job, int32_t day) {
  if (days.empty() || days.back().day != day) {
    days.emplace_back();
    days.back().job = job;
    days.back().day = day;
  }
  return days.back();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HistoryReader>> HistoryReader::Open(const std::string& path,
                                                                   DamageLog* damage) {
  auto db = Database::Open(path, Database::Access::kRead);
  if (!db.ok()) return db.status();
  return std::unique_ptr<HistoryReader>(new HistoryReader(*std::move(db), damage));
}

absl::StatusOr<std::vector<JobDay>> HistoryReader::JobDays(JobId job, WindowId from, WindowId to) {
  // In one read transaction, a day that is being converted to day blocks is in exactly one of the two tables.
  const auto transaction = Transaction::Begin(*db_, Transaction::Kind::kRead);
  if (!transaction.ok()) return transaction.status();
  std::vector<WindowId> windows;
  {
    Rows rows = windows_.Query(from.index, to.index);
    absl::StatusOr<bool> any = rows.Next();
    for (; any.ok() && *any; any = rows.Next()) windows.push_back({static_cast<int32_t>(rows.Int(0))});
    if (!any.ok()) return any.status();
  }
  std::vector<JobDay> days;
  absl::Status status = ReadDays(job, windows, days);
  if (status.ok()) status = ReadBlocks(job, windows, days);
  if (!status.ok()) return status;
  std::erase_if(days, [](const JobDay& day) { return day.windows.empty(); });
  std::vector<JobDay> past;
  if (absl::Status s = ReadPast(job, from, to, past); !s.ok()) return s;
  return past.empty() ? days : MergedDays(std::move(days), std::move(past));
}

absl::Status HistoryReader::ReadPast(JobId job, WindowId from, WindowId to, std::vector<JobDay>& days) {
  if (!(from < to)) return absl::OkStatus();
  const auto day_of = [](Statement& statement) -> absl::StatusOr<std::optional<int32_t>> {
    Rows rows = statement.Query();
    const absl::StatusOr<bool> any = rows.Next();
    if (!any.ok()) return any.status();
    const auto key = rows.IntOrNull(0);
    return key ? std::optional(DayOfKey(*key)) : std::nullopt;
  };
  const auto first = day_of(first_past_);
  if (!first.ok()) return first.status();
  const auto last = day_of(last_past_);
  if (!last.ok()) return last.status();
  if (!first->has_value() || !last->has_value()) return absl::OkStatus();
  const int32_t end = std::min(**last, WindowId{to.index - 1}.day());
  for (int32_t day = std::max(**first, from.day()); day <= end; ++day) {
    if (absl::Status s = ReadDay(past_day_, job, day, from, to, days); !s.ok()) return s;
  }
  std::erase_if(days, [](const JobDay& day) { return day.windows.empty(); });
  return absl::OkStatus();
}

absl::Status HistoryReader::ReadDays(JobId job, const std::vector<WindowId>& windows,
                                     std::vector<JobDay>& days) {
  for (size_t i = 0; i < windows.size(); ++i) {
    const int32_t day = windows[i].day();
    if (i > 0 && windows[i - 1].day() == day) continue;
    absl::Status s = ReadDay(day_, job, day, windows.front(), windows.back().next(), days);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status HistoryReader::ReadDay(DayTable& table, JobId job, int32_t day, WindowId from, WindowId to,
                                    std::vector<JobDay>& days) {
  Rows rows = table.block.Query(DayKey(day, job.value));
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok() || !*any) return any.status();
  const absl::Status decoded = DecodeDayBlock(rows.Bytes(0), job, day, from, to, DayAtEnd(days, job, day));
  if (decoded.ok()) return absl::OkStatus();
  days.pop_back();
  damage_->Add(StrCat(table.what, " ", day, ", job ", job.value, ": ", Message(decoded)));
  return absl::OkStatus();
}

absl::Status HistoryReader::ReadBlocks(JobId job, const std::vector<WindowId>& windows,
                                       std::vector<JobDay>& days) {
  WindowId first;
  {
    Rows rows = first_block_.Query();
    const absl::StatusOr<bool> any = rows.Next();
    if (!any.ok()) return any.status();
    const auto key = rows.IntOrNull(0);
    if (!key) return absl::OkStatus();
    first.index = WindowOfKey(*key);
  }
  for (auto at = std::ranges::lower_bound(windows, first); at != windows.end(); ++at) {
    Rows rows = block_.Query(WindowKey(at->index, ChunkOf(job)));
    const absl::StatusOr<bool> any = rows.Next();
    if (!any.ok()) return any.status();
    if (!*any) continue;
    const absl::StatusOr<bool> found =
        FindInWindowBlock(rows.Bytes(0), *at, job, DayAtEnd(days, job, at->day()));
    if (!found.ok()) {
      damage_->Add(StrCat("window ", at->index, ", jobs from ", ChunkOf(job) * kJobsPerChunk, ": ",
                          Message(found.status())));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Decision>> HistoryReader::Decisions(const DecisionQuery& query, Reasons reasons) {
  std::string sql = StrCat(
      "SELECT id, job, resource, kind, mode, time_s, before, after, outcome, outcome_time_s, outcome_text, "
      "sentence, reason, sum FROM decisions WHERE id < ",
      Id(query.before_id), " AND id > ", Id(query.after_id));
  if (query.job) StrAppend(&sql, " AND job = ", query.job->value);
  if (query.target) StrAppend(&sql, " AND resource = ", int{query.target->code()});
  if (query.kind) StrAppend(&sql, " AND kind = ", static_cast<int>(*query.kind));
  if (query.outcome) StrAppend(&sql, " AND outcome = ", static_cast<int>(*query.outcome));
  if (query.from_s != INT64_MIN) StrAppend(&sql, " AND time_s >= ", query.from_s);
  StrAppend(&sql, " ORDER BY id DESC LIMIT ", Limit(query.limit));
  Statement statement(db_, sql);
  std::vector<Decision> found;
  Rows rows = statement.Query();
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    Decision d = DecisionOf(rows);
    if (SumOf(d) != rows.Int(13) || static_cast<int>(d.outcome) >= kNumOutcomes) {
      damage_->Add(StrCat("decision ", d.id, ": checksum mismatch"));
      continue;
    }
    if (reasons == Reasons::kLeaveOut) d.reason.clear();
    found.push_back(std::move(d));
  }
  if (!any.ok()) return any.status();
  return found;
}

absl::StatusOr<std::vector<OomRecord>> HistoryReader::Ooms(std::optional<JobId> job, int64_t from_s,
                                                           size_t limit) {
  std::vector<OomRecord> found;
  Rows rows = job ? job_ooms_.Query(from_s, Limit(limit), job->value) : ooms_.Query(from_s, Limit(limit));
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    const OomRecord oom{JobId{static_cast<uint32_t>(rows.Int(1))},
                        static_cast<uint32_t>(rows.Int(2)),
                        rows.Int(0),
                        static_cast<uint64_t>(rows.Int(3)),
                        rows.RealOrNull(4),
                        rows.IntOrNull(7),
                        rows.IntOrNull(8),
                        static_cast<uint64_t>(rows.Int(6))};
    if (SumOf(oom) == rows.Int(5)) {
      found.push_back(oom);
    } else {
      damage_->Add(StrCat("OOM kill ", rows.Int(6), ": checksum mismatch"));
    }
  }
  if (!any.ok()) return any.status();
  return found;
}

absl::StatusOr<std::vector<TierAct>> HistoryReader::TierActs(const TierActQuery& query) {
  std::vector<TierAct> found;
  Rows rows = tier_acts_.Query(query.from_s, Limit(query.limit), query.job, query.machine);
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    TierAct act{.time_s = rows.Int(0),
                .at_us = rows.Int(1),
                .machine = std::string(rows.Bytes(2)),
                .job = std::string(rows.Bytes(3)),
                .task = std::string(rows.Bytes(4)),
                .tier = static_cast<Tier>(rows.Int(5)),
                .kind = static_cast<TierActKind>(rows.Int(6)),
                .observed = rows.Int(7) != 0,
                .usage = rows.RealOrNull(8),
                .request = rows.RealOrNull(9),
                .high = rows.RealOrNull(10),
                .free = rows.RealOrNull(11),
                .total = rows.RealOrNull(12),
                .some = rows.RealOrNull(13),
                .full = rows.RealOrNull(14),
                .text = std::string(rows.Bytes(15))};
    if (SumOf(act) == rows.Int(16) && static_cast<size_t>(act.tier) < kTiers &&
        static_cast<size_t>(act.kind) < kTierActKinds) {
      found.push_back(std::move(act));
    } else {
      damage_->Add(StrCat("tier act ", rows.Int(17), ": checksum mismatch"));
    }
  }
  if (!any.ok()) return any.status();
  return found;
}

std::optional<JobRecord> JobOf(const Rows& rows, DamageLog& damage) {
  JobRecord job;
  job.id.value = static_cast<uint32_t>(rows.Int(0));
  job.first_seen_s = rows.Int(1);
  job.name = rows.Bytes(2);
  absl::StatusOr<Labels> labels = DecodeLabels(rows.Bytes(3));
  if (labels.ok()) job.labels = *std::move(labels);
  absl::StatusOr<WorkloadParts> parts = DecodeParts(rows.Bytes(5));
  if (parts.ok()) job.parts = *std::move(parts);
  if (SumOf(job) == rows.Int(4)) {
    if (job.name.find(kGroupMark) != std::string::npos)
      job.parts = WorkloadParts::Of(WithGroupOfStoredName(job.workload()));
    return job;
  }
  damage.Add(StrCat("job ", job.id.value, " (", job.name, "): checksum mismatch"));
  return std::nullopt;
}

absl::StatusOr<JobRecord> HistoryReader::Job(JobId id) {
  Rows rows = job_.Query(id.value);
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  std::optional<JobRecord> job = *any ? JobOf(rows, *damage_) : std::nullopt;
  if (!job.has_value()) return absl::NotFoundError(StrCat("the store has no job ", id.value));
  return *std::move(job);
}

std::optional<SettingChange> SettingOf(const Rows& rows, DamageLog& damage) {
  SettingChange s;
  s.id = static_cast<uint64_t>(rows.Int(0));
  s.time_s = rows.Int(1);
  s.who = rows.Bytes(2);
  s.job = rows.Bytes(3);
  s.key = rows.Bytes(4);
  s.value = rows.Bytes(5);
  s.before = rows.Bytes(6);
  if (SumOf(s) == rows.Int(7)) return s;
  damage.Add(StrCat("setting ", s.id, ": checksum mismatch"));
  return std::nullopt;
}

absl::StatusOr<std::vector<SettingChange>> HistoryReader::Settings(std::optional<std::string> job,
                                                                   size_t limit) {
  std::vector<SettingChange> found;
  Rows rows = job ? job_settings_.Query(Limit(limit), *job) : settings_.Query(Limit(limit));
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    if (auto setting = SettingOf(rows, *damage_)) found.push_back(*std::move(setting));
  }
  if (!any.ok()) return any.status();
  return found;
}

absl::StatusOr<std::vector<FleetPoint>> HistoryReader::FleetPoints(WindowId from, WindowId to,
                                                                   int32_t stride) {
  if (stride < 1)
    return absl::InvalidArgumentError(StrCat("a stride of ", stride, " windows; expected 1 or more"));
  std::vector<FleetPoint> found;
  Rows rows = fleet_.Query(from.index, to.index, stride);
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    absl::StatusOr<FleetPoint> point = DecodeFleetPoint(rows.Bytes(0));
    if (point.ok()) {
      found.push_back(*std::move(point));
    } else {
      damage_->Add(StrCat("the fleet's figures of a window: ", Message(point.status())));
    }
  }
  if (!any.ok()) return any.status();
  return found;
}

absl::Status HistoryReader::ReadAccount(
    WindowId from, WindowId to,
    absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) {
  static_assert(kWindowsPerDay == 288 && kWindowsPerHour == 12);
  std::vector<AccountEntry> entries;
  // A single statement reads one state of the file, in which the account of each time is in exactly one of the
  // tables.
  Rows rows = account_.Query(WindowKey(from.index, 0), WindowKey(to.index, 0));
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    const AccountSpan span{WindowId{WindowOfKey(rows.Int(0))}, static_cast<int32_t>(rows.Int(2)),
                           rows.Int(3) != 0};
    const uint32_t chunk = ChunkOfKey(rows.Int(0));
    entries.clear();
    const absl::Status added = AddAccountBlock(rows.Bytes(1), span.first, chunk, entries);
    if (added.ok()) {
      yield(span, entries);
    } else {
      damage_->Add(StrCat("the account from window ", span.first.index, ", jobs from ",
                          chunk * kJobsPerAccountChunk, ": ", Message(added)));
    }
  }
  return any.ok() ? absl::OkStatus() : any.status();
}

}  // namespace taut::server
