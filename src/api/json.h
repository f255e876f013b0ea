// The values of the API as JSON, in the shapes of openapi.yaml.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "control/control_plane.h"
#include "control/job_history.h"
#include "control/what_if.h"
#include "model/machine_size.h"

namespace taut {

// null for a time that is none: INT64_MIN, and what an earlier version stored of a clock that had not begun.
void PutTime(std::string_view key, int64_t time_s, JsonWriter& json);
void PutAmount(std::string_view key, std::optional<double> amount, JsonWriter& json);
void PutFleet(const FleetView& view, const MachineSize& machine, std::string_view actuator, JsonWriter& json);
void PutFleetHistory(std::span<const FleetPoint> points, JsonWriter& json);
// The fields of a JobRow, without the braces.
void PutJobFields(const JobView& job, JsonWriter& json);
void PutReason(const Reason& reason, JsonWriter& json);
// The fields of a Decision, without the braces.
void PutDecisionFields(const Decision& decision, std::string_view job, JsonWriter& json);
void PutOom(const OomRecord& oom, std::string_view job, JsonWriter& json);
void PutSettingChange(const SettingChange& change, JsonWriter& json);
void PutHeatmap(const Heatmap& map, const HeatmapQuery& query, std::span<const OomRecord> ooms,
                JsonWriter& json);
void PutWhatIf(const WhatIfResult& result, Resource resource, double milliseconds, JsonWriter& json);

// All that a job's limit rests on, in words.
std::string ExplainParagraph(const LiveJob& job, Resource resource, const Reason& reason);

}  // namespace taut
