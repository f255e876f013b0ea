// Implements `taut trace generate` and `taut list`.
#include "brain/cell/cell_experiments.h"
#include "brain/fleet/policies.h"
#include "brain/overcommit/predictors.h"
#include "brain/replicas/policies.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/settings_file.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/terminal.h"
#include "tools/sim/cell_runs.h"
#include "tools/trace/generate.h"

namespace taut::tools {
namespace {

absl::Status Generate(const GenerateArgs& args) {
  GenerateOptions options;
  options.jobs = args.jobs;
  options.days = args.days;
  options.seed = args.seed;
  const absl::StatusOr<int64_t> start = TimeOption("--start", args.start);
  if (!start.ok()) return start.status();
  options.start_s = *start;
  if (absl::Status s = Check(options); !s.ok()) return s;
  if (args.format == "csv") {
    if (!args.out.ends_with(".csv") && !args.out.ends_with(".csv.gz")) {
      return absl::InvalidArgumentError(StrCat("\"", args.out, "\" should end in .csv or .csv.gz"));
    }
    return WriteGeneratedCsv(options, args.out);
  }
  if (args.format != "google2019") {
    return absl::InvalidArgumentError(StrCat("--format: \"", args.format, "\": expected csv or google2019"));
  }
  const absl::StatusOr<double> unit_memory = BytesOption("--unit-memory", args.unit_memory);
  if (!unit_memory.ok()) return unit_memory.status();
  TraceOptions units;
  units.unit_cpu_cores = args.unit_cpu_cores;
  units.unit_memory_bytes = *unit_memory;
  return WriteGeneratedGoogle2019(options, units, args.out);
}

}  // namespace

int RunGenerate(const GenerateArgs& args) {
  const absl::Status status = Generate(args);
  if (!status.ok()) {
    PrintError(Message(status));
    return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
  }
  if (!args.quiet) {
    Print(fmt::format("{}: {} over {} (seed {})\n", args.out,
                      Counted(static_cast<uint64_t>(args.jobs), "synthetic job"),
                      Counted(static_cast<uint64_t>(args.days), "day"), args.seed));
  }
  return kExitOk;
}

int RunList(const std::string& what) {
  if (what == "recommenders") {
    for (const brain::PolicyInfo& p : brain::Policies()) Print(fmt::format("{:<14} {}\n", p.name, p.what));
    return kExitOk;
  }
  if (what == "settings") {
    Print(server::WriteSettings(brain::VerticalSettings(), /*only_changed=*/false));
    return kExitOk;
  }
  if (what == "replicas") {
    for (const brain::ReplicaPolicyInfo& p : brain::ReplicaPolicies())
      Print(fmt::format("{:<12} {}\n", p.name, p.what));
    const brain::ReplicaSettings defaults;
    for (const brain::ReplicaSetting& s : brain::ReplicaSettingsTable()) {
      const std::string value = StrCat(s.key, "=", GetSetting(s, defaults));
      Print(fmt::format("{:<36} {}\n", value, s.help));
    }
    return kExitOk;
  }
  if (what == "overcommit") {
    for (const brain::PeakPredictorInfo& p : brain::PeakPredictors())
      Print(fmt::format("{:<12} {}\n", p.name, p.what));
    Print(fmt::format("{:<12} {}\n", "oracle", "the peak that came"));
    const brain::OvercommitSettings defaults;
    for (const brain::OvercommitSetting& s : brain::OvercommitSettingsTable()) {
      const std::string value = StrCat(s.key, "=", GetSetting(s, defaults));
      Print(fmt::format("{:<36} {}\n", value, s.help));
    }
    return kExitOk;
  }
  if (what == "experiments") {
    for (const brain::CellExperiment& e : brain::CellExperiments())
      Print(fmt::format("{:<18} {}\n", e.name, e.help));
    return kExitOk;
  }
  if (what == "setups") {
    for (const CellSetup& s : CellSetups()) Print(fmt::format("{:<18} {}\n", s.name, s.help));
    return kExitOk;
  }
  PrintError(
      StrCat("\"", what, "\": expected recommenders, settings, replicas, overcommit, experiments or setups"));
  return kExitUsage;
}

}  // namespace taut::tools
