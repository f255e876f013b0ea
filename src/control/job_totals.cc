#include "control/job_totals.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace taut {
namespace {

const std::string* ValueOf(const JobRecord& record, std::string_view label) {
  for (const auto& [key, value] : record.labels) {
    if (key == label) return &value;
  }
  return nullptr;
}

double SavingShare(const JobTotals& totals, const FleetPoint& fleet) {
  double share = 0;
  for (const Resource r : kResources) {
    const auto at = static_cast<size_t>(r);
    const double all = fleet.amounts[at].owner_limit;
    if (all > 0) share += totals.amounts[at].would_save / all;
  }
  return share;
}

}  // namespace

void JobTotals::Add(const JobView& job) {
  ++jobs;
  tasks += job.tasks;
  for (const Resource r : kResources) {
    const JobAmounts& a = job.of(r);
    TotalAmounts& sum = amounts[static_cast<size_t>(r)];
    const auto add = [&](float amount, double& to) {
      if (amount >= 0) to += double{amount} * job.tasks;
    };
    add(a.usage, sum.usage);
    add(a.owner_limit, sum.owner_limit);
    add(a.limit, sum.limit);
    add(a.would_be, sum.would_be);
    if (a.owner_limit >= 0 && a.limit >= 0) sum.saved += (double{a.owner_limit} - a.limit) * job.tasks;
    sum.would_save += a.saving().value_or(0) * job.tasks;
  }
}

std::vector<LabelTotals> TotalsByLabel(const FleetView& view, std::string_view label,
                                       const JobsQuery& which) {
  const std::vector<bool> fits = which.search.empty() ? std::vector<bool>() : JobsThatFit(view, which.search);
  std::vector<LabelTotals> out;
  std::unordered_map<std::string_view, size_t> by_value;
  std::optional<size_t> without;
  for (const JobView& job : view.jobs) {
    if (which.mode.has_value() && job.mode != *which.mode) continue;
    const uint32_t id = job.record->id.value;
    if (!which.search.empty() && (id >= fits.size() || !fits[id])) continue;
    const std::string* value = ValueOf(*job.record, label);
    size_t at = out.size();
    if (value != nullptr) {
      at = by_value.try_emplace(*value, at).first->second;
    } else {
      at = without.value_or(at);
      without = at;
    }
    if (at == out.size()) {
      out.push_back({value != nullptr ? std::optional(*value) : std::nullopt, {}});
    }
    out[at].totals.Add(job);
  }
  std::sort(out.begin(), out.end(), [&](const LabelTotals& a, const LabelTotals& b) {
    const double x = SavingShare(a.totals, view.point), y = SavingShare(b.totals, view.point);
    return x != y ? x > y : a.value < b.value;
  });
  return out;
}

std::vector<std::string> LabelNames(const FleetView& view) {
  std::set<std::string_view> names;
  for (const JobView& job : view.jobs) {
    for (const auto& [key, value] : job.record->labels) names.insert(key);
  }
  return {names.begin(), names.end()};
}

}  // namespace taut
