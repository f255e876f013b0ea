// Reads event tables in CSV format: job_events and task_events of Google 2011, container_meta and batch_task of
// Alibaba 2018.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "tools/trace/csv_reader.h"
#include "tools/trace/detect.h"
#include "tools/trace/event_tables.h"

namespace taut::tools {
namespace {

// Sets `out` to the amount in a field; an empty field leaves `out` unchanged. Returns false if the amount is not a
// number, negative, or too large for float.
bool TakeAmount(const CsvRow& row, int i, double factor, float& out) {
  std::optional<float> value;
  if (!TakeFloat(row, i, factor, value) || value.value_or(0) < 0) return false;
  if (value) out = *value;
  return true;
}
bool TakeInteger(const CsvRow& row, int i, int64_t& out) {
  return ParseInteger(row.begin(i), row.end(i), out) == NumberKind::kNumber;
}

class Google2011EventReader final : public FormatReader {
 public:
  explicit Google2011EventReader(EventTables& out) : out_(out), index_(',') {}

  absl::Status BeginFile(std::string_view name, int table) override {
    out_.BeginFile(name);
    of_tasks_ = table == static_cast<int>(Google2011Table::kTaskEvents);
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    return index_.ForEachRow(block.lines, block.first_line, [this](const CsvRow& row) { return Take(row); });
  }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  absl::Status Take(const CsvRow& row) {
    static constexpr brain::TraceEventKind kKinds[] = {
        brain::TraceEventKind::kSubmit, brain::TraceEventKind::kStart,   brain::TraceEventKind::kEvict,
        brain::TraceEventKind::kFail,   brain::TraceEventKind::kFinish,  brain::TraceEventKind::kKill,
        brain::TraceEventKind::kLost,   brain::TraceEventKind::kRequest, brain::TraceEventKind::kRequest};
    out_.CountRow();
    const auto bad = [&](std::string_view cause) { return out_.Bad(cause, row.line(), row.text()); };
    if (row.size() != (of_tasks_ ? 13 : 8)) return bad(kBadColumns);
    int64_t time = 0, id = 0, task = brain::kWholeJob, type = 0, priority = 0;
    brain::TraceEvent event;
    if (!TakeInteger(row, 0, time) || !TakeInteger(row, 2, id) || !TakeInteger(row, of_tasks_ ? 5 : 3, type))
      return bad(kBadNumber);
    if (of_tasks_ &&
        (!TakeInteger(row, 3, task) || !TakeAmount(row, 9, out_.options().unit_cpu_cores, event.cpu_cores) ||
         !TakeAmount(row, 10, out_.options().unit_memory_bytes, event.memory_bytes)))
      return bad(kBadNumber);
    if (time < 0) return bad("time out of range");
    if (type < 0 || type > 8) return bad("event of an unknown type");
    if (of_tasks_ && (task < 0 || task >= brain::kWholeJob)) return bad("task number out of range");
    event.job = out_.Job(id);
    brain::RecordedJob& job = out_.job(event.job);
    if (of_tasks_ && TakeInteger(row, 8, priority)) out_.SetPriority(event.job, priority);
    if (job.user.empty()) job.user = row[of_tasks_ ? 6 : 4];
    // The job requires a different machine for each task.
    if (of_tasks_ && row[12] == "1") job.max_per_machine = 1;
    if (time == INT64_MAX) {
      out_.Skip("event after the end of the trace", row.line(), row.text());
      return absl::OkStatus();
    }
    event.time_us = time;
    event.task = static_cast<uint32_t>(task);
    event.kind = kKinds[type];
    out_.Take(event, row.line(), row.text());
    return absl::OkStatus();
  }

  EventTables& out_;
  CsvIndex index_;
  bool of_tasks_ = false;
};

class Alibaba2018EventReader final : public FormatReader {
 public:
  explicit Alibaba2018EventReader(EventTables& out) : out_(out), index_(',') {}

  absl::Status BeginFile(std::string_view name, int table) override {
    out_.BeginFile(name);
    of_batch_ = table == static_cast<int>(AlibabaTable::kBatchTask);
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    return index_.ForEachRow(block.lines, block.first_line, [this](const CsvRow& row) {
      out_.CountRow();
      return of_batch_ ? TakeBatchTask(row) : TakeContainer(row);
    });
  }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  struct Container {
    uint32_t job = 0, task = 0;
    float cpu_cores = kAbsent, memory_bytes = kAbsent;
  };
  // A percentage of 100 is one core, or the memory of the largest machine.
  static constexpr double kPercent = 0.01;

  absl::Status Bad(std::string_view cause, const CsvRow& row) {
    return out_.Bad(cause, row.line(), row.text());
  }
  static bool TakeTime(const CsvRow& row, int i, int64_t& us) {
    int64_t seconds = 0;
    if (!TakeInteger(row, i, seconds) || seconds < 0 || seconds > kLatestUs / kMicrosPerSecond) return false;
    us = seconds * kMicrosPerSecond;
    return true;
  }

  absl::Status TakeContainer(const CsvRow& row) {
    if (row.size() != 8) return Bad(kBadColumns, row);
    brain::TraceEvent event;
    if (!TakeTime(row, 2, event.time_us)) return Bad("bad time", row);
    if (!TakeAmount(row, 5, kPercent, event.cpu_cores) ||
        !TakeAmount(row, 7, kPercent * out_.options().unit_memory_bytes, event.memory_bytes))
      return Bad(kBadNumber, row);
    if (row[0].empty()) return Bad("no container or machine", row);
    const auto [at, added] = containers_.try_emplace(std::string(row[0]));
    Container& c = at->second;
    if (added) {
      c.job = out_.Job(row[3].empty() ? row[0] : row[3]);
      if (c.job >= tasks_.size()) tasks_.resize(c.job + 1);
      c.task = tasks_[c.job]++;
      out_.SetTier(c.job, Tier::kProduction);
      out_.job(c.job).start_only = true;
    }
    event.job = c.job;
    event.task = c.task;
    const bool same = c.cpu_cores == event.cpu_cores && c.memory_bytes == event.memory_bytes;
    c.cpu_cores = event.cpu_cores;
    c.memory_bytes = event.memory_bytes;
    if (!added && same) {
      out_.Skip("container that stays as it is", row.line(), row.text());
      return absl::OkStatus();
    }
    event.kind = added ? brain::TraceEventKind::kSubmit : brain::TraceEventKind::kRequest;
    out_.TakeUnordered(event, row.line());
    if (!added) return absl::OkStatus();
    event.kind = brain::TraceEventKind::kStart;
    out_.TakeMore(event, row.line());
    return absl::OkStatus();
  }

  absl::Status TakeBatchTask(const CsvRow& row) {
    if (row.size() != 9) return Bad(kBadColumns, row);
    int64_t instances = 0, start = 0, end = 0;
    float cpu = 0, memory = 0;
    if (!TakeInteger(row, 1, instances) || instances < 1 || instances > 10'000'000 ||
        !TakeAmount(row, 7, kPercent, cpu) ||
        !TakeAmount(row, 8, kPercent * out_.options().unit_memory_bytes, memory))
      return Bad(kBadNumber, row);
    const bool ended =
        row[4] == "Terminated" || row[4] == "Failed" || row[4] == "Cancelled" || row[4] == "Interrupted";
    if (!TakeTime(row, 5, start) || (ended && !TakeTime(row, 6, end))) return Bad("bad time", row);
    if (ended && end == 0) return Bad("an end without a time", row);
    if (ended && end < start) return Bad("an end before the start", row);
    if (!ended && start == 0) {
      out_.Skip("task that did not start", row.line(), row.text());
      return absl::OkStatus();
    }
    const uint32_t number = out_.Job(std::string(row[2]) + "/" + std::string(row[0]));
    brain::RecordedJob& job = out_.job(number);
    if (job.told_tasks > 0) return Bad("a second row of a task", row);
    out_.SetTier(number, Tier::kBatch);
    job.user = row[2];
    job.start_only = true;
    job.told_tasks = static_cast<uint32_t>(instances);
    job.told_cpu_cores = cpu;
    job.told_memory_bytes = memory;
    brain::TraceEvent event{.time_us = start, .job = number};
    out_.TakeUnordered(event, row.line());
    event.kind = brain::TraceEventKind::kStart;
    out_.TakeMore(event, row.line());
    if (!ended) return absl::OkStatus();
    event.time_us = end;
    event.kind = row[4] == "Terminated" ? brain::TraceEventKind::kFinish
                 : row[4] == "Failed"   ? brain::TraceEventKind::kFail
                                        : brain::TraceEventKind::kKill;
    out_.TakeMore(event, row.line());
    return absl::OkStatus();
  }

  EventTables& out_;
  CsvIndex index_;
  bool of_batch_ = false;
  absl::flat_hash_map<std::string, Container> containers_;
  std::vector<uint32_t> tasks_;  // number of containers by job
};

}  // namespace

std::unique_ptr<FormatReader> NewGoogle2011EventReader(EventTables& out) {
  return std::make_unique<Google2011EventReader>(out);
}
std::unique_ptr<FormatReader> NewAlibaba2018EventReader(EventTables& out) {
  return std::make_unique<Alibaba2018EventReader>(out);
}

}  // namespace taut::tools
