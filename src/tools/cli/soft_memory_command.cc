// Implements `taut overcommit --soft`.
#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/csv_field.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/settings_file.h"
#include "tools/cli/answer.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/cli.h"
#include "tools/cli/input.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/overcommit_command.h"
#include "tools/cli/terminal.h"
#include "tools/sim/recorded_soft_memory.h"
#include "tools/sim/soft_memory_replay.h"

namespace taut::tools {
namespace {

absl::Status SetShares(const std::vector<std::string>& tiers, SoftMemoryOptions& options) {
  const auto share_of = [&](TraceTier tier) -> double& { return options.shares[static_cast<size_t>(tier)]; };
  if (tiers.empty()) {
    share_of(TraceTier::kBatch) = share_of(TraceTier::kProduction) = 0.5;
    return absl::OkStatus();
  }
  options.made_tiers = true;
  for (const std::string& text : tiers) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::optional<double> share = ParseDouble(text.substr(std::min(equals + 1, text.size())));
    bool known = false;
    for (size_t t = 1; t < kNumTraceTiers; ++t) {
      if (text.substr(0, equals) != Name(static_cast<TraceTier>(t)) || !share.has_value()) continue;
      options.shares[t] = *share;
      known = true;
    }
    if (!known) {
      return absl::InvalidArgumentError(StrCat("--tiers: \"", text,
                                               "\": expected NAME=SHARE with one of free, batch, mid, "
                                               "production, monitoring, and a number"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SoftMemoryOptions> ToSoftOptions(const OvercommitArgs& args,
                                                const OvercommitOptions& machines) {
  SoftMemoryOptions o;
  o.machines = machines;
  for (const std::string& resource : args.resources) {
    if (resource != Name(Resource::kMemory))
      return absl::InvalidArgumentError(
          "--soft: has no effect on cpu, which kills no task: expected --resource memory");
  }
  if (!args.decisions.empty())
    return absl::InvalidArgumentError("--decisions: has no effect with --soft: expected --kills");
  if (!args.html.empty())
    return absl::InvalidArgumentError(
        "--html: has a page of predictions, and none of --soft: expected --json or --kills");
  const absl::StatusOr<brain::Policy> requests = brain::ParsePolicy(args.requests);
  if (!requests.ok()) return absl::InvalidArgumentError(StrCat("--requests: ", Message(requests.status())));
  o.requests = *requests;
  if (absl::Status s = server::RestoreVerticalDefaults(args.compatibility, o.settings); !s.ok())
    return absl::InvalidArgumentError(StrCat("--compatibility: ", Message(s)));
  if (!args.settings_file.empty()) {
    absl::StatusOr<server::SettingsFile> file = server::ReadSettingsFile(args.settings_file, o.settings);
    if (!file.ok()) return file.status();
    for (const std::string& notice : file->notices) Warn(notice);
    o.settings = std::move(file->settings);
  }
  if (absl::Status s = SetShares(args.tiers, o); !s.ok()) return s;
  return o;
}

constexpr std::string_view kKillsHeader =
    "time_s,world,placement,machine,task,tier,usage,request,machine_usage,machine_memory\n";

void Append(const SoftKill& k, OutputFile& out) {
  out.Append(fmt::format("{},{},{},{},{},{},{},{},{},{}\n", k.time_s, CsvField(k.world), k.placement,
                         k.machine_name.empty() ? StrCat(k.machine) : CsvField(k.machine_name),
                         CsvField(k.task), Name(k.tier), k.usage, k.request, k.machine_usage,
                         k.machine_memory));
}

// Returns the tiers in the result, highest tier first.
std::vector<TraceTier> TiersIn(const SoftMemoryResult& result) {
  std::vector<TraceTier> out;
  for (size_t t = kNumTraceTiers; t-- > 0;) {
    if (result.tier_tasks[t] > 0) out.push_back(static_cast<TraceTier>(t));
  }
  return out;
}

std::string Text(const SoftMemoryResult& result, const OvercommitArgs& args) {
  std::vector<std::string> tiers;
  for (const TraceTier t : TiersIn(result))
    tiers.push_back(StrCat(result.tier_tasks[static_cast<size_t>(t)], " ", Name(t)));
  const std::string_view how = result.made_tiers ? "drawn" : "by priority";
  std::string out =
      result.of_recorded
          ? StrCat(RecordedUseText(Resource::kMemory, result.tasks, result.machines, result.recorded),
                   fmt::format("  scored: {}; tiers {}\n", Join(tiers, ", "), how))
          : fmt::format("memory: {} tasks present throughout ({}; tiers {}), {} machines of {} tasks\n",
                        result.tasks, Join(tiers, ", "), how, result.machines, args.machine_tasks);
  std::vector<std::string> head = {"memory of a machine", "footprint", "kills a\ntask-day"};
  for (const TraceTier t : TiersIn(result)) head.push_back(StrCat("of\n", Name(t)));
  head.insert(head.end(), {"task time\nlost", "within\nrequest", "horizons\nfull"});
  TextTable table(head);
  for (const SoftMemoryScore& world : result.worlds) {
    const SoftMemoryScore::Tier total = world.total();
    std::vector<std::string> row = {
        world.world == "hard" ? StrCat("hard limits: ", args.requests) : world.world,
        fmt::format("{:.3f}", world.footprint()), fmt::format("{:.4f}", total.kills_a_task_day())};
    for (const TraceTier t : TiersIn(result))
      row.push_back(fmt::format("{:.4f}", world.tiers[static_cast<size_t>(t)].kills_a_task_day()));
    row.push_back(Percent(total.lost_share(), 3));
    row.push_back(FormatCount(total.within_request));
    row.push_back(Percent(world.full_share(), 2));
    table.Add(row);
  }
  return out + table.Render();
}

constexpr std::string_view kTableLegend =
    "footprint: memory of the machines over the owners' limits; task time lost: share of the tasks' time\n"
    "in which they did not run after a kill; within request: kills of tasks that used no more than they\n"
    "requested; horizons full: share of machines' horizons in which a task was killed.\n";

constexpr std::string_view kRecordedLegend =
    "memory of a machine: at most its recorded capacity, where it is known, and its tasks' limits.\n";

Json TierJson(const SoftMemoryScore::Tier& tier) {
  return {{"task_windows", tier.task_windows},
          {"lost_windows", tier.lost_windows},
          {"kills", tier.kills},
          {"kills_a_task_day", tier.kills_a_task_day()},
          {"within_request", tier.within_request}};
}

Json ResultJson(const SoftMemoryResult& result, const OvercommitArgs& args, const OvercommitOptions& o,
                const ReadReport& report) {
  Json worlds = Json::array();
  for (const SoftMemoryScore& world : result.worlds) {
    Json one = {{"world", world.world},
                {"footprint", world.footprint()},
                {"total", TierJson(world.total())},
                {"horizons", world.horizons},
                {"full", world.full}};
    for (const TraceTier t : TiersIn(result))
      one["tiers"][std::string(Name(t))] = TierJson(world.tiers[static_cast<size_t>(t)]);
    worlds.push_back(std::move(one));
  }
  Json out = {{"partial", result.partial},
              {"requests", args.requests},
              {"machine_tasks", o.machine_tasks},
              {"placements", o.placements},
              {"seed", o.seed},
              {"warmup_seconds", o.warmup_s},
              {"horizon_seconds", o.horizon_s()},
              {"tasks", result.tasks},
              {"machines", result.machines},
              {"drawn_tiers", result.made_tiers},
              {"worlds", std::move(worlds)}};
  if (!result.of_recorded) return out;
  for (const char* const made : {"machine_tasks", "placements"}) out.erase(made);
  out["recorded"] = RecordedUseJson(result.recorded);
  out["skipped_rows"] = SkippedJson(report);
  out["kept_rows"] = KeptJson(report);
  return out;
}

}  // namespace

int RunSoftMemory(const OvercommitArgs& args, const OvercommitOptions& machines) {
  const absl::StatusOr<SoftMemoryOptions> options = ToSoftOptions(args, machines);
  if (!options.ok()) return Fail(options.status());
  const NamedPath outputs[] = {{"--json", args.json}, {"--kills", args.kills}};
  if (absl::Status s = CheckOutputs(outputs, args.trace.paths); !s.ok()) return Fail(s);
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(outputs[0]);
  if (!file.ok()) return Fail(file.status());
  absl::StatusOr<std::unique_ptr<OutputFile>> kills = OpenOutput(outputs[1]);
  if (!kills.ok()) return Fail(kills.status());
  if (*kills != nullptr) (*kills)->Append(kKillsHeader);
  CatchInterrupts();
  const WithMachines recorded = args.machines == kRecordedMachines ? WithMachines::kYes : WithMachines::kNo;
  const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet, recorded);
  if (!trace.ok()) return Fail(trace.status());
  SoftMemoryHooks hooks;
  ProgressLine progress(args.quiet);
  if (*kills != nullptr) hooks.on_kill = [&](const SoftKill& k) { Append(k, **kills); };
  hooks.on_progress = [&](std::string_view what, double share) {
    progress.Update(StrCat("replaying ", what), share);
  };
  hooks.should_stop = Interrupted;
  absl::StatusOr<SoftMemoryResult> result =
      recorded == WithMachines::kYes ? ReplayRecordedSoftMemory(**trace, (*trace)->machines, *options, hooks)
                                     : ReplaySoftMemory(**trace, *options, hooks);
  if (!result.ok()) return Fail(result.status());
  result->partial = result->partial || (*trace)->interrupted;
  const std::string json = JsonText(ResultJson(*result, args, machines, (*trace)->report()));
  if (*file != nullptr) (*file)->Append(json);
  for (OutputFile* f : {file->get(), kills->get()}) {
    if (f == nullptr) continue;
    if (absl::Status s = f->Close(); !s.ok()) return Fail(s);
  }
  if (args.output != OutputForm::kTable) {
    Print(FormattedText(args.output, json));
  } else {
    Print(DescribeInput(**trace));
    Print(fmt::format("machines get memory for {}; the first {:.4g} days are not scored\n",
                      FormatDuration(machines.horizon_s()),
                      static_cast<double>(machines.warmup_s) / kDaySeconds));
    if (result->partial) Print("PARTIAL: interrupted\n");
    Print(StrCat("\n", Text(*result, args), "\n", kTableLegend,
                 recorded == WithMachines::kYes ? kRecordedLegend : std::string_view()));
    if (!args.json.empty()) Print(StrCat("results: ", args.json, "\n"));
    if (!args.kills.empty()) Print(StrCat("kills: ", args.kills, "\n"));
  }
  return result->partial ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
