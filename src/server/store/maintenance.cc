#include "server/store/maintenance.h"

#include <algorithm>
#include <map>

#include "common/base/strings.h"
#include "server/store/account_block.h"
#include "server/store/schema.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

// Limits of the work in one call, so that a call takes about 50 ms.
constexpr int64_t kMostRows = 500;
constexpr int64_t kMostDecisions = 2000;
constexpr int kMostChunksSummed = 128;
constexpr size_t kMostRegroupedBytes = size_t{3} << 19;

}  // namespace

absl::StatusOr<bool> Maintenance::Forget(WindowId now) {
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  if (keep_.windows_to_believe > 0) {
    Rows rows = newest_windows_.Query(keep_.windows_to_believe - 1);
    const absl::StatusOr<bool> any = rows.Next();
    if (!any.ok()) return any.status();
    if (!*any) return false;
    now = std::min(now, WindowId{static_cast<int32_t>(rows.Int(0))});
  }
  const int32_t first_day = FirstDayKept(keep_, now);
  const int64_t first_window = int64_t{first_day} * kWindowsPerDay;
  const int64_t first_s = FirstSecondKept(keep_, now);
  bool more = false;
  // Delete rows of `windows` first. Usage of a window without such a row is never read, so its blocks may remain
  // for a while.
  absl::Status status = forget_windows_.Run(first_window);
  const auto piece = [&](Statement& statement, int64_t before) {
    if (!status.ok() || more) return;
    status = statement.Run(before, kMostRows);
    more = db_->changes() >= kMostRows;
  };
  piece(forget_days_, DayKey(first_day, 0));
  piece(forget_past_, DayKey(first_day, 0));
  piece(forget_blocks_, WindowKey(first_window, 0));
  piece(forget_ooms_, first_s);
  piece(forget_tier_acts_, first_s);
  piece(forget_jobs_, first_s);
  piece(forget_account_, WindowKey(FloorDiv(first_s, kWindowSeconds), 0));
  piece(forget_late_account_, WindowKey(FloorDiv(first_s, kWindowSeconds), 0));
  if (status.ok()) status = forget_settings_.Run(first_s);
  if (status.ok()) status = forget_fleet_.Run(FloorDiv(first_s, kWindowSeconds));
  if (!status.ok()) return status;
  int64_t first_decision = 0, seen = 0;
  {
    Rows rows = old_decisions_.Query(kMostDecisions);
    absl::StatusOr<bool> any = rows.Next();
    for (; any.ok() && *any && rows.Int(1) < first_s; any = rows.Next()) {
      first_decision = rows.Int(0) + 1;
      ++seen;
    }
    if (!any.ok()) return any.status();
  }
  more = more || seen == kMostDecisions;
  if (seen > 0) status = forget_decisions_.Run(first_decision);
  if (status.ok()) status = (*transaction)->Commit();
  if (!status.ok()) return status;
  return more;
}

absl::StatusOr<bool> Maintenance::Regroup(std::optional<WindowId> last) {
  if (!last) return false;
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  bool more = false;
  for (size_t bytes = 0; bytes < kMostRegroupedBytes;) {
    std::optional<int64_t> first;
    {
      Rows rows = first_block_.Query();
      const absl::StatusOr<bool> any = rows.Next();
      if (!any.ok()) return any.status();
      first = rows.IntOrNull(0);
    }
    more = false;
    if (!first) break;
    const int32_t day = WindowId{WindowOfKey(*first)}.day();
    // A day is converted only after its end: windows ascend, so no window of the day can be stored later.
    if (last->index < (day + 1) * kWindowsPerDay - 1 + regroup_after_hours_ * kWindowsPerHour) break;
    const absl::StatusOr<size_t> done = RegroupChunk(day, ChunkOfKey(*first));
    if (!done.ok()) return done.status();
    bytes += *done;
    more = true;
  }
  const absl::Status status = (*transaction)->Commit();
  if (!status.ok()) return status;
  return more;
}

absl::StatusOr<size_t> Maintenance::RegroupChunk(int32_t day, uint32_t chunk) {
  std::map<JobId, JobDay> days;
  size_t bytes = 0;
  ClosedWindow closed;
  for (int32_t i = 0; i < kWindowsPerDay; ++i) {
    closed.window = WindowId{day * kWindowsPerDay + i};
    const int64_t key = WindowKey(closed.window.index, chunk);
    {
      Rows rows = read_block_.Query(key);
      const absl::StatusOr<bool> any = rows.Next();
      if (!any.ok()) return any.status();
      if (!*any) continue;
      bytes += rows.Bytes(0).size() + 1;
      closed.jobs.clear();
      closed.tasks.clear();
      closed.cpu_buckets.clear();
      closed.signals.clear();
      const absl::Status decoded = DecodeWindowBlock(rows.Bytes(0), closed.window, chunk, closed);
      if (!decoded.ok()) {
        damage_->Add(StrCat("window ", closed.window.index, ", jobs from ", chunk * kJobsPerChunk, ": ",
                            Message(decoded)));
      }
    }
    for (size_t j = 0; j < closed.jobs.size(); ++j) {
      JobDay& its = days[closed.jobs[j].job];
      its.job = closed.jobs[j].job;
      its.day = day;
      AppendWindow(closed, j, its);
    }
    const absl::Status dropped = drop_block_.Run(key);
    if (!dropped.ok()) return dropped;
  }
  for (const auto& [job, its] : days) {
    const std::string block = EncodeDayBlock(its);
    const absl::Status written = write_day_.Run(DayKey(day, job.value), Blob{block});
    if (!written.ok()) return written;
  }
  return bytes;
}

Maintenance::AccountLevel::AccountLevel(Database* db, const char* from, const char* to, int32_t its_step,
                                        int32_t its_span)
    : step(its_step),
      span(its_span),
      first(db, StrCat("SELECT min(key) FROM ", from)),
      read(db, StrCat("SELECT block FROM ", from, " WHERE key = ?1")),
      drop(db, StrCat("DELETE FROM ", from, " WHERE key = ?1")),
      write(db, StrCat("INSERT INTO ", to, " VALUES(?1, ?2)")) {}

absl::StatusOr<bool> Maintenance::SumUpAccount(std::optional<WindowId> last) {
  if (!last) return false;
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  bool more = false;
  for (AccountLevel& level : account_levels_) {
    for (int chunks = 0; !more; ++chunks) {
      std::optional<int64_t> key;
      {
        Rows rows = level.first.Query();
        const absl::StatusOr<bool> any = rows.Next();
        if (!any.ok()) return any.status();
        key = rows.IntOrNull(0);
      }
      if (!key) break;
      const int64_t first = FloorDiv(int64_t{WindowOfKey(*key)}, int64_t{level.span}) * level.span;
      if (last->index < first + level.span - 1) break;  // a window of this row may still arrive
      more = chunks == kMostChunksSummed;
      if (more) break;
      if (absl::Status s = SumUpChunk(level, first, ChunkOfKey(*key)); !s.ok()) return s;
    }
  }
  if (absl::Status s = (*transaction)->Commit(); !s.ok()) return s;
  return more;
}

absl::Status Maintenance::SumUpChunk(AccountLevel& level, int64_t first_window, uint32_t chunk) {
  std::vector<AccountEntry> sums;
  for (int64_t w = first_window; w < first_window + level.span; w += level.step) {
    const int64_t key = WindowKey(w, chunk);
    {
      Rows rows = level.read.Query(key);
      const absl::StatusOr<bool> any = rows.Next();
      if (!any.ok()) return any.status();
      if (!*any) continue;
      const absl::Status added =
          AddAccountBlock(rows.Bytes(0), WindowId{static_cast<int32_t>(w)}, chunk, sums);
      if (!added.ok()) {
        damage_->Add(StrCat("the account from window ", w, ", jobs from ", chunk * kJobsPerAccountChunk, ": ",
                            Message(added)));
      }
    }
    if (absl::Status s = level.drop.Run(key); !s.ok()) return s;
  }
  const std::string block = EncodeAccountBlock(sums, WindowId{static_cast<int32_t>(first_window)}, chunk);
  return level.write.Run(WindowKey(first_window, chunk), Blob{block});
}

}  // namespace taut::server
