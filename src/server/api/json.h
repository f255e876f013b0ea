// Writes the API's values as JSON, in the shapes of openapi.yaml.
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

// Writes a time. Writes null for INT64_MIN, and for times that a daemon of an older version stored before its
// clock was set.
void PutTime(std::string_view key, int64_t time_s, JsonWriter& json);
// Writes an amount that was a 32-bit float, with the fewest digits that identify the float.
void PutAmount(std::string_view key, std::optional<double> amount, JsonWriter& json);
struct FleetShown {
  MachineSize machine;
  Prices prices;
  std::string_view actuator;
  bool has_day_counts = true;  // true if FleetView::ooms_day and changes_day are known
};
void PutFleet(const FleetView& view, const FleetShown& shown, JsonWriter& json);
void PutFleetHistory(std::span<const FleetPoint> points, JsonWriter& json);
// Writes an exact amount of money as text with up to six decimals.
void PutMoney(std::string_view key, brain::Money money, JsonWriter& json);
struct JobShown {
  const Prices& prices;
  int64_t grace_s = 0;  // time from a window's end until it closes, in seconds
};
// Writes the fields of a JobRow without the braces.
void PutJobFields(const JobView& job, const JobShown& shown, JsonWriter& json);
// Writes the fields of a provisional limit without the braces. `first` is the job's first window; INT32_MIN: none.
void PutProvisional(std::optional<double> limit, WindowId first, int64_t grace_s, JsonWriter& json);
// Writes the field "replicas".
void PutReplicaSums(const ReplicaSums& sums, JsonWriter& json);
// Writes the fields of JobTotals without the braces.
void PutTotals(const JobTotals& totals, const Prices& prices, JsonWriter& json);
// Writes the fields of a risk without the braces. Lists, jobs and explanations use this function, so that they
// show the same figures.
void PutRisk(const LimitRisk& risk, JsonWriter& json);
void PutReason(const Reason& reason, JsonWriter& json);
// Writes the replicas of a job; null if no number of replicas is recommended.
void PutReplicas(std::string_view key, const brain::LiveReplicas* replicas, JsonWriter& json);
// Writes the fields of a Decision without the braces.
void PutDecisionFields(const Decision& decision, const JobRecord& job, JsonWriter& json);
void PutOom(const OomRecord& oom, std::string_view job, JsonWriter& json);
void PutTierAct(const TierAct& act, JsonWriter& json);
void PutSettingChange(const SettingChange& change, JsonWriter& json);
void PutReplicaHistory(const ReplicaHistory& history, JsonWriter& json);
void PutHeatmap(const Heatmap& map, const HeatmapQuery& query, std::span<const OomRecord> ooms,
                JsonWriter& json);
void PutWhatIf(const WhatIfResult& result, Resource resource, double milliseconds, JsonWriter& json);

// Returns a sentence about a provisional limit: the peak on which the limit is based, and when the history will
// suffice for a recommendation.
std::string ProvisionalSentence(const brain::ProvisionalLimit& early, Resource resource, int64_t grace_s);
// Returns a paragraph with all reasons for a job's limit. `enforced` is false if no limits are applied, so that
// the owner's limit is in force.
std::string ExplainParagraph(const brain::LiveJob& job, Resource resource, const Reason& reason,
                             bool enforced);

}  // namespace taut::server
