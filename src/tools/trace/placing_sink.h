// A sink of usage rows with machines, which stores days for a replay and the machine of each task.
#pragma once

#include <optional>

#include "brain/cell/recorded_machines.h"
#include "tools/trace/job_days.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// `days` and `machines` must outlive the sink.
class PlacingSink : public TraceSink {
 public:
  PlacingSink(JobDayStore& days, brain::RecordedMachines& machines) : days_(days), machines_(machines) {}

  void OnJob(JobId id, const JobInfo& info) override { days_.OnJob(id, info); }
  void OnUsage(const UsageRow& row) override { days_.OnUsage(row); }
  void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
               std::optional<float> memory_bytes) override {
    days_.OnLimit(id, t, cpu_cores, memory_bytes);
  }
  brain::RecordedMachines* machines() override { return &machines_; }
  void OnPlaced(JobId id, uint32_t task, Timestamp start, uint32_t machine) override {
    machines_.Place(id, task, WindowId::Of(start), machine);
  }

 private:
  JobDayStore& days_;
  brain::RecordedMachines& machines_;
};

}  // namespace taut::tools
