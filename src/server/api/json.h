// The values of the API as JSON, in the shapes of openapi.yaml.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "brain/economy/money.h"
#include "common/base/json_writer.h"
#include "common/model/machine_size.h"
#include "server/control/control_plane.h"
#include "server/control/job_history.h"
#include "server/control/job_totals.h"
#include "server/control/replica_history.h"
#include "server/control/what_if.h"
#include "server/pool/costs.h"

namespace taut::server {

// null for a time that is none: INT64_MIN, and what an earlier version stored of a clock that had not begun.
void PutTime(std::string_view key, int64_t time_s, JsonWriter& json);
// Values that come from 32-bit floats are written with the fewest digits that mean the same float.
void PutAmount(std::string_view key, std::optional<double> amount, JsonWriter& json);
struct FleetShown {
  MachineSize machine;
  Prices prices;
  std::string_view actuator;
  bool has_day_counts = true;  // FleetView::ooms_day and changes_day
};
void PutFleet(const FleetView& view, const FleetShown& shown, JsonWriter& json);
void PutFleetHistory(std::span<const FleetPoint> points, JsonWriter& json);
// Exact, as text: up to six decimals.
void PutMoney(std::string_view key, brain::Money money, JsonWriter& json);
struct JobShown {
  const Prices& prices;
  int64_t grace_s = 0;  // after which windows close
};
// The fields of a JobRow, without the braces.
void PutJobFields(const JobView& job, const JobShown& shown, JsonWriter& json);
// The fields of a limit before there is enough history for one, without the braces; `first`: INT32_MIN for none.
void PutProvisional(std::optional<double> limit, WindowId first, int64_t grace_s, JsonWriter& json);
// The field "replicas".
void PutReplicaSums(const ReplicaSums& sums, JsonWriter& json);
// The fields of JobTotals, without the braces.
void PutTotals(const JobTotals& totals, const Prices& prices, JsonWriter& json);
// The fields of a risk, without the braces: the same for a list, a job and an explanation.
void PutRisk(const LimitRisk& risk, JsonWriter& json);
void PutReason(const Reason& reason, JsonWriter& json);
// null where nothing is recommended.
void PutReplicas(std::string_view key, const brain::LiveReplicas* replicas, JsonWriter& json);
// The fields of a Decision, without the braces.
void PutDecisionFields(const Decision& decision, std::string_view job, JsonWriter& json);
void PutOom(const OomRecord& oom, std::string_view job, JsonWriter& json);
void PutTierAct(const TierAct& act, JsonWriter& json);
void PutSettingChange(const SettingChange& change, JsonWriter& json);
void PutReplicaHistory(const ReplicaHistory& history, JsonWriter& json);
void PutHeatmap(const Heatmap& map, const HeatmapQuery& query, std::span<const OomRecord> ooms,
                JsonWriter& json);
void PutWhatIf(const WhatIfResult& result, Resource resource, double milliseconds, JsonWriter& json);

// Returns the sentence of a provisional limit: the peak it is made from, and when there is enough history for a
// recommendation.
std::string ProvisionalSentence(const brain::ProvisionalLimit& early, Resource resource, int64_t grace_s);
// All that a job's limit rests on, in words. `enforced` false: nothing is applied, the owner's limit holds.
std::string ExplainParagraph(const brain::LiveJob& job, Resource resource, const Reason& reason,
                             bool enforced);

}  // namespace taut::server
