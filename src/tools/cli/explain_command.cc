// taut explain: explains how the limits of one job were computed for a given time.
#include <algorithm>
#include <cmath>
#include <memory>

#include "brain/fleet/signal_builder.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/explain_text.h"
#include "tools/cli/terminal.h"
#include "tools/cli/trace_until.h"

namespace taut::tools {
namespace {

// Usage of one job that a recommender has observed, for the explanation.
struct SeenUsage {
  uint64_t windows = 0, tasks = 0, oom_kills = 0;
  int64_t first_s = 0, last_s = 0;
  double last_peak = 0;
  std::vector<float> day_peaks;  // peaks of the last days, oldest first
  std::optional<double> owner_limit;
};

absl::StatusOr<SeenUsage> SumUsage(TraceUntil& source, JobId job, Resource resource) {
  SeenUsage seen;
  brain::DaySignals signals;
  for (int32_t day : source.days()) {
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& j : *jobs) {
      if (j.job != job) continue;
      for (const TaskKills& k : j.kills) seen.oom_kills += KillsAtLimit(resource) ? k.kills : 0;
      signals.Build(j, resource);
      if (signals.empty()) continue;
      float peak = 0;
      for (const Signal& s : signals.signals()) {
        if (seen.windows++ == 0) seen.first_s = s.window.start_s();
        seen.tasks = std::max<uint64_t>(seen.tasks, s.tasks.size());
        seen.last_s = s.window.start_s();
        seen.last_peak = s.peak;
        if (s.owner_limit.has_value()) seen.owner_limit = s.owner_limit;
        peak = std::max(peak, static_cast<float>(s.peak));
      }
      seen.day_peaks.push_back(peak);
      if (seen.day_peaks.size() > 8) seen.day_peaks.erase(seen.day_peaks.begin());
    }
  }
  return seen;
}

constexpr std::string_view kChosen = "combined";

struct Explained {
  brain::PolicyPair policy;
  Resource resource;
  Reason reason;
  std::optional<double> limit;  // limit in force after the last observed window; absent: none
};

nlohmann::ordered_json ToJson(const Explained& e) {
  nlohmann::ordered_json j;
  j["recommender"] = Name(e.policy);
  j["resource"] = Name(e.resource);
  if (e.limit.has_value()) {
    j["limit"] = *e.limit;
  } else {
    j["limit"] = nullptr;
  }
  j["sentence"] = e.reason.sentence;
  for (const Fact& f : e.reason.facts) {
    if (const auto* text = std::get_if<std::string>(&f.value)) {
      j["facts"][f.name] = *text;
    } else {
      j["facts"][f.name] = {{"value", std::get<double>(f.value)}, {"unit", f.unit}};
    }
  }
  j["cost_unit"] = e.reason.cost_unit;
  j["candidates"] = nlohmann::ordered_json::array();
  for (const Candidate& c : e.reason.candidates) {
    j["candidates"].push_back(
        {{"name", c.name}, {"limit", c.limit}, {"cost", c.cost}, {"detail", c.detail}, {"chosen", c.chosen}});
  }
  j["steps"] = nlohmann::ordered_json::array();
  for (const ReasonStep& s : e.reason.steps) {
    j["steps"].push_back({{"what", s.what}, {"before", s.before}, {"after", s.after}, {"kind", s.kind}});
  }
  j["why"] = e.reason.why;
  if (!e.reason.chance.has_value()) return j;
  j["chance"] = *e.reason.chance;
  j["days"] = e.reason.days;
  j["days_over"] = e.reason.days_over;
  return j;
}

std::string DescribeSeen(Resource r, const SeenUsage& seen) {
  if (seen.windows == 0) return fmt::format("{}: not measured\n", Name(r));
  std::string out =
      fmt::format("{}: {} windows of up to {} {} from {} to {}; last peak {}", Name(r),
                  FormatCount(seen.windows), seen.tasks, seen.tasks == 1 ? "task" : "tasks",
                  FormatTime(seen.first_s), FormatTime(seen.last_s), FormatAmount(r, seen.last_peak));
  if (seen.owner_limit.has_value()) StrAppend(&out, ", owner's limit ", FormatAmount(r, *seen.owner_limit));
  if (seen.oom_kills > 0) {
    StrAppend(&out, "\n  recorded OOM kills: ", FormatCount(seen.oom_kills),
              "; what was needed then is not in the peaks");
  }
  out += "\n  peaks of the last days:";
  for (float p : seen.day_peaks) StrAppend(&out, " ", FormatAmount(r, p));
  return out + "\n";
}

// Returns an error if the requested time `at` is after the last day of the trace.
absl::Status CheckTime(const std::string& at, WindowId end, const std::vector<int32_t>& days) {
  if (at.empty() || days.empty()) return absl::OkStatus();
  const int64_t first_s = int64_t{days.front()} * kDaySeconds,
                last_s = (int64_t{days.back()} + 1) * kDaySeconds;
  if (end.start_s() <= last_s) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("--at: ", at, " is after the trace, which is from ",
                                           FormatTime(first_s), " to ", FormatTime(last_s)));
}

// Returns one line per resource, such as "memory: 1.20 GiB by combined (owner's limit 4.00 GiB)".
std::string AnswerText(const std::vector<Explained>& explained, const std::vector<SeenUsage>& seen,
                       const std::vector<Resource>& resources) {
  std::string out;
  for (const Explained& e : explained) {
    const auto at = static_cast<size_t>(std::ranges::find(resources, e.resource) - resources.begin());
    const std::optional<double> owner = seen[at].owner_limit;
    StrAppend(&out, Name(e.resource), ": ",
              e.limit.has_value() ? FormatAmount(e.resource, *e.limit) : "no limit yet", " by ",
              Name(e.policy));
    if (owner.has_value()) StrAppend(&out, ", owner's limit ", FormatAmount(e.resource, *owner));
    out += "\n";
  }
  return out;
}

absl::StatusOr<std::string> Explain(const ExplainArgs& args) {
  EngineArgs engine = args.engine;
  // By default, explain the first recommender of the report, which tautd also uses.
  if (engine.recommenders.empty() && !args.all) engine.recommenders = {std::string(kChosen)};
  absl::StatusOr<ReplayOptions> options = ToReplayOptions(engine);
  if (!options.ok()) return options.status();
  WindowId end{INT32_MAX};
  if (!args.at.empty()) {
    const absl::StatusOr<int64_t> at = TimeOption("--at", args.at);
    if (!at.ok()) return at.status();
    end = WindowId::Of(Timestamp::FromSeconds(*at));
  }
  absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
  if (!trace.ok()) return trace.status();
  const absl::StatusOr<JobId> job = (*trace)->FindJob(args.job);
  if (!job.ok()) return job.status();
  if (absl::Status s = CheckTime(args.at, end, (*trace)->days()); !s.ok()) return s;
  TraceUntil source(**trace, end);
  if (source.days().empty())
    return absl::InvalidArgumentError("--at: the trace has no usage before that time");
  std::vector<Explained> explained;
  ReplayHooks hooks;
  hooks.on_job_end = [&](JobId id, brain::PolicyPair policy, Resource r, const brain::Lane& lane) {
    if (id != *job) return;
    Explained& e = explained.emplace_back(Explained{policy, r, {}, {}});
    lane.recommender().Explain(e.reason);
    e.limit = lane.recommended();
  };
  ProgressLine progress(args.quiet);
  hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t) {
    progress.Update("replaying up to that time", static_cast<double>(done) / static_cast<double>(total));
  };
  const absl::StatusOr<ReplayResult> result = Replay(source, *options, hooks);
  progress.Clear();
  if (!result.ok()) return result.status();
  if (explained.empty())
    return absl::NotFoundError(StrCat("job \"", Printable(args.job), "\" had no usage by that time"));
  const std::string& name = (*trace)->jobs()[job->value].name;
  std::string details, usage;
  nlohmann::ordered_json json;
  json["job"] = name;
  json["decisions"] = nlohmann::ordered_json::array();
  std::vector<SeenUsage> seen;
  for (Resource r : options->resources) {
    absl::StatusOr<SeenUsage> sum = SumUsage(source, *job, r);
    if (!sum.ok()) return sum.status();
    usage += DescribeSeen(r, *sum);
    seen.push_back(*std::move(sum));
  }
  for (const Explained& e : explained) {
    details += ExplainText(e.resource, e.limit, e.reason);
    json["decisions"].push_back(ToJson(e));
  }
  if (args.output == OutputForm::kTable) {
    const bool one = engine.recommenders.size() == 1;
    return StrCat("job ", Printable(name), "\n", AnswerText(explained, seen, options->resources), "\n",
                  details, usage, one ? "others: --all, or --recommender NAME,...\n" : "");
  }
  return Formatted(args.output, json);
}

}  // namespace

int RunExplain(const ExplainArgs& args) {
  if (args.trace.paths.empty()) return RunExplainNow(args);
  const absl::StatusOr<std::string> text = Explain(args);
  if (text.ok()) {
    Print(*text);
    return kExitOk;
  }
  PrintError(Message(text.status()));
  return absl::IsInvalidArgument(text.status()) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
