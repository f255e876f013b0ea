#include "tools/cli/import_command.h"

#include <cmath>
#include <iostream>
#include <iterator>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/settings/file_text.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/terminal.h"
#include "tools/cli/vpa_checkpoints.h"

namespace taut::tools {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

absl::StatusOr<std::string> ReadInput(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::optional<std::string> text = ReadFileText(path, kMostBytes);
  if (!text.has_value()) return absl::NotFoundError(StrCat("cannot read ", path));
  if (text->size() > kMostBytes) return absl::InvalidArgumentError(StrCat(path, ": larger than 1 GiB"));
  return *std::move(text);
}

double FloorOf(const brain::VpaEstimate& e, std::string_view which) {
  return which == "lower" ? e.lower : which == "upper" ? e.upper : e.target;
}
const brain::VpaEstimate& Of(const VpaLearnt& c, Resource r) { return c.estimates[static_cast<size_t>(r)]; }
bool Has(const VpaLearnt& c, Resource r) { return c.has_learnt[static_cast<size_t>(r)]; }

std::string TableOf(const VpaCheckpoints& read) {
  TextTable table({"container", "days", "CPU lower", "target", "upper", "memory lower", "target", "upper"});
  for (const VpaLearnt& c : read.containers) {
    std::vector<std::string> row = {c.job, fmt::format("{:.1f}", c.days)};
    for (const Resource r : kResources) {
      const brain::VpaEstimate& e = Of(c, r);
      for (const double amount : {e.lower, e.target, e.upper}) {
        row.push_back(!Has(c, r) ? "-" : std::isfinite(amount) ? FormatAmount(r, amount) : "none");
      }
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

Json CheckpointsJson(const VpaCheckpoints& read) {
  Json out = Json::array();
  for (const VpaLearnt& c : read.containers) {
    Json one = {{"job", c.job}, {"days", c.days}};
    for (const Resource r : kResources) {
      if (!Has(c, r)) continue;
      const brain::VpaEstimate& e = Of(c, r);
      Json its = {{"lower", e.lower}, {"target", e.target}};
      if (std::isfinite(e.upper)) its["upper"] = e.upper;
      one[std::string(Name(r))] = its;
    }
    out.push_back(one);
  }
  return {{"containers", out}, {"warnings", read.warnings}};
}

// Formats the containers' lower bounds as rules for tautd.yaml.
std::string RulesOf(const VpaCheckpoints& read, const std::string& floor) {
  Json rules = Json::array();
  for (const VpaLearnt& c : read.containers) {
    Json set = Json::object();
    for (const Resource r : kResources) {
      const double amount = FloorOf(Of(c, r), floor);
      if (!Has(c, r) || !std::isfinite(amount)) continue;
      set[StrCat(Name(r), ".lower")] =
          InCores(r) ? fmt::format("{:.3f}", amount) : fmt::format("{:.0f}", std::ceil(amount));
    }
    if (set.empty()) continue;
    rules.push_back({{"name", fmt::format("VPA, {} of {:.1f} days", floor, c.days)},
                     {"match", {{"job", c.job}}},
                     {"set", set}});
  }
  return YamlText({{"rules", rules}});
}

}  // namespace

int RunImport(const ImportArgs& args) {
  const NamedPath rules{"--rules", args.rules};
  if (absl::Status s = CheckOutputs({&rules, 1}, {&args.file, 1}); !s.ok()) return Fail(s);
  const absl::StatusOr<std::string> text = ReadInput(args.file);
  if (!text.ok()) return Fail(text.status());
  const absl::StatusOr<VpaCheckpoints> read = ReadVpaCheckpoints(*text, args.cluster, brain::VpaSettings());
  if (!read.ok()) return Fail(absl::InvalidArgumentError(StrCat(args.file, ": ", Message(read.status()))));
  for (const std::string& warning : read->warnings) Warn(StrCat("left out: ", warning));
  Show(args.output, CheckpointsJson(*read), [&] { return TableOf(*read); });
  if (args.rules.empty()) return kExitOk;
  absl::StatusOr<std::unique_ptr<OutputFile>> out = OpenOutput(rules);
  if (!out.ok()) return Fail(out.status());
  (*out)->Append(RulesOf(*read, args.floor));
  const absl::Status closed = (*out)->Close();
  return closed.ok() ? kExitOk : Fail(closed);
}

const char* const kImportHelp =
    "Reads VerticalPodAutoscalerCheckpoints and prints the VPA's target for each container. --rules writes "
    "rules\nfor tautd.yaml that keep limits at or above it, because the first recommendations of a job "
    "rest on few days;\ndelete the rules after a week or two.\n\n"
    "Examples:\n"
    "  kubectl get vpa,vpacheckpoint -A -o json | taut trace import vpa -\n"
    "  taut trace import vpa checkpoints.json --rules vpa_rules.yaml --floor target";

void AddImport(CLI::App& verb, ImportArgs& args) {
  verb.add_option("what", args.what, "vpa: VerticalPodAutoscalerCheckpoints")
      ->required()
      ->check(OneOf({"vpa"}));
  verb.add_option("file", args.file,
                  "output of `kubectl get vpa,vpacheckpoint -A -o json`; -: standard input")
      ->required()
      ->type_name("FILE");
  verb.add_option("--rules", args.rules, "write rules of tautd.yaml to this file")->type_name("FILE");
  verb.add_option("--floor", args.floor,
                  "the VPA's amount for cpu.lower and memory.lower of the rules: lower, target, upper")
      ->check(OneOf({"lower", "target", "upper"}))
      ->capture_default_str();
  verb.add_option("--cluster", args.cluster, "first part of the names of jobs, as kubernetes.cluster");
  AddOutputForm(verb, args.output);
}

}  // namespace taut::tools
