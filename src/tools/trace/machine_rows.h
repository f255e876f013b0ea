// Reads the machines of a trace: the rows of machine tables, and the machine that a usage row names. Used by all
// readers of traces with machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/cell/recorded_machines.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Passes machines to the sink's machines(), and counts contradictions in the report. Not thread-safe.
class MachineRows {
 public:
  // The arguments must outlive this object.
  MachineRows(TraceSink& sink, ReadReport& report)
      : sink_(sink), machines_(sink.machines()), report_(report) {}

  // Returns true if the sink has machines(). Otherwise only BeginFile() and Finish() may be called.
  bool wanted() const { return machines_ != nullptr; }
  void BeginFile(std::string_view name) { files_.emplace_back(name); }

  // Returns the number of the machine with this ID. The name of a new machine is its ID.
  uint32_t Number(int64_t id);
  uint32_t Number(std::string_view name) { return machines_->Number(name); }
  // Adds a row of a table of machines.
  void TakeEvent(uint32_t machine, brain::MachineEvent event, uint64_t line, std::string_view text);
  // Adds the machine of a usage row.
  void TakePlace(JobId job, uint32_t task, Timestamp start, uint32_t machine, uint64_t line,
                 std::string_view text);
  // Counts a usage row without a machine.
  void TakeNoPlace(uint64_t line, std::string_view text);
  // Sorts the events of all machines and counts contradictions. Call after the last row.
  void Finish();

 private:
  // A cause that may apply to every row of a trace. Caches the pointer to its entry in the report.
  struct Frequent {
    std::string_view cause;
    ReadReport::Cause* counted = nullptr;
  };
  void Keep(Frequent& frequent, uint64_t line, std::string_view text);

  static constexpr int kLineBits = 40;

  TraceSink& sink_;
  brain::RecordedMachines* const machines_;
  ReadReport& report_;
  std::vector<std::string> files_;
  absl::flat_hash_map<int64_t, uint32_t> numbers_;
  int64_t last_id_ = 0;
  uint32_t last_number_ = UINT32_MAX;
  bool has_table_ = false, has_rows_ = false;
  Frequent unlisted_{.cause = "usage on a machine that was never added"};
  Frequent nowhere_{.cause = "usage without a machine"};
};

}  // namespace taut::tools
