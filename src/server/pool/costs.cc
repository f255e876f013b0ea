#include "server/pool/costs.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "brain/economy/price_sheet.h"
#include "common/model/labels.h"
#include "common/model/whole_machine.h"

namespace taut::server {
namespace {

constexpr double kHoursPerMonth = 365 * 24 / 12.0;

constexpr size_t kMostForgotten = 100'000;  // maximum number of separate groups for forgotten jobs

int64_t WindowOf(int64_t time_s) { return FloorDiv(time_s, kWindowSeconds); }

void WidenTimes(int64_t today, const CostQuery& query, CostReport& report) {
  const auto align = [&](int64_t window) { return window < today ? kWindowsPerDay : kWindowsPerHour; };
  const int64_t from = WindowOf(query.from_s), to = WindowOf(query.to_s + kWindowSeconds - 1);
  const auto bounded = [](int64_t window) {
    return WindowId{static_cast<int32_t>(std::clamp<int64_t>(window, INT32_MIN / 2, INT32_MAX / 2))};
  };
  report.from = bounded(FloorDiv(from, align(from)) * align(from));
  report.to = std::max(report.from, bounded(-FloorDiv(-to, align(to)) * align(to)));
}

// Finds the group of each job. Reads the store once per job.
class Grouping {
 public:
  Grouping(History& history, const FleetView& view, const CostQuery& query, CostReport& report)
      : history_(history), view_(view), query_(query), report_(report) {}

  // Returns the group of a job; nullopt if the job is omitted.
  std::optional<uint32_t> Of(JobId id) {
    const auto [it, is_new] = group_of_.try_emplace(id.value, std::nullopt);
    if (!is_new) return it->second;
    it->second = Find(id);
    if (!it->second.has_value()) return std::nullopt;
    ++report_.jobs;
    ++report_.groups[*it->second].jobs;
    return it->second;
  }

 private:
  std::optional<uint32_t> Find(JobId id) {
    std::vector<std::optional<std::string>> values(query_.by.size());
    const auto counts = [this](const JobRecord& record) {
      return !IsWholeMachine(record) && (!query_.which || query_.which(record));
    };
    if (const JobView* known = view_.Find(id); known != nullptr) {
      if (!counts(*known->record)) return std::nullopt;
      Fill(*known->record, true, values);
    } else if (const absl::StatusOr<JobRecord> gone = history_.Job(id); gone.ok()) {
      if (!counts(*gone)) return std::nullopt;
      Fill(*gone, ++forgotten_ <= kMostForgotten, values);
    } else if (query_.which) {
      return std::nullopt;
    }
    const auto [it, is_new] = numbers_.try_emplace(std::move(values), static_cast<uint32_t>(numbers_.size()));
    if (is_new) report_.groups.push_back({it->first, 0, {}});
    return it->second;
  }
  void Fill(const JobRecord& record, bool by_name, std::vector<std::optional<std::string>>& values) {
    for (const auto& [key, value] : record.labels) {
      if (!report_.labels.contains(key)) report_.labels.insert(key);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (query_.by[i] != kByJob) {
        if (const std::string* value = FindLabel(record.labels, query_.by[i]); value != nullptr)
          values[i] = *value;
      } else if (by_name) {
        values[i] = record.name;
      }
    }
  }

  History& history_;
  const FleetView& view_;
  const CostQuery& query_;
  CostReport& report_;
  absl::flat_hash_map<uint32_t, std::optional<uint32_t>> group_of_;
  std::map<std::vector<std::optional<std::string>>, uint32_t> numbers_;
  size_t forgotten_ = 0;
};

}  // namespace

double Prices::PerMonth(Resource r, double amount) const {
  return kHoursPerMonth * (per_hour[IndexOf(r)] * amount / UnitOf(r).large);
}

Prices PricesOf(const PricesConfig& config) { return {config.per_hour, config.currency}; }

double UnitHours(Resource r, uint64_t quantity) {
  return static_cast<double>(quantity) / static_cast<double>(brain::QuantityPerRate(r));
}

Costs CostsOf(const AccountEntry& sums, const Prices& prices) {
  Costs out;
  for (const Resource r : kResources) {
    const AccountAmounts& a = sums.amounts(r);
    const double price = prices.per_hour[IndexOf(r)];
    out.usage += price * UnitHours(r, a.usage);
    out.allocation += price * UnitHours(r, a.allocation);
    out.billed += price * UnitHours(r, a.billed);
    out.owner += price * UnitHours(r, a.owner);
    out.would_be += price * UnitHours(r, a.would_be);
  }
  return out;
}

WindowId HoursFrom(const FleetView& view, int64_t to_s) {
  const int64_t newest = view.window.has_value() ? view.window->index : WindowOf(to_s);
  return {static_cast<int32_t>(FloorDiv(newest + 1, kWindowsPerDay) * kWindowsPerDay)};
}

absl::StatusOr<CostReport> ReadCosts(History& history, const FleetView& view, const CostQuery& query) {
  CostReport report;
  WidenTimes(HoursFrom(view, query.to_s).index, query, report);
  Grouping grouping(history, view, query, report);
  std::map<int64_t, CostStep> steps;
  const absl::Status read = history.ReadAccount(
      report.from, report.to, [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
        const int64_t first = FloorDiv(span.first.index, int64_t{query.step_windows}) * query.step_windows;
        for (const AccountEntry& e : entries) {
          const std::optional<uint32_t> of = grouping.Of(e.job);
          if (!of.has_value()) continue;
          const uint32_t group = *of;
          report.groups[group].sums.Add(e);
          report.sums.Add(e);
          if (span.late) report.late.Add(e);
          if (query.steps == CostQuery::Steps::kNone) continue;
          CostStep& step = steps[first];
          step.first = WindowId{static_cast<int32_t>(first)};
          step.sums.Add(e);
          if (query.steps == CostQuery::Steps::kTotals) continue;
          if (step.groups.size() <= group) step.groups.resize(group + 1);
          step.groups[group].Add(e);
        }
      });
  if (!read.ok()) return read;
  for (auto& [first, step] : steps) report.steps.push_back(std::move(step));
  return report;
}

std::vector<size_t> ByCost(const CostReport& report, const Prices& prices) {
  std::vector<size_t> order(report.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<double> billed;
  for (const CostGroup& group : report.groups) billed.push_back(CostsOf(group.sums, prices).billed);
  const auto has_value = [&](size_t i) {
    const auto& values = report.groups[i].values;
    return values.empty() || values.front().has_value();
  };
  std::ranges::sort(order, [&](size_t a, size_t b) {
    if (has_value(a) != has_value(b)) return has_value(a);
    if (billed[a] != billed[b]) return billed[a] > billed[b];
    return report.groups[a].values < report.groups[b].values;
  });
  return order;
}

}  // namespace taut::server
