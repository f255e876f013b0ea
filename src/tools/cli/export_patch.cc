#include "tools/cli/export_patch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/export_groups.h"
#include "tools/cli/export_values.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

struct Kind {
  std::string_view name, kind, version;
  bool has_job_template = false;
};
constexpr Kind kKinds[] = {
    {"deployment", "Deployment", "apps/v1"},  {"statefulset", "StatefulSet", "apps/v1"},
    {"daemonset", "DaemonSet", "apps/v1"},    {"replicaset", "ReplicaSet", "apps/v1"},
    {"cronjob", "CronJob", "batch/v1", true},
};

// A workload whose pod template can be changed.
struct Patched {
  std::string namespace_name, name;
  const Kind* kind = nullptr;
  auto operator<=>(const Patched&) const = default;
};

// Returns the workload of a job that is a container; nullopt if the job is not a container of a workload whose pod
// template can be changed.
std::optional<Patched> PatchedOf(const Workload& of) {
  if (of.source != Source::kKubernetes || of.namespace_name.empty() || of.container.empty())
    return std::nullopt;
  const auto* const kind = std::ranges::find(kKinds, of.kind, &Kind::name);
  if (kind == std::end(kKinds)) return std::nullopt;
  return Patched{of.namespace_name, of.name, kind};
}

// Returns true if the job would be patched if it were a container. With the setting ingest.kubernetes_jobs: pods,
// a job is a whole pod and not a container.
bool IsOfPods(Workload of) {
  if (!of.container.empty()) return false;
  of.container = "any";
  return PatchedOf(of).has_value();
}

void AddAmount(const char* resource, const std::optional<double>& amount, std::string& out) {
  if (!amount.has_value()) return;
  const Resource r = std::string_view(resource) == "cpu" ? Resource::kCpu : Resource::kMemory;
  StrAppend(&out, out.empty() ? "" : ", ", resource, ": ", QuantityText(r, *amount));
}

// Formats an amount as a Kubernetes quantity. Rounds memory up to whole mebibytes.
std::string AmountText(bool is_cpu, double amount) {
  return is_cpu ? QuantityText(Resource::kCpu, amount)
                : QuantityText(Resource::kMemory, std::ceil(amount / kMiB) * kMiB);
}

// Returns the risk of the recommended amount in the wording of the web pages. If the target is a share of work,
// the risk is the share of work above the amount. Otherwise it is the forecast and the job's past days, or only
// the past days. Returns "" if no risk is known.
std::string RiskText(const char* resource, const ExportedJob& job) {
  const auto amount = [&](const char* key) { return AmountOf(job.job, resource, key); };
  if (const std::optional<double> work = amount("work_over"); work.has_value()) {
    const std::optional<double> ordered = amount("work_ordered");
    return StrCat(PercentText(*work),
                  std::string_view(resource) == "cpu" ? " of its work throttled" : " of its work above it",
                  ordered.has_value() ? StrCat(", risk target ", PercentText(*ordered)) : "");
  }
  const std::optional<double> days = amount("days"), over = amount("days_over");
  const std::string past = days.value_or(0) > 0 && over.has_value()
                               ? fmt::format("{:.0f} of {:.0f} days went above it", *over, *days)
                               : "";
  const std::optional<double> chance = amount("chance");
  if (!chance.has_value()) return past;
  return StrCat("chance of a day above it ", FormatChance(*chance), past.empty() ? "" : ", ", past);
}

// Returns text such as "2000m → 124m", or "no request → 124m" if `now` is absent.
std::string ChangeText(std::string_view field, bool is_cpu, const std::optional<double>& now, double then) {
  return StrCat(now.has_value() ? AmountText(is_cpu, *now) : StrCat("no ", field), " \u2192 ",
                AmountText(is_cpu, then));
}

// Returns the change of a job's amounts as text. For a container, the text contains request and limit, because a
// cluster bills requests. For any other job, it contains the amount only.
std::string FromTo(const char* resource, const ExportedJob& job, const ContainerResources& plan) {
  const bool is_cpu = std::string_view(resource) == "cpu";
  const ContainerResources has = AmountsNow(job.job, resource);
  const bool known = At(At(job.job, "container"), resource).is_object();
  if (!known && (IsOfRequest(job.job, resource) || !has.request.has_value())) {
    return ChangeText(IsOfRequest(job.job, resource) ? "request" : "limit", is_cpu,
                      AmountOf(job.job, resource, "owner_limit"), *AmountOf(job.job, resource, "would_be"));
  }
  std::string out;
  const auto add = [&](const char* field, const std::optional<double>& planned) {
    if (!planned.has_value()) return;
    const std::optional<double>& now = std::string_view(field) == "request" ? has.request : has.limit;
    StrAppend(&out, out.empty() ? "" : ", ", now.has_value() ? StrCat(field, " ") : "",
              ChangeText(field, is_cpu, now, *planned));
  };
  add("request", plan.request);
  add("limit", plan.limit);
  return out;
}

// Appends a comment such as "memory 512Mi → 96Mi, peak of 7 days 80Mi, chance of a day above it 2 % (why)".
void AddComment(const char* resource, const ExportedJob& job, const ContainerResources& plan,
                ContainerChange& change) {
  const bool is_cpu = std::string_view(resource) == "cpu";
  const std::string why = SentenceOf(job, resource);
  StrAppend(&change.comment, change.comment.empty() ? "" : "; ", resource, " ", FromTo(resource, job, plan));
  if (const std::optional<double> peak = AmountOf(job.job, resource, kPeakOfWeek); peak.has_value())
    StrAppend(&change.comment, ", peak of 7 days ", AmountText(is_cpu, *peak));
  if (const std::string risk = RiskText(resource, job); !risk.empty()) StrAppend(&change.comment, ", ", risk);
  StrAppend(&change.comment, why.empty() ? "" : StrCat(" (", why, ")"));
}

ContainerChange ChangeOf(const PatchOptions& options, const Patched& workload, const ExportedJob& job) {
  const ExportPlan plan = PlanExport(options, job.job);
  ContainerChange out;
  out.namespace_name = workload.namespace_name;
  out.kind = std::string(workload.kind->name);
  out.workload = workload.name;
  out.container = WorkloadOf(job.job).container;
  out.is_init = IsInitContainer(job.job);
  for (const char* resource : {"cpu", "memory"}) {
    const ContainerResources& amounts = std::string_view(resource) == "cpu" ? plan.cpu : plan.memory;
    if (amounts == ContainerResources()) continue;
    AddAmount(resource, amounts.request, out.requests);
    AddAmount(resource, amounts.limit, out.limits);
    AddComment(resource, job, amounts, out);
  }
  if (out.comment.empty() || !plan.left_out.empty()) {
    StrAppend(&out.comment, out.comment.empty() ? "" : "; ",
              plan.left_out.empty() ? NoneYetText(job.job) : plan.left_out);
  }
  return out;
}

// Appends the list of init containers if `init`, else of the other containers. Appends nothing for an empty list.
void AddContainers(const std::vector<ContainerChange>& changes, bool init, const std::string& indent,
                   std::vector<std::string>& out) {
  bool is_first = true;
  for (const ContainerChange& change : changes) {
    if (change.is_init != init) continue;
    if (is_first) out.push_back(StrCat(indent, init ? "initContainers:" : "containers:"));
    is_first = false;
    out.push_back(StrCat(indent, "# ", change.comment));
    out.push_back(StrCat(indent, "- name: ", YamlScalar(change.container)));
    out.push_back(StrCat(indent, "  resources:"));
    if (!change.requests.empty()) out.push_back(StrCat(indent, "    requests: {", change.requests, "}"));
    if (!change.limits.empty()) out.push_back(StrCat(indent, "    limits: {", change.limits, "}"));
  }
}

// Returns the lines of one workload's patch without indentation.
std::vector<std::string> PatchLines(const Patched& workload, const std::vector<ContainerChange>& changes) {
  std::vector<std::string> out = {StrCat("apiVersion: ", workload.kind->version),
                                  StrCat("kind: ", workload.kind->kind),
                                  StrCat("metadata: {name: ", YamlScalar(workload.name),
                                         ", namespace: ", YamlScalar(workload.namespace_name), "}"),
                                  "spec:"};
  std::string indent = "  ";
  const auto open = [&](std::string_view key) {
    out.push_back(StrCat(indent, key, ":"));
    indent += "  ";
  };
  if (workload.kind->has_job_template) {
    open("jobTemplate");
    open("spec");
  }
  open("template");
  open("spec");
  for (const bool init : {true, false}) AddContainers(changes, init, indent, out);
  return out;
}

void AddKustomize(const Patched& workload, const std::vector<std::string>& lines, std::string& out) {
  StrAppend(&out, "- target: {kind: ", workload.kind->kind, ", name: ", YamlScalar(workload.name),
            ", namespace: ", YamlScalar(workload.namespace_name), "}\n  patch: |-\n");
  for (const std::string& line : lines) StrAppend(&out, "    ", line, "\n");
}

}  // namespace

std::string YamlScalar(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ContainerChange> ChangeOfJob(const PatchOptions& options, const ExportedJob& job) {
  const std::optional<Patched> workload = PatchedOf(WorkloadOf(job.job));
  if (!workload.has_value()) return std::nullopt;
  return ChangeOf(options, *workload, job);
}

std::string WhyNoChange(const PatchOptions& options, const std::vector<ExportedJob>& jobs) {
  size_t of_pods = 0, of_others = 0;
  std::map<std::string, size_t> unchanged;  // number of unchanged jobs by reason
  for (const ExportedJob& job : JoinGroups(jobs)) {
    const std::optional<ContainerChange> change = ChangeOfJob(options, job);
    if (change.has_value() && (!change->requests.empty() || !change->limits.empty())) return "";
    if (change.has_value()) {
      ++unchanged[change->comment];
    } else {
      ++(IsOfPods(WorkloadOf(job.job)) ? of_pods : of_others);
    }
  }
  std::string out;
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0)
      StrAppend(&out, out.empty() ? "nothing to write: " : "; ", count, count == 1 ? " job" : " jobs", what);
  };
  add(of_pods,
      " of whole pods, whose containers are not known: set ingest.kubernetes_jobs: containers in tautd's "
      "configuration");
  add(of_others, " of no workload of Kubernetes whose template can be changed");
  for (const auto& [why, count] : unchanged) add(count, StrCat(": ", why));
  return out;
}

std::string WhyNotOneCluster(const PatchOptions& options, const std::vector<ExportedJob>& jobs) {
  std::set<std::string> clusters;
  for (const ExportedJob& job : JoinGroups(jobs)) {
    const std::optional<ContainerChange> change = ChangeOfJob(options, job);
    if (change.has_value() && (!change->requests.empty() || !change->limits.empty()))
      clusters.insert(WorkloadOf(job.job).cell);
  }
  if (clusters.size() < 2) return "";
  std::vector<std::string> names;
  for (const std::string& cluster : clusters)
    names.push_back(cluster.empty() ? "none" : StrCat("\"", cluster, "\""));
  return StrCat("the jobs are of several clusters (", Join(names, ", "),
                "), and patches are of one: add a word that only the names of one have, such as ",
                *clusters.rbegin(), "/");
}

std::string PatchText(PatchForm form, const PatchOptions& options, const std::vector<ExportedJob>& jobs) {
  std::map<Patched, std::vector<ContainerChange>> workloads;
  std::string left;
  for (const ExportedJob& job : JoinGroups(jobs)) {
    const std::string name = TextOf(job.job, "name");
    const std::optional<Patched> workload = PatchedOf(WorkloadOf(job.job));
    if (!workload.has_value()) {
      StrAppend(&left, "# ", name, ": not a container of a workload whose template can be changed\n");
      continue;
    }
    ContainerChange change = ChangeOf(options, *workload, job);
    if (change.requests.empty() && change.limits.empty()) {
      StrAppend(&left, "# ", name, ": ", change.comment, "\n");
    } else {
      workloads[*workload].push_back(std::move(change));
    }
  }
  std::string out = form == PatchForm::kKustomize
                        ? "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches:\n"
                        : "";
  for (const auto& [workload, changes] : workloads) {
    const std::vector<std::string> lines = PatchLines(workload, changes);
    if (form == PatchForm::kKustomize) {
      AddKustomize(workload, lines, out);
      continue;
    }
    StrAppend(&out, "---\n");
    for (const std::string& line : lines) StrAppend(&out, line, "\n");
  }
  if (form == PatchForm::kKustomize && workloads.empty()) out += "  []\n";
  return out + left;
}

}  // namespace taut::tools
