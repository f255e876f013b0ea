#include "brain/fleet/risk_json.h"

namespace taut::brain {
namespace {

constexpr int kDigits = 9;

void PutSum(std::string_view key, double sum, JsonWriter& json) {
  json.Key(key);
  json.Number(sum, kDigits);
}

void PutShare(std::string_view key, std::optional<double> share, JsonWriter& json) {
  if (share.has_value()) return PutSum(key, *share, json);
  json.Key(key);
  json.Null();
}

void PutSums(std::string_view name, const RiskKey& key, const RiskSums& sums, JsonWriter& json) {
  json.Key(name);
  json.BeginObject();
  PutSum("job_days", sums.days, json);
  PutSum("job_days_over", sums.days_over, json);
  PutSum("work", sums.used, json);
  PutSum("work_over", sums.cut, json);
  PutShare("promised", PromisedShare(key, sums), json);
  PutShare("delivered", DeliveredShare(key, sums), json);
  json.EndObject();
}

// Writes a row. `total`: true if the row sums over all classes and sizes.
void PutRow(const RiskKey& key, const RiskRow& row, bool total, JsonWriter& json) {
  json.BeginObject();
  json.Field("resource", Name(key.resource));
  json.Field("limits", key.limits_name());
  json.Field("promise", key.promise_name());
  json.Field("counts", key.counts_work() ? "work" : "job_days");
  if (!total) {
    json.Field("class", key.class_name());
    json.Field("size", key.size_name());
  }
  json.Field("broken", total ? IsBroken(key, row.recent) : IsBrokenRow(key, row.recent));
  PutSums("recent", key, row.recent, json);
  PutSums("lifetime", key, row.all, json);
  json.EndObject();
}

}  // namespace

void PutRisks(const RiskTable& table, JsonWriter& json) {
  json.Field("half_life_days", kRiskHalfLifeDays);
  json.Key("broken");
  json.BeginArray();
  for (const BrokenPromise& broken : BrokenPromises(table)) json.String(BrokenText(broken));
  json.EndArray();
  for (const bool total : {true, false}) {
    json.Key(total ? "totals" : "rows");
    json.BeginArray();
    const RiskTable::Rows rows = total ? table.Totals() : table.rows();
    for (const auto& [key, row] : rows) PutRow(key, row, total, json);
    json.EndArray();
  }
}

}  // namespace taut::brain
