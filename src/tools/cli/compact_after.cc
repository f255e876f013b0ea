#include "tools/cli/compact_after.h"

#include <algorithm>

#include "common/base/csv_field.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

absl::StatusOr<int64_t> SecondsOfAfter(const CompactArgs& args) {
  const absl::StatusOr<int64_t> after = ParseDurationSeconds(args.after);
  if (!after.ok()) return absl::InvalidArgumentError(StrCat("--after: ", Message(after.status())));
  if (*after >= 0 && *after <= 365 * kDaySeconds && *after % 3600 == 0) return *after;
  return absl::InvalidArgumentError(
      StrCat("invalid --after \"", args.after, "\": expected 0h to 365d, in whole hours"));
}

}  // namespace

absl::Status CheckAfter(const CompactArgs& args) { return SecondsOfAfter(args).status(); }

absl::Status AfterPacking::Begin(const CompactArgs& args, const std::optional<CellUsage>& usage,
                                 const brain::CellModel& cell, OutputFile* placements) {
  placements_ = placements;
  if (placements_ != nullptr) placements_->Append("experiment,trial,machine,machine_name,job,task\n");
  const absl::StatusOr<int64_t> after = SecondsOfAfter(args);
  if (!after.ok()) return after.status();
  if (!usage.has_value() || *after == 0) return absl::OkStatus();
  usage_ = &*usage;
  to_ =
      std::min(usage->span.end, WindowId{usage->until.index + static_cast<int32_t>(*after / kWindowSeconds)});
  if (to_ <= usage->until) return absl::OkStatus();
  absl::StatusOr<RecordedTasks> recorded = ReadRecordedTasks(*usage->trace, cell, usage->until);
  if (!recorded.ok()) return recorded.status();
  packed_.emplace(*std::move(recorded));
  return absl::OkStatus();
}

void AfterPacking::Take(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
                        const brain::TrialPacking& packing) {
  if (packed_.has_value()) {
    packed_->Add(part, packing);
    experiments_.push_back(run.experiment);
  }
  if (placements_ == nullptr) return;
  uint32_t task = 0;
  for (const brain::CellJob& job : part.jobs) {
    for (uint32_t i = 0; i < job.tasks; ++i, ++task) {
      const uint32_t machine = packing.machine_of_task[task];
      const bool placed = machine != brain::kNowhere;
      placements_->Append(fmt::format(
          "{},{},{},{},{},{}\n", CsvField(run.experiment->name), trial, placed ? StrCat(machine) : "",
          placed ? CsvField(part.machines[packing.machines[machine]].name) : "", CsvField(job.name), i));
    }
  }
}

absl::Status AfterPacking::Measure() {
  if (!packed_.has_value()) return absl::OkStatus();
  const absl::StatusOr<std::vector<PackedUsage>> usage =
      packed_->Measure(*usage_->trace, usage_->until, to_, Interrupted);
  if (!usage.ok()) return usage.status();
  for (size_t i = 0; i < usage->size(); ++i) {
    if (measured_.empty() || measured_.back().first != experiments_[i])
      measured_.emplace_back(experiments_[i], PackedUsage());
    measured_.back().second.Add((*usage)[i]);
  }
  return absl::OkStatus();
}

std::string AfterPacking::Text() const {
  if (usage_ == nullptr) return "";
  if (packed_.has_value() && measured_.empty()) return "";  // an interrupt ended the measurement
  if (measured_.empty())
    return "There is no usage after the time of the cell, which would say how often the packed machines had\n"
           "too little: an earlier --at leaves some.\n";
  TextTable table({"usage afterwards", "machine-\nhours", "over\nCPU", "over\nmemory", "over\neither"});
  for (const auto& [experiment, usage] : measured_)
    table.Add({std::string(experiment->name), FormatCount(usage.machine_hours),
               Percent(usage.share(usage.over[0]), 2), Percent(usage.share(usage.over[1]), 2),
               Percent(usage.share(usage.over_any), 2)});
  return StrCat(
      table.Render(), "over: share of the machine-hours of all trials' cells, in the ",
      FormatDuration(to_.start_s() - usage_->until.start_s()),
      " after the\ntime of the cell, with a window in which the tasks of a machine, each at most at its\n"
      "limit, used more than it has (memory: the sum of their peaks).\n");
}

Json AfterPacking::Of(const brain::CellExperiment* experiment) const {
  for (const auto& [measured, usage] : measured_) {
    if (measured == experiment)
      return {{"machine_hours", usage.machine_hours},
              {"over_cpu", usage.over[0]},
              {"over_memory", usage.over[1]},
              {"over_either", usage.over_any}};
  }
  return nullptr;
}

Json AfterPacking::Seconds() const {
  return measured_.empty() ? Json(nullptr) : Json(to_.start_s() - usage_->until.start_s());
}

}  // namespace taut::tools
