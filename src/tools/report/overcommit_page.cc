#include "tools/report/overcommit_page.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr size_t kMostMachines = 20;
// Maximum share of predictions below the peak that counts as low. The answer recommends the cheapest predictor
// with at most this share.
constexpr double kFewBelow = 0.01;

constexpr std::string_view kPredictorLegend =
    "Footprint: sum of predictions over the sum of the owners' limits. Below the oracle: share of "
    "predictions below the "
    "peak that came. Severity: mean of (peak - prediction) / peak among these. Savings: mean over machines "
    "and times of "
    "1 - prediction / limits. The oracle knows the peak that comes.";

// Returns a text such as "3 of 40": the number of machines with a prediction below the oracle, and the number of
// machines with predictions.
std::string MachinesBelow(const OvercommitResult::Row& row) {
  uint64_t below = 0, all = 0;
  for (const OvercommitScore& s : row.by_machine) {
    below += s.below > 0 ? 1 : 0;
    all += s.predictions > 0 ? 1 : 0;
  }
  return StrCat(FormatCount(below), " of ", FormatCount(all));
}

bool HasCapacity(const OvercommitResult& result) {
  return result.of_recorded && result.recorded.capacity > 0;
}

DocumentTable PredictorTable(const OvercommitResult& result) {
  DocumentTable out{
      {{"predictor"},
       {"footprint, of limits", ShareForm(1)},
       {"below the oracle", ShareForm(2)},
       {"severity", ShareForm(1)},
       {"savings", ShareForm(1)},
       {"mean prediction for a machine", NumberForm(std::string(UnitOf(result.resource).large_name))},
       {"machines ever below"},
       {"predictions", CountForm()}},
      {}};
  if (HasCapacity(result)) out.columns.push_back({"of capacity", ShareForm(1)});
  for (const OvercommitResult::Row& row : result.rows) {
    const OvercommitScore& s = row.total;
    const auto if_any = [any = s.predictions > 0](FigureValue value) {
      return any ? std::move(value) : FigureValue();
    };
    std::vector<FigureValue>& cells = out.rows.emplace_back();
    cells = {row.predictor,
             if_any(s.footprint()),
             if_any(s.below_share()),
             s.below > 0 ? FigureValue(s.severity()) : FigureValue(),
             if_any(s.mean_savings()),
             if_any(OvercommitScore::Mean(s.predicted / UnitOf(result.resource).large, s.predictions)),
             if_any(MachinesBelow(row)),
             static_cast<double>(s.predictions)};
    if (HasCapacity(result))
      cells.push_back(s.capacity > 0 ? FigureValue(s.capacity_share()) : FigureValue());
  }
  return out;
}

// Returns one point per predictor and one for the oracle, whose peak is part of every predictor's score.
DocumentPoints RiskPoints(const OvercommitResult& result) {
  DocumentPoints out{"Footprint against predictions below the oracle",
                     {"footprint, share of the owners' limits", ShareForm()},
                     {"predictions below the oracle", ShareForm()}};
  const OvercommitScore* known = nullptr;
  for (const OvercommitResult::Row& row : result.rows) {
    const OvercommitScore& s = row.total;
    if (s.predictions == 0) continue;
    known = &s;
    if (row.predictor != kOracle) out.points.push_back({row.predictor, s.footprint(), s.below_share()});
  }
  if (known == nullptr || known->limit <= 0) return {};
  out.points.push_back({std::string(kOracle), known->oracle / known->limit, 0});
  return out;
}

// Returns the machine's name in the rows of --decisions, where numbers start at 0.
std::string MachineName(const OvercommitResult& result, size_t machine) {
  if (result.of_recorded) return result.recorded.machines[machine];
  const size_t placements = result.rows.front().by_placement.size();
  const size_t each =
      std::max<size_t>(1, result.rows.front().by_machine.size() / std::max<size_t>(1, placements));
  return fmt::format("machine {} of placement {}", machine % each, machine / each);
}

struct MachineBelow {
  size_t machine = 0;
  uint64_t below = 0;  // number of predictions below the oracle, summed over all predictors
};

// Returns the machines that have predictions below the oracle: machines with most of these predictions first,
// equal machines by number.
std::vector<MachineBelow> MostBelow(const OvercommitResult& result) {
  std::vector<MachineBelow> out;
  for (size_t m = 0; m < result.rows.front().by_machine.size(); ++m) {
    MachineBelow one{m, 0};
    for (const OvercommitResult::Row& row : result.rows) one.below += row.by_machine[m].below;
    if (one.below > 0) out.push_back(one);
  }
  std::ranges::sort(out, [](const MachineBelow& a, const MachineBelow& b) {
    return std::pair(b.below, a.machine) < std::pair(a.below, b.machine);
  });
  return out;
}

DocumentTable MachineTable(const OvercommitResult& result, const std::vector<MachineBelow>& machines,
                           size_t shown) {
  DocumentTable out{{{"machine"}, {"predictions of each", CountForm()}}, {}};
  std::vector<const OvercommitResult::Row*> columns;
  for (const OvercommitResult::Row& row : result.rows) {
    if (row.total.below == 0) continue;
    columns.push_back(&row);
    out.columns.push_back({row.predictor, ShareForm(1)});
  }
  for (size_t i = 0; i < shown; ++i) {
    const size_t m = machines[i].machine;
    std::vector<FigureValue>& cells = out.rows.emplace_back();
    cells = {MachineName(result, m), static_cast<double>(columns.front()->by_machine[m].predictions)};
    for (const OvercommitResult::Row* row : columns) {
      const OvercommitScore& s = row->by_machine[m];
      cells.push_back(s.predictions > 0 ? FigureValue(s.below_share()) : FigureValue());
    }
  }
  return out;
}

void AddMachines(const OvercommitResult& result, DocumentSection& out) {
  if (std::ranges::none_of(result.rows, [](const auto& row) { return row.total.predictions > 0; }))
    return out.Add("There are no predictions with a peak to compare.");
  const std::vector<MachineBelow> machines = MostBelow(result);
  if (machines.empty()) return out.Add("No prediction was below the oracle on any machine.");
  const size_t shown = std::min(machines.size(), kMostMachines);
  out.Add(
      StrCat("Share of each machine's predictions below the oracle. ",
             shown < machines.size()
                 ? fmt::format("The {} machines of {} with any", shown, FormatCount(machines.size()))
                 : fmt::format("All {} machines with any", shown),
             ", those with most of all predictors first; predictors that were never below are left out."));
  out.Add(MachineTable(result, machines, shown));
}

// Considers the predictors whose share of predictions below the peak is at most kFewBelow, and returns the
// predictor with the smallest footprint. If there is no such predictor, returns the predictor with the smallest
// share below the peak.
const OvercommitResult::Row* BestOf(const OvercommitResult& result) {
  const OvercommitResult::Row* best = nullptr;
  const auto rank = [](const OvercommitScore& s) {
    return s.below_share() <= kFewBelow ? std::pair(0.0, s.footprint())
                                        : std::pair(s.below_share(), s.footprint());
  };
  for (const OvercommitResult::Row& row : result.rows) {
    if (row.predictor == kOracle || row.total.predictions == 0) continue;
    if (best == nullptr || rank(row.total) < rank(best->total)) best = &row;
  }
  return best;
}

Sentence AnswerOf(std::span<const OvercommitResult> results) {
  Sentence out;
  for (const OvercommitResult& result : results) {
    const OvercommitResult::Row* const best = BestOf(result);
    if (best == nullptr) continue;
    const OvercommitScore& s = best->total;
    out.insert(
        out.end(),
        {StrCat(out.empty() ? "" : " ", RowOf(result.resource).title, ": ", best->predictor, " needs "),
         Figure{s.footprint(), ShareForm()}, " of the owners' limits and is below the peak in ",
         Figure{s.below_share(), ShareForm(2)}, " of its predictions."});
  }
  if (out.empty()) out.emplace_back("There are no predictions with a peak to compare.");
  return out;
}

}  // namespace

Document OvercommitDocument(const OvercommitPage& page, std::span<const OvercommitResult> results) {
  Document out{"taut overcommit", page.title};
  out.answer = AnswerOf(results);
  out.AddNotes(page.conditions);
  for (size_t i = 0; i < results.size(); ++i) {
    const OvercommitResult& result = results[i];
    if (i < page.read.size()) out.AddNotes(page.read[i]);
    DocumentSection predictors{std::string(RowOf(result.resource).title)};
    if (i == 0) predictors.Add(std::string(kPredictorLegend));
    predictors.Add(PredictorTable(result));
    if (HasCapacity(result))
      predictors.Add(
          "Of capacity: sum of predictions over the capacity of the machines they are for, where it is "
          "known.");
    if (DocumentPoints points = RiskPoints(result); !points.points.empty())
      predictors.parts.emplace_back(std::move(points));
    DocumentSection machines{StrCat(RowOf(result.resource).title, " by machine")};
    AddMachines(result, machines);
    out.sections.push_back(std::move(predictors));
    out.sections.push_back(std::move(machines));
  }
  return out;
}

}  // namespace taut::tools
