// Functions for tautline/spark.py that analyse a fleet in parts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrow_stream.h"
#include "bindings.h"
#include "packed_trace.h"
#include "tools/cli/analysis_json.h"
#include "tools/cli/commands.h"
#include "tools/sim/analysis_sums.h"
#include "watched.h"

namespace taut::python {
namespace {

using Modes = std::unordered_map<std::string, int>;

// The tables of events of a trace.
class Events {
 public:
  explicit Events(const tools::TraceArgs& args) {
    const tools::TraceOptions options = ValueOf(tools::ToTraceOptions(args));
    RunWatched(nullptr, [&](Watch& watch) {
      const tools::UseConsole use(watch.console);
      absl::StatusOr<tools::LoadedCell> cell = tools::LoadCellFiles(options, /*quiet=*/true);
      if (absl::IsNotFound(cell.status())) throw FileMissing(std::string(Message(cell.status())));
      cell_ = ValueOf(std::move(cell));
      if (!cell_.has_events) Raise(absl::InvalidArgumentError("events: the files have no recorded events"));
    });
  }
  const tools::LoadedCell& cell() const { return cell_; }
  // Returns the modes of vertical scaling by job.
  Modes ModesByJob() const {
    Modes out;
    for (const auto& [job, mode] : cell_.modes) out[job] = static_cast<int>(mode);
    return out;
  }

 private:
  tools::LoadedCell cell_;
};

nb::bytes BytesOf(const tools::AnalysisSums& sums) {
  std::string bytes;
  ByteWriter out(&bytes);
  sums.Save(out);
  return nb::bytes(bytes.data(), bytes.size());
}

// Returns the sums of an analysis of the packs' job-days.
nb::bytes AnalysePart(const nb::object& packs, int64_t memory_bytes, const Modes& modes) {
  const GivenTable given(packs);
  tools::AnalysisSums sums;
  RunWatched(nullptr, [&](Watch& watch) {
    PackedTrace trace(static_cast<size_t>(memory_bytes));
    Check(trace.Read(given.stream(), watch.console.should_stop));
    tools::AnalysisHooks hooks;
    hooks.should_stop = watch.console.should_stop;
    hooks.mode_of = [&](const std::string& job) {
      const auto at = modes.find(job);
      return at != modes.end() ? static_cast<brain::ScalingMode>(at->second) : brain::ScalingMode::kUnknown;
    };
    sums = ValueOf(tools::SumTrace(trace, hooks));
  });
  return BytesOf(sums);
}

tools::AnalysisSums MergedSums(const std::vector<nb::bytes>& parts) {
  tools::AnalysisSums merged;
  for (const nb::bytes& part : parts) {
    ByteReader in({part.c_str(), part.size()});
    tools::AnalysisSums sums;
    Check(sums.Load(in));
    merged.Merge(sums);
  }
  return merged;
}

// Returns the document of taut analyze.
std::string AnalysisOf(const std::vector<nb::bytes>& parts, const Events* events) {
  const tools::TraceAnalysis usage = ValueOf(MergedSums(parts).Result());
  return tools::JsonText(
      tools::AnalysisJson(&usage, events != nullptr ? &events->cell() : nullptr, tools::ByHour::kLeaveOut));
}

}  // namespace

void BindAnalysis(nb::module_& m) {
  nb::class_<Events>(m, "Events")
      .def(nb::init<const tools::TraceArgs&>(), nb::arg("trace"))
      .def("modes", &Events::ModesByJob);
  m.def("analyse_part", &AnalysePart, nb::arg("packs"), nb::arg("memory_bytes"), nb::arg("modes"));
  m.def(
      "merge_analyses", [](const std::vector<nb::bytes>& parts) { return BytesOf(MergedSums(parts)); },
      nb::arg("parts"));
  m.def("analysis", &AnalysisOf, nb::arg("parts"), nb::arg("events").none());
}

}  // namespace taut::python
