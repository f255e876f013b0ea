#include "tools/cli/export_groups.h"

#include <algorithm>
#include <map>
#include <string>

#include "common/base/strings.h"
#include "tools/cli/export_values.h"

namespace taut::tools {
namespace {

// Appends to the reason a sentence that names the job with the workload's largest recommendation.
void NoteGroup(ExportedJob& job, const char* resource, std::string_view from) {
  Json& why = job.why;
  if (!why.is_object()) why = Json::object();
  if (!why.contains(resource) || !why[resource].is_object()) why[resource] = Json::object();
  const std::string sentence = SentenceOf(job, resource);
  why[resource]["reason"]["sentence"] =
      StrCat(sentence, sentence.empty() ? "" : "; ", "the largest of the workload's jobs: ", from);
}

double LastSeen(const ExportedJob& job) {
  return job.job.contains("last_seen") && job.job["last_seen"].is_number()
             ? job.job["last_seen"].get<double>()
             : 0;
}

// Returns the name of the job that the workload would have without groups.
std::string WholeName(const ExportedJob& job) {
  Workload workload = WorkloadOf(job.job);
  if (workload.group.empty()) return TextOf(job.job, "name");
  workload.group.clear();
  return workload.JobName();
}

bool IsOfGroup(const ExportedJob& job) { return !WorkloadOf(job.job).group.empty(); }

// Drops the job of the whole workload if the groups have newer usage. tautd keeps such a job for weeks after the
// workload was split into groups.
void DropFormer(std::vector<const ExportedJob*>& groups) {
  constexpr double kFormerSeconds = 3600;
  double newest = 0;
  for (const ExportedJob* group : groups) newest = std::max(newest, LastSeen(*group));
  std::erase_if(groups, [&](const ExportedJob* group) {
    return !IsOfGroup(*group) && LastSeen(*group) < newest - kFormerSeconds;
  });
}

}  // namespace

std::vector<ExportedJob> JoinGroups(const std::vector<ExportedJob>& jobs) {
  std::map<std::string, std::vector<const ExportedJob*>> by_name;
  for (const ExportedJob& job : jobs) by_name[WholeName(job)].push_back(&job);
  for (auto& [name, groups] : by_name) DropFormer(groups);
  std::vector<ExportedJob> out;
  for (const ExportedJob& job : jobs) {
    const std::string name = WholeName(job);
    const std::vector<const ExportedJob*>& groups = by_name[name];
    // the first group's entry includes this job, or DropFormer() dropped the job
    if (groups.front() != &job) continue;
    if (groups.size() == 1 && !IsOfGroup(job)) {
      out.push_back(job);
      continue;
    }
    ExportedJob& joined = out.emplace_back(job);
    if (IsOfGroup(job)) joined.job["workload"]["group"] = nullptr;
    joined.job["name"] = name;
    for (const char* resource : {"cpu", "memory"}) {
      const ExportedJob* most = nullptr;
      for (const ExportedJob* group : groups) {
        const std::optional<double> amount = AmountOf(group->job, resource, "would_be");
        if (amount.has_value() && (most == nullptr || *amount > *AmountOf(most->job, resource, "would_be")))
          most = group;
      }
      if (most == nullptr) continue;
      joined.job[resource] = most->job[resource];
      if (most->why.is_object() && most->why.contains(resource)) joined.why[resource] = most->why[resource];
      NoteGroup(joined, resource, TextOf(most->job, "name"));
    }
  }
  return out;
}

}  // namespace taut::tools
