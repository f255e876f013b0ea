#include "server/store/restorer.h"

#include <algorithm>
#include <limits>

#include "common/base/probe.h"
#include "common/base/strings.h"
#include "server/store/history_reader.h"
#include "server/store/records.h"
#include "server/store/schema.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

constexpr size_t kMostBytesAtATime = size_t{256} << 20;
// Highest assumed ratio of the size of usage in memory to its size in the store.
constexpr size_t kDecodedPerStored = 6;

}  // namespace

absl::Status Restorer::Restore(const RestoreSink& sink) {
  absl::Status status = Jobs(sink);
  if (status.ok()) status = Settings(sink);
  if (status.ok()) status = Checkpoints(sink);
  return status;
}

absl::Status Restorer::Jobs(const RestoreSink& sink) {
  Rows rows = jobs_.Query();
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    const std::optional<JobRecord> job = JobOf(rows, *damage_);
    if (!job.has_value()) continue;
    const absl::Status status = sink.on_job(*job);
    if (!status.ok()) return status;
  }
  return any.status();
}

absl::Status Restorer::ReadForgotten(int64_t from_s,
                                     absl::FunctionRef<void(const JobRecord&, int64_t)> yield) {
  Rows rows = forgotten_.Query(from_s);
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    const std::optional<JobRecord> job = JobOf(rows, *damage_);
    if (job.has_value()) yield(*job, rows.Int(6));
  }
  return any.status();
}

absl::Status Restorer::ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) {
  Rows rows = pasts_.Query();
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    yield(JobId{static_cast<uint32_t>(rows.Int(0))}, static_cast<PastState>(rows.Int(1)));
  }
  return any.status();
}

absl::Status Restorer::Settings(const RestoreSink& sink) {
  Rows rows = settings_.Query();
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    const std::optional<SettingChange> setting = SettingOf(rows, *damage_);
    if (!setting) continue;
    const absl::Status status = sink.on_setting(*setting);
    if (!status.ok()) return status;
  }
  return any.status();
}

absl::Status Restorer::Checkpoints(const RestoreSink& sink) {
  Rows rows = checkpoints_.Query();
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    absl::StatusOr<Checkpoint> checkpoint = DecodeStoredCheckpoint(rows.Bytes(1));
    if (checkpoint.ok() && checkpoint->chunk != rows.Int(0)) {
      TAUT_PROBE("a checkpoint stands under the key of another");
      checkpoint = absl::DataLossError("a checkpoint is stored under the wrong key");
    }
    if (!checkpoint.ok()) {
      damage_->Add(StrCat("checkpoint of chunk ", rows.Int(0), ": ", Message(checkpoint.status())));
      continue;
    }
    const absl::Status status = sink.on_checkpoint(*checkpoint);
    if (!status.ok()) return status;
  }
  return any.status();
}

absl::Status Restorer::ReadWindows(WindowId after,
                                   absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) {
  std::vector<WindowId> all;
  {
    Rows rows = windows_.Query(after.index);
    absl::StatusOr<bool> any = rows.Next();
    for (; any.ok() && *any; any = rows.Next()) all.push_back(WindowId{static_cast<int32_t>(rows.Int(0))});
    if (!any.ok()) return any.status();
  }
  for (size_t begin = 0; begin < all.size();) {
    const int32_t day = all[begin].day();
    const absl::StatusOr<size_t> most = WindowsAtATime(day);
    if (!most.ok()) return most.status();
    std::vector<ClosedWindow> windows;
    for (; begin < all.size() && all[begin].day() == day && windows.size() < *most; ++begin) {
      windows.emplace_back();
      windows.back().window = all[begin];
    }
    absl::Status status = AddRegrouped(day, windows);
    for (ClosedWindow& window : windows) {
      if (status.ok()) status = AddRaw(window);
      // While the chunks of a day are being converted, some jobs of the day are in day blocks and others in
      // window blocks.
      if (!std::ranges::is_sorted(window.jobs, {}, &JobWindowData::job)) {
        std::ranges::sort(window.jobs, {}, &JobWindowData::job);
      }
      if (status.ok()) status = yield(window);
      window = {};
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> Restorer::WindowsAtATime(int32_t day) {
  Rows rows = day_bytes_.Query(DayKey(day, 0), DayKey(int64_t{day} + 1, 0));
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  const size_t bytes = static_cast<size_t>(rows.Int(0)) * kDecodedPerStored;
  if (bytes == 0) return 1;
  return std::clamp<size_t>(kMostBytesAtATime / (bytes / kWindowsPerDay + 1), 1, kWindowsPerDay);
}

absl::Status Restorer::AddRegrouped(int32_t day, std::vector<ClosedWindow>& windows) {
  Rows rows = days_.Query(DayKey(day, 0), DayKey(int64_t{day} + 1, 0));
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    JobDay job_day;
    job_day.job = JobOfKey(rows.Int(0));
    const absl::Status decoded = DecodeDayBlock(rows.Bytes(1), job_day.job, day, windows.front().window,
                                                windows.back().window.next(), job_day);
    if (!decoded.ok()) {
      damage_->Add(StrCat("day ", day, ", job ", job_day.job.value, ": ", Message(decoded)));
      continue;
    }
    auto at = windows.begin();
    for (size_t i = 0; i < job_day.windows.size(); ++i) {
      while (at != windows.end() && at->window < job_day.windows[i].window) ++at;
      if (at != windows.end() && at->window == job_day.windows[i].window) AppendJob(job_day, i, *at);
    }
  }
  return any.status();
}

absl::Status Restorer::AddRaw(ClosedWindow& window) {
  const int64_t index = window.window.index;
  Rows rows = blocks_.Query(WindowKey(index, 0), WindowKey(index + 1, 0));
  absl::StatusOr<bool> any = rows.Next();
  for (; any.ok() && *any; any = rows.Next()) {
    const uint32_t chunk = ChunkOfKey(rows.Int(0));
    const absl::Status decoded = DecodeWindowBlock(rows.Bytes(1), window.window, chunk, window);
    if (!decoded.ok()) {
      damage_->Add(StrCat("window ", index, ", jobs from ", chunk * kJobsPerChunk, ": ", Message(decoded)));
    }
  }
  return any.status();
}

}  // namespace taut::server
