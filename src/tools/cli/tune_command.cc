// taut tune: replays a sweep over settings, shows the Pareto frontier, and writes a settings file for replay.
#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "common/base/strings.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "server/config/settings_file.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr size_t kMaxCombinations = 10000;

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

// Results of one resource, summed over all jobs with their weights.
struct Weighted {
  double limit = 0, owner = 0, usage = 0, oom_days = 0, changes = 0, job_days = 0;
  double footprint() const { return owner > 0 ? limit / owner : usage > 0 ? limit / usage : 0; }
  double oom_share() const { return job_days > 0 ? oom_days / job_days : 0; }
  double change_rate() const { return job_days > 0 ? changes / job_days : 0; }
};

struct Trial {
  // one value per axis; empty: the given settings, which are not part of the sweep
  std::vector<std::string> values;
  brain::VerticalSettings settings;
  std::map<Resource, Weighted> measures;
  bool on_frontier = false;
};

absl::StatusOr<Axis> ParseAxis(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError(StrCat("--sweep: expected key=value,value, not ", text));
  }
  Axis axis{text.substr(0, equals), {}};
  // Commas within brackets do not separate values: ensemble.margins=[0,0.1],[0,0.2] has two values.
  std::string value;
  int depth = 0;
  for (char c : text.substr(equals + 1)) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      axis.values.push_back(std::move(value));
      value.clear();
    } else {
      value += c;
    }
  }
  axis.values.push_back(std::move(value));
  brain::VerticalSettings scratch;
  SettingNotices notices;
  for (const std::string& v : axis.values) {
    if (absl::Status s = brain::SetVerticalSetting(axis.key, v, scratch, &notices); !s.ok()) {
      return absl::InvalidArgumentError(StrCat("--sweep: ", Message(s)));
    }
  }
  if (!notices.empty()) Warn(StrCat("--sweep: ", notices.front()));
  return axis;
}

absl::StatusOr<std::vector<Trial>> Combine(const std::vector<Axis>& axes,
                                           const brain::VerticalSettings& base) {
  size_t count = 1;
  for (const Axis& a : axes) count *= a.values.size();
  if (count > kMaxCombinations) {
    return absl::InvalidArgumentError(
        fmt::format("{} combinations are more than {}", count, kMaxCombinations));
  }
  std::vector<Trial> trials;
  for (size_t i = 0; i < count; ++i) {
    Trial t{{}, base, {}};
    size_t rest = i;
    for (const Axis& a : axes) {
      t.values.push_back(a.values[rest % a.values.size()]);
      rest /= a.values.size();
      if (absl::Status s = brain::SetVerticalSetting(a.key, t.values.back(), t.settings); !s.ok()) return s;
    }
    trials.push_back(std::move(t));
  }
  return trials;
}

absl::StatusOr<std::vector<double>> ReadWeights(const std::string& path, const LoadedTrace& trace) {
  std::vector<double> weights(trace.jobs().size(), 1.0);
  if (path.empty()) return weights;
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(StrCat("cannot read the weights file ", path));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = StripSpace(line);
    if (text.empty() || text[0] == '#' || (number == 1 && text == "job,weight")) continue;
    const size_t comma = text.rfind(',');
    const std::optional<double> weight =
        comma == std::string_view::npos ? std::nullopt : ParseDouble(StripSpace(text.substr(comma + 1)));
    if (!weight.has_value() || *weight < 0) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: expected job,weight with a weight of 0 or more", path, number));
    }
    const std::string name(text.substr(0, comma));
    const absl::StatusOr<JobId> job = trace.FindJob(name);
    if (!job.ok())
      return absl::InvalidArgumentError(fmt::format("{}:{}: {}", path, number, Message(job.status())));
    if (trace.jobs()[job->value].name != name)  // the file of weights must contain complete names
      return absl::InvalidArgumentError(fmt::format("{}:{}: no job \"{}\" in the trace", path, number, name));
    weights[job->value] = *weight;
  }
  return weights;
}

std::map<Resource, Weighted> Measure(const ReplayResult& result, const std::vector<double>& weights) {
  std::map<Resource, Weighted> out;
  for (const LaneResult& lane : result.lanes) {
    Weighted& w = out[lane.resource];
    for (size_t i = 0; i < lane.per_job.size(); ++i) {
      const Totals& t = lane.per_job[i];
      w.limit += weights[i] * (t.owner_limit_seconds > 0 ? t.limit_seconds_owned : t.limit_seconds);
      w.owner += weights[i] * t.owner_limit_seconds;
      w.usage += weights[i] * t.usage_seconds;
      w.oom_days += weights[i] * static_cast<double>(t.oom_days);
      w.changes += weights[i] * static_cast<double>(t.changes);
      w.job_days += weights[i] * static_cast<double>(t.job_days);
    }
  }
  return out;
}

// Marks the trials on the Pareto frontier of footprint, OOM-days and changes.
void MarkFrontier(Resource resource, std::vector<Trial>& trials) {
  for (Trial& t : trials) {
    const Weighted& a = t.measures[resource];
    t.on_frontier = std::none_of(trials.begin(), trials.end(), [&](Trial& other) {
      const Weighted& b = other.measures[resource];
      const bool no_worse = b.footprint() <= a.footprint() && b.oom_share() <= a.oom_share() &&
                            b.change_rate() <= a.change_rate();
      const bool better =
          b.footprint() < a.footprint() || b.oom_share() < a.oom_share() || b.change_rate() < a.change_rate();
      return no_worse && better;
    });
  }
}

struct Sweep {
  std::vector<Axis> axes;
  std::vector<Trial> trials;
  Resource resource = Resource::kMemory;
  bool partial = false;
};

// Returns the term for days with usage above the limit of this resource.
std::string_view DaysOver(Resource resource) {
  return ThrottlesAtLimit(resource) ? "throttled days" : "OOM-days";
}

// Returns the cheapest trial that meets the targets; nullptr if no trial does. The given settings are one of the
// trials, so the result is never worse than given settings that meet the targets.
const Trial* Choose(const TuneArgs& args, Resource resource, std::vector<Trial>& trials) {
  const Trial* best = nullptr;
  for (Trial& t : trials) {
    const Weighted& w = t.measures[resource];
    if (w.oom_share() > args.oom_days || w.change_rate() > args.changes) continue;
    if (best == nullptr || w.footprint() < best->measures.at(resource).footprint()) best = &t;
  }
  return best;
}

// Returns the trial with the fewest days above the limit. Considers only the trials that meet the target of
// changes, if there are such trials. REQUIRES: there are trials.
const Trial* Nearest(const TuneArgs& args, const Sweep& sweep) {
  const auto rank = [&](const Trial& t) {
    const Weighted& w = t.measures.at(sweep.resource);
    return std::pair(w.change_rate() > args.changes, w.oom_share());
  };
  return &*std::ranges::min_element(sweep.trials, {}, rank);
}

// Returns a text about the nearest settings if no settings meet the targets.
std::string NothingWithin(const TuneArgs& args, const Sweep& sweep, const Trial& nearest) {
  const Weighted& w = nearest.measures.at(sweep.resource);
  return fmt::format(
      "no settings tried are within {} % of {} (--oom-days) and {} changes per job-day (--changes); the "
      "nearest, with "
      "{:.2f} % and {:.2f} changes, are chosen. Allow more, or try other settings with --sweep",
      100 * args.oom_days, DaysOver(sweep.resource), args.changes, 100 * w.oom_share(), w.change_rate());
}

// Returns true if a setting such as "ensemble.cpu_w_over" affects limits of the resource. A common setting has no
// effect if the resource has a setting of its own.
bool Moves(std::string_view key, Resource resource) {
  const size_t dot = key.find('.') + 1;
  const std::string_view name = key.substr(dot);
  for (const Resource r : kResources) {
    if (r != resource && name.starts_with(StrCat(Name(r), "_"))) return false;
  }
  const std::string own = StrCat(key.substr(0, dot), Name(resource), "_", name);
  return std::ranges::none_of(brain::VerticalSettingRows(),
                              [&](const brain::VerticalSetting& s) { return s.key == own; });
}

// Returns the recommender's default sweep for one resource.
std::vector<std::string> UsualSweep(brain::Policy policy, Resource resource) {
  std::vector<std::string> out;
  for (const std::string_view text : brain::InfoOf(policy).sweep) {
    if (Moves(text.substr(0, text.find('=')), resource)) out.emplace_back(text);
  }
  return out;
}

absl::StatusOr<Sweep> RunSweep(const TuneArgs& args, ReplayOptions options) {
  if (options.policies.size() != 1) {
    return absl::InvalidArgumentError(
        "tune needs one --recommender: ensemble, moving_window, analogs, peak or vpa");
  }
  Sweep sweep;
  sweep.resource = options.resources.size() == 1 ? options.resources.front() : Resource::kMemory;
  const brain::PolicyPair pair = options.policies.front();
  const std::optional<brain::Policy> one = pair.one();
  if (!one.has_value() && args.sweep.empty())
    return absl::InvalidArgumentError(
        StrCat("--sweep: ", Name(pair), " has no usual grid; give the settings"));
  options.resources = {sweep.resource};  // the other resource's result would not be used
  const std::vector<std::string> wanted = args.sweep.empty() ? UsualSweep(*one, sweep.resource) : args.sweep;
  for (const std::string& text : wanted) {
    absl::StatusOr<Axis> axis = ParseAxis(text);
    if (!axis.ok()) return axis.status();
    sweep.axes.push_back(*std::move(axis));
  }
  absl::StatusOr<std::vector<Trial>> trials = Combine(sweep.axes, options.settings);
  if (!trials.ok()) return trials.status();
  // Add the given settings as a trial, so that the choice can be compared with them.
  const std::string given = server::WriteSettings(options.settings, /*only_changed=*/false);
  const bool has_given = std::any_of(trials->begin(), trials->end(), [&](const Trial& t) {
    return server::WriteSettings(t.settings, /*only_changed=*/false) == given;
  });
  if (!has_given) trials->insert(trials->begin(), Trial{{}, options.settings, {}});
  CatchInterrupts();
  absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
  if (!trace.ok()) return trace.status();
  const absl::StatusOr<std::vector<double>> weights = ReadWeights(args.weights, **trace);
  if (!weights.ok()) return weights.status();
  ProgressLine progress(args.quiet);
  for (size_t i = 0; i < trials->size(); ++i) {
    Trial& t = (*trials)[i];
    options.settings = t.settings;
    ReplayHooks hooks;
    hooks.should_stop = [] { return Interrupted(); };
    hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t) {
      const double within = static_cast<double>(done) / static_cast<double>(total);
      progress.Update(fmt::format("trial {} of {}", i + 1, trials->size()),
                      (static_cast<double>(i) + within) / static_cast<double>(trials->size()));
    };
    const absl::StatusOr<ReplayResult> result = Replay(**trace, options, hooks);
    if (!result.ok()) return result.status();
    if (absl::Status s = CheckScored(options, *result); !s.ok()) return s;
    if (result->partial) {
      sweep.partial = true;
      break;
    }
    t.measures = Measure(*result, *weights);
    sweep.trials.push_back(std::move(t));
  }
  MarkFrontier(sweep.resource, sweep.trials);
  return sweep;
}

std::string SweepTable(const Sweep& sweep, const Trial* chosen) {
  std::vector<std::string> head;
  for (const Axis& a : sweep.axes) head.push_back(a.key.substr(a.key.find('.') + 1));
  if (head.empty()) head.push_back("settings");
  const std::string days(DaysOver(sweep.resource));
  for (const std::string& name : {std::string("footprint"), days, std::string("changes"), std::string()})
    head.push_back(name);
  TextTable table(head);
  std::vector<const Trial*> order;
  for (const Trial& t : sweep.trials) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [&](const Trial* a, const Trial* b) {
    return a->measures.at(sweep.resource).footprint() < b->measures.at(sweep.resource).footprint();
  });
  for (const Trial* t : order) {
    if (!t->on_frontier && t != chosen) continue;
    const Weighted& w = t->measures.at(sweep.resource);
    std::vector<std::string> row = t->values;
    if (row.empty()) {
      row.resize(std::max<size_t>(sweep.axes.size(), 1));
      row.front() = "as given";
    }
    row.push_back(fmt::format("{:.1f} %", 100 * w.footprint()));
    row.push_back(fmt::format("{:.2f} %", 100 * w.oom_share()));
    row.push_back(fmt::format("{:.2f}", w.change_rate()));
    row.push_back(t == chosen ? "<- chosen" : "");
    table.Add(std::move(row));
  }
  return fmt::format(
      "Frontier over {} trials ({}; footprint as a share of the owner's, changes per job-day):\n\n{}{}",
      sweep.trials.size(), Name(sweep.resource), table.Render(),
      sweep.resource == Resource::kMemory ? "\ncpu: tune it by itself, with --resource cpu\n" : "");
}

std::string SweepJson(const Sweep& sweep, const Trial* chosen) {
  nlohmann::ordered_json j;
  j["format"] = "taut-tune/1";
  j["partial"] = sweep.partial;
  j["trials"] = nlohmann::ordered_json::array();
  for (const Trial& t : sweep.trials) {
    nlohmann::ordered_json trial;
    trial["settings"] = nlohmann::ordered_json::object();
    for (size_t i = 0; i < t.values.size(); ++i) trial["settings"][sweep.axes[i].key] = t.values[i];
    for (const auto& [resource, w] : t.measures) {
      trial[std::string(Name(resource))] = {{"footprint", w.footprint()},
                                            {"oom_day_share", w.oom_share()},
                                            {"changes_per_job_day", w.change_rate()}};
    }
    trial["on_frontier"] = t.on_frontier;
    trial["chosen"] = &t == chosen;
    j["trials"].push_back(std::move(trial));
  }
  return j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

absl::Status Tune(const TuneArgs& args, bool* partial) {
  absl::StatusOr<ReplayOptions> options = ToReplayOptions(args.engine);
  if (!options.ok()) return options.status();
  const NamedPath out{"--out", args.out};
  std::vector<std::string> inputs = args.trace.paths;
  inputs.push_back(args.engine.settings_file);
  inputs.push_back(args.weights);
  if (absl::Status s = CheckOutputs({&out, 1}, inputs); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(out);
  if (!file.ok()) return file.status();
  absl::StatusOr<Sweep> sweep = RunSweep(args, *std::move(options));
  if (!sweep.ok()) return sweep.status();
  *partial = sweep->partial;
  const Trial* chosen = Choose(args, sweep->resource, sweep->trials);
  const bool within = chosen != nullptr;
  if (!within && !sweep->partial && !sweep->trials.empty()) chosen = Nearest(args, *sweep);
  Print(args.output == OutputForm::kTable ? SweepTable(*sweep, chosen)
                                          : FormattedText(args.output, SweepJson(*sweep, chosen)));
  if (sweep->partial) Warn("interrupted: only the trials shown were run");
  if (sweep->trials.empty()) return absl::OkStatus();
  if (chosen == nullptr) return absl::OkStatus();  // an interrupt prevented the choice
  if (!within) Warn(NothingWithin(args, *sweep, *chosen));
  if (*file == nullptr) return absl::OkStatus();
  (*file)->Append(server::WriteSettings(chosen->settings, /*only_changed=*/true));
  if (absl::Status s = (*file)->Close(); !s.ok()) return s;
  if (args.output == OutputForm::kTable) Print(fmt::format("\nsettings: {}\n", args.out));
  return absl::OkStatus();
}

}  // namespace

int RunTune(const TuneArgs& args) {
  bool partial = false;
  const absl::Status status = Tune(args, &partial);
  if (status.ok()) return partial ? kExitPartial : kExitOk;
  PrintError(Message(status));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
