// taut replay: shows the limits that every recommender would have set, and their consequences.
#include <memory>
#include <vector>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/settings_file.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/decisions.h"
#include "tools/cli/outputs.h"
#include "tools/cli/replay_mode.h"
#include "tools/cli/replay_report.h"
#include "tools/cli/resource_option.h"
#include "tools/cli/results.h"
#include "tools/cli/terminal.h"
#include "tools/report/html_report.h"

namespace taut::tools {
namespace {

absl::Status WriteFile(OutputFile& file, const std::string& content) {
  file.Append(content);
  return file.Close();
}

// Files that a replay writes in addition to its table.
class ReplayOutputs {
 public:
  // Opens the files before the input is read, so that errors are reported early.
  absl::Status Open(const ReplayArgs& args) {
    const NamedPath outputs[] = {
        {"--report", args.report}, {"--json", args.json}, {"--decisions", args.decisions}};
    std::vector<std::string> inputs = args.trace.paths;
    inputs.push_back(args.engine.settings_file);
    if (absl::Status s = CheckOutputs(outputs, inputs); !s.ok()) return s;
    if (absl::Status s = CheckPageOf(outputs[0]); !s.ok()) return s;
    std::unique_ptr<OutputFile>* const files[] = {&report_, &json_, &decisions_};
    for (size_t i = 0; i < std::size(outputs); ++i) {
      absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(outputs[i]);
      if (!file.ok()) return file.status();
      *files[i] = *std::move(file);
    }
    return absl::OkStatus();
  }
  absl::Status Begin(const LoadedTrace& trace) {
    if (decisions_ != nullptr) csv_ = std::make_unique<DecisionsCsv>(std::move(decisions_), trace.jobs());
    if (report_ != nullptr) {
      auto log = DecisionLog::Create();
      if (!log.ok()) return log.status();
      log_ = *std::move(log);
    }
    return absl::OkStatus();
  }
  absl::Status Add(const LimitChange& change) {
    if (csv_ != nullptr) csv_->Add(change);
    return log_ != nullptr ? log_->Add(change) : absl::OkStatus();
  }
  void Keep(JobId job, Resource resource, const brain::Recommender& recommender) {
    recommender.Explain(reasons_[{job.value, resource}].emplace_back());
  }
  absl::Status CloseCsv() { return csv_ != nullptr ? csv_->Close() : absl::OkStatus(); }
  OutputFile* report() { return report_.get(); }
  OutputFile* json() { return json_.get(); }
  DecisionLog& log() { return *log_; }
  const LastReasons& reasons() const { return reasons_; }

 private:
  std::unique_ptr<OutputFile> report_, json_, decisions_;  // output files; null: not requested
  std::unique_ptr<DecisionsCsv> csv_;
  std::unique_ptr<DecisionLog> log_;
  LastReasons reasons_;
};

absl::Status WriteReport(const ReplayArgs& args, const ReplayOptions& options, LoadedTrace& trace,
                         const ReplayResult& result, ReplayOutputs& outputs) {
  brain::PolicyPair shown = options.policies.back();
  if (const absl::StatusOr<brain::PolicyPair> asked = brain::ParsePolicyPair(args.shown); asked.ok()) {
    for (const brain::PolicyPair p : options.policies) shown = p == *asked ? p : shown;
  }
  std::vector<JobId> named;
  for (const std::string& name : args.stories) {
    const absl::StatusOr<JobId> job = trace.FindJob(name);
    if (!job.ok()) return job.status();
    named.push_back(*job);
  }
  absl::StatusOr<ReportInput> input =
      ReportInputOf({trace, options, result}, shown, named, outputs.log(), outputs.reasons());
  if (!input.ok()) return input.status();
  input->title = fmt::format(
      "Replay of {}{}", args.trace.paths.front(),
      args.trace.paths.size() > 1 ? fmt::format(" and {} more", args.trace.paths.size() - 1) : "");
  input->command = args.command_line;
  return WriteFile(*outputs.report(), HtmlReport(*input));
}

absl::StatusOr<ReplayResult> ReplayLoaded(const ReplayArgs& args, const ReplayOptions& options,
                                          LoadedTrace& trace, ReplayOutputs& outputs) {
  ProgressLine progress(args.quiet);
  ReplayHooks hooks;
  if (!args.report.empty() || !args.decisions.empty()) {
    hooks.on_change = [&](const LimitChange& c) { return outputs.Add(c); };
  }
  if (!args.report.empty() && trace.jobs().size() <= kMaxJobsWithReasons) {
    hooks.on_job_end = [&](JobId job, brain::PolicyPair, Resource r, const brain::Lane& lane) {
      outputs.Keep(job, r, lane.recommender());
    };
  }
  hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t windows) {
    progress.Update(fmt::format("replaying day {} of {}, {} job-windows", done, total, FormatCount(windows)),
                    static_cast<double>(done) / static_cast<double>(total));
  };
  hooks.should_stop = [] { return Interrupted(); };
  return Replay(trace, options, hooks);
}

int PrintResult(const ReplayArgs& args, const ReplayOptions& options, const LoadedTrace& trace,
                const ReplayResult& result) {
  if (args.output != OutputForm::kTable) {
    Print(FormattedText(args.output, ResultJson(result, trace.jobs(), /*with_jobs=*/false)));
  } else {
    Print(StrCat(DescribeInput(trace), ReplayConditions(options, result), "\n\n",
                 ResultTables(result, args.details),
                 args.details ? "" : "--details: by job, promised and delivered, what the columns mean\n"));
    for (const auto& [what, path] : {std::pair{"report", &args.report}, std::pair{"results", &args.json},
                                     std::pair{"decisions", &args.decisions}}) {
      if (!path->empty()) Print(fmt::format("{}: {}\n", what, *path));
    }
  }
  return result.partial || trace.interrupted ? kExitPartial : kExitOk;
}

}  // namespace

absl::Status CheckScored(const ReplayOptions& options, const ReplayResult& result) {
  if (result.partial || result.last_day >= result.first_scored_day) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "--warmup: after {:.3g} days of warm-up no whole day of the trace's {} is left to score",
      static_cast<double>(options.warmup_s) / kDaySeconds, result.last_day - result.first_day + 1));
}

absl::StatusOr<ReplayOptions> ToReplayOptions(const EngineArgs& args) {
  ReplayOptions o;
  for (const brain::PolicyInfo& p : brain::Policies()) {
    if (args.recommenders.empty() && !p.replay_only && !p.on_request) o.policies.emplace_back(p.policy);
  }
  for (const std::string& name : args.recommenders) {
    const absl::StatusOr<brain::PolicyPair> policy = brain::ParsePolicyPair(name);
    if (!policy.ok())
      return absl::InvalidArgumentError(StrCat("--recommender: ", name, ": ", Message(policy.status())));
    if (std::find(o.policies.begin(), o.policies.end(), *policy) == o.policies.end())
      o.policies.push_back(*policy);
  }
  absl::StatusOr<std::vector<Resource>> resources = ToResources(args.resources);
  if (!resources.ok()) return resources.status();
  o.resources = *std::move(resources);
  const absl::StatusOr<int64_t> warmup = ParseDurationSeconds(args.warmup);
  if (!warmup.ok()) return absl::InvalidArgumentError(StrCat("--warmup: ", Message(warmup.status())));
  o.warmup_s = *warmup;
  const absl::StatusOr<int64_t> delay = ParseDurationSeconds(args.restart_delay);
  if (!delay.ok()) return absl::InvalidArgumentError(StrCat("--restart-delay: ", Message(delay.status())));
  o.restart_delay_s = *delay;
  o.cap_at_owner = args.cap_at_owner;
  if (args.feedback != "none" && args.feedback != "oom-restart") {
    return absl::InvalidArgumentError(
        StrCat("--feedback: \"", args.feedback, "\": expected none or oom-restart"));
  }
  o.feedback = args.feedback == "none" ? Feedback::kNone : Feedback::kOomRestart;
  if (absl::Status s = server::RestoreVerticalDefaults(args.compatibility, o.settings); !s.ok())
    return absl::InvalidArgumentError(StrCat("--compatibility: ", Message(s)));
  SettingNotices notices;
  if (!args.settings_file.empty()) {
    absl::StatusOr<server::SettingsFile> settings = server::ReadSettingsFile(args.settings_file, o.settings);
    if (!settings.ok()) return absl::InvalidArgumentError(StrCat(Message(settings.status())));
    o.settings = std::move(settings->settings);
    notices = std::move(settings->notices);
  }
  for (const std::string& assignment : args.set) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos) {
      return absl::InvalidArgumentError(StrCat("--set: expected key=value, not \"", assignment, "\""));
    }
    const absl::Status s = brain::SetVerticalSetting(assignment.substr(0, equals),
                                                     assignment.substr(equals + 1), o.settings, &notices);
    if (!s.ok()) return absl::InvalidArgumentError(StrCat("--set: ", Message(s)));
  }
  for (const std::string& notice : notices) Warn(notice);
  absl::StatusOr<std::optional<brain::JobPolicy>> managed = ReplayMode(args.mode, args.policy);
  if (!managed.ok()) return managed.status();
  o.managed = *std::move(managed);
  if (args.threads < 0) return absl::InvalidArgumentError("--threads: expected 0 (one per core) or more");
  o.threads = args.threads;
  return o;
}

int RunReplay(const ReplayArgs& args) {
  const absl::StatusOr<ReplayOptions> options = ToReplayOptions(args.engine);
  if (!options.ok()) return Fail(options.status());
  CatchInterrupts();
  ReplayOutputs outputs;
  if (absl::Status s = outputs.Open(args); !s.ok()) return Fail(s);
  absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
  if (!trace.ok()) return Fail(trace.status());
  if (absl::Status s = outputs.Begin(**trace); !s.ok()) return Fail(s);
  const absl::StatusOr<ReplayResult> result = ReplayLoaded(args, *options, **trace, outputs);
  if (!result.ok()) {
    if ((*trace)->days().empty()) Print(DescribeInput(**trace));
    return Fail(result.status());
  }
  if (absl::Status s = CheckScored(*options, *result); !s.ok()) {
    Print(DescribeInput(**trace));
    return Fail(s);
  }
  if (absl::Status s = outputs.CloseCsv(); !s.ok()) return Fail(s);
  if (outputs.json() != nullptr) {
    const absl::Status s =
        WriteFile(*outputs.json(), ResultJson(*result, (*trace)->jobs(), /*with_jobs=*/true));
    if (!s.ok()) return Fail(s);
  }
  if (!args.report.empty()) {
    const absl::Status s = WriteReport(args, *options, **trace, *result, outputs);
    if (!s.ok()) return Fail(s);
  }
  return PrintResult(args, *options, **trace, *result);
}

}  // namespace taut::tools
