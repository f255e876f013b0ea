#include "tools/cli/analysis_json.h"

#include <string>
#include <utility>

#include "tools/cli/trace_events_text.h"

namespace taut::tools {
namespace {

Json FitJson(const ParetoFit& fit) {
  if (fit.points == 0) return nullptr;
  return {{"alpha", fit.alpha}, {"r_squared", fit.r_squared}, {"from", fit.from}, {"to", fit.to}};
}

Json SizesJson(const SizeDistribution& d) {
  return {{"total", d.total},
          {"median", d.median},
          {"mean", d.mean},
          {"variance", d.variance},
          {"p90", d.p90},
          {"p99", d.p99},
          {"p99_9", d.p999},
          {"max", d.max},
          {"top_1_percent_jobs", d.jobs - d.others.count()},
          {"top_1_percent_share", d.top_1_percent},
          {"top_0_1_percent_share", d.top_0_1_percent},
          {"squared_coefficient", d.squared_coefficient},
          {"pareto", FitJson(d.pareto)},
          {"wait_at_half_load", MeanWait(0.5, d.squared_coefficient)},
          {"wait_at_half_load_without_largest", MeanWait(0.5, d.others.squared_coefficient())}};
}

Json HourJson(const AnalysisHour& hour) {
  Json out = {{"time", hour.start_s}, {"new_jobs", hour.new_jobs}};
  for (size_t r = 0; r < 2; ++r) {
    Json tiers = Json::object();
    for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
      const TierHour& t = hour.of[r][tier];
      if (t.usage <= 0 && t.limit <= 0) continue;
      tiers[std::string(Name(static_cast<TraceTier>(tier)))] = {
          {"usage", t.usage}, {"limit", t.limit > 0 ? Json(t.limit) : Json(nullptr)}};
    }
    out[r == 0 ? "cpu_cores" : "memory_bytes"] = std::move(tiers);
  }
  return out;
}

Json ModesJson(const TraceAnalysis& a) {
  Json out = Json::object();
  for (size_t mode = 0; mode < brain::kScalingModes; ++mode) {
    if (a.modes[0][mode].jobs == 0) continue;
    Json row = {{"jobs", a.modes[0][mode].jobs}};
    for (size_t r = 0; r < 2; ++r) {
      const TierSummary& t = a.modes[r][mode];
      row[r == 0 ? "cpu_cores" : "memory_bytes"] = {{"usage", t.usage},
                                                    {"limit", t.limit > 0 ? Json(t.limit) : Json(nullptr)},
                                                    {"slack", t.limit > 0 ? Json(t.slack()) : Json(nullptr)}};
    }
    out[std::string(Name(static_cast<brain::ScalingMode>(mode)))] = std::move(row);
  }
  return out;
}

Json AnalysedJson(const TraceAnalysis& a, ByHour hours) {
  Json tiers = Json::object();
  for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
    if (a.tiers[0][tier].jobs == 0) continue;
    Json row = {{"jobs", a.tiers[0][tier].jobs}};
    for (size_t r = 0; r < 2; ++r) {
      const TierSummary& t = a.tiers[r][tier];
      const bool known = t.limit > 0;
      row[r == 0 ? "cpu_cores" : "memory_bytes"] = {{"usage", t.usage},
                                                    {"limit", known ? Json(t.limit) : Json(nullptr)},
                                                    {"slack", known ? Json(t.slack()) : Json(nullptr)}};
    }
    tiers[std::string(Name(static_cast<TraceTier>(tier)))] = std::move(row);
  }
  Json out = {{"jobs", a.jobs},
              {"core_hours", SizesJson(a.sizes[0])},
              {"gib_hours", SizesJson(a.sizes[1])},
              {"correlation", a.correlation},
              {"tiers", std::move(tiers)},
              {"new_jobs_per_hour", a.arrivals.hours > 0
                                        ? Json({{"mean", a.arrivals.mean}, {"median", a.arrivals.median}})
                                        : Json(nullptr)}};
  Json slack = Json::object();
  for (size_t r = 0; r < 2; ++r) {
    const std::optional<PeakSlack> at = PeakSlackOf(a.hours, kResources[r]);
    slack[r == 0 ? "cpu_cores" : "memory_bytes"] =
        at.has_value() ? Json({{"peak", at->peak}, {"trough", at->trough}}) : Json(nullptr);
  }
  out["slack"] = std::move(slack);
  if (a.has_modes) out["vertical_scaling"] = ModesJson(a);
  if (hours == ByHour::kInclude) {
    Json all = Json::array();
    for (const AnalysisHour& hour : a.hours) all.push_back(HourJson(hour));
    out["hours"] = std::move(all);
  }
  return out;
}

}  // namespace

Json AnalysisJson(const TraceAnalysis* usage, const LoadedCell* cell, ByHour hours) {
  Json out = usage != nullptr ? AnalysedJson(*usage, hours) : Json::object();
  if (cell == nullptr) return out;
  out["events"] = TraceEventsJson(*cell);
  out["skipped_rows"] = SkippedJson(cell->report);
  out["kept_rows"] = KeptJson(cell->report);
  return out;
}

}  // namespace taut::tools
