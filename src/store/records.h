// Small records as bytes: labels, a line of fleet figures, an engine's checkpoint. Layouts in
// docs/formats.md, "The store".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ports/store.h"

namespace taut {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Each Decode gives DataLoss for what no Encode wrote.
std::string EncodeLabels(const Labels& labels);
absl::StatusOr<Labels> DecodeLabels(std::string_view bytes);

std::string EncodeFleetPoint(const FleetPoint& point);
absl::StatusOr<FleetPoint> DecodeFleetPoint(std::string_view bytes);

std::string EncodeStoredCheckpoint(const Checkpoint& checkpoint);
absl::StatusOr<Checkpoint> DecodeStoredCheckpoint(std::string_view bytes);

}  // namespace taut
