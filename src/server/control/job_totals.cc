#include "server/control/job_totals.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <unordered_map>

#include "brain/fleet/risk_table.h"
#include "common/base/strings.h"
#include "common/model/labels.h"

namespace taut::server {
namespace {

// A class of sizes: lower bound, inclusive, and name.
struct Size {
  double from;
  std::string_view name;
};
// Names, indexed by JobSize.
constexpr std::array<std::string_view, 5> kCoreSizes = {"under 0.25 cores", "0.25 to 1 core", "1 to 4 cores",
                                                        "4 to 16 cores", "16 cores and more"};
constexpr std::array<std::string_view, 5> kByteSizes = {"under 256 MiB", "256 MiB to 1 GiB", "1 to 4 GiB",
                                                        "4 to 16 GiB", "16 GiB and more"};
constexpr Size kTaskCounts[] = {{0, "1 task"}, {2, "2 to 9 tasks"}, {10, "10 tasks and more"}};

// Indices into GroupProperties. From kFirstSize on, the properties are sizes by Resource.
constexpr size_t kClass = 0, kTasks = 1, kFirstSize = 2;

// A group and its place in the property's order; -1: the property is unknown.
struct Place {
  int rank = -1;
  std::string_view name;
};

Place PlaceOf(double size, std::span<const Size> sizes) {
  Place place;
  for (const Size& s : sizes) {
    if (size >= s.from) place = {static_cast<int>(&s - sizes.data()), s.name};
  }
  return place;
}

Place PlaceOf(const JobView& job, size_t property) {
  if (property == kClass) {
    const auto at = static_cast<size_t>(job.job_class);
    return {static_cast<int>(at), brain::kJobClassNames[at]};
  }
  if (property == kTasks) return PlaceOf(job.tasks, kTaskCounts);
  const Resource r = kResources[property - kFirstSize];
  const JobAmounts& a = job.of(r);
  const float limit = a.owner_limit >= 0 ? a.owner_limit : a.would_be;
  if (limit < 0) return {};
  const brain::JobSize size = brain::JobSizeOf(r, limit);
  return {size, InCores(r) ? kCoreSizes[size] : kByteSizes[size]};
}

Place PlaceOf(const JobView& job, std::string_view label) {
  const std::string* value = FindLabel(job.record->labels, label);
  return value != nullptr ? Place{0, *value} : Place();
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

void JobTotals::Add(const JobView& job, int64_t now_s) {
  if (job.whole_machine) {
    ++whole_machines;
    return;
  }
  ++jobs;
  replicas.AddHeld(job);
  if (job.last_seen_s != now_s) {
    ++not_measured;
    return;
  }
  tasks += job.tasks;
  replicas.Add(job);
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
    sum.requests.Add(a, job.tasks);
    sum.saved += a.saved().value_or(0) * job.tasks;
    sum.would_save += a.saving().value_or(0) * job.tasks;
    sum.job_days += job.week[static_cast<size_t>(r)].first;
    sum.job_days_over += job.week[static_cast<size_t>(r)].second;
    if (a.chance < 0) continue;
    sum.chances += double{a.chance};
    ++sum.jobs_with_chance;
  }
}

const std::vector<std::string>& GroupProperties() {
  static const auto all = [] {
    std::vector<std::string> names = {":class", ":tasks"};
    for (const Resource r : kResources) names.push_back(StrCat(":", Name(r), "_size"));
    return names;
  }();
  return all;
}

std::vector<GroupTotals> TotalsBy(const FleetView& view, std::string_view by, const JobsQuery& which) {
  const std::vector<bool> fits = which.search.empty() ? std::vector<bool>() : JobsThatFit(view, which.search);
  const auto found = std::ranges::find(GroupProperties(), by);
  const bool is_property = found != GroupProperties().end();
  const auto property = static_cast<size_t>(found - GroupProperties().begin());
  struct Group {
    Place place;
    JobTotals totals;
  };
  const int64_t now_s = view.window.has_value() ? view.window->next().start_s() : INT64_MIN;
  std::vector<Group> groups;
  std::unordered_map<std::string_view, size_t> by_name;
  std::optional<size_t> unknown;
  for (const JobView& job : view.jobs) {
    if (which.mode.has_value() && job.mode != *which.mode) continue;
    const uint32_t id = job.record->id.value;
    if (!which.search.empty() && (id >= fits.size() || !fits[id])) continue;
    const Place place = is_property ? PlaceOf(job, property) : PlaceOf(job, by);
    size_t at = groups.size();
    if (place.rank >= 0) {
      at = by_name.try_emplace(place.name, at).first->second;
    } else {
      at = unknown.value_or(at);
      unknown = at;
    }
    if (at == groups.size()) groups.push_back({place, {}});
    groups[at].totals.Add(job, now_s);
  }
  std::ranges::sort(groups, [&](const Group& a, const Group& b) {
    if (is_property) return static_cast<unsigned>(a.place.rank) < static_cast<unsigned>(b.place.rank);
    const double x = SavingShare(a.totals, view.point), y = SavingShare(b.totals, view.point);
    if (x != y) return x > y;
    return a.place.rank != b.place.rank ? a.place.rank < b.place.rank : a.place.name < b.place.name;
  });
  std::vector<GroupTotals> out;
  for (const Group& g : groups) {
    out.push_back({g.place.rank >= 0 ? std::optional<std::string>(g.place.name) : std::nullopt, g.totals});
  }
  return out;
}

std::vector<std::string> LabelNames(const FleetView& view) {
  std::set<std::string_view> names;
  for (const JobView& job : view.jobs) {
    for (const auto& [key, value] : job.record->labels) names.insert(key);
  }
  return {names.begin(), names.end()};
}

}  // namespace taut::server
