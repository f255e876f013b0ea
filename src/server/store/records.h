// Encodes rows and small records: checksums, labels, fleet points, checkpoints. Layouts in
// docs/reference/storage.md, "The store".
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "server/store/store.h"

namespace taut::server {

// Checksum of a row: XXH3 over its values, field by field.
class RowSum {
 public:
  template <typename... Fields>
  static int64_t Of(const Fields&... fields) {
    RowSum sum;
    (sum.Add(fields), ...);
    return sum.Value();
  }

 private:
  template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(T value) { out_.Put(static_cast<int64_t>(value)); }
  void Add(std::string_view text) { out_.PutString(text); }
  void Add(const std::string& text) { out_.PutString(text); }
  void Add(const std::optional<int64_t>& value) {
    out_.Put(static_cast<uint8_t>(value.has_value()));
    if (value) out_.Put(*value);
  }
  // Equal values in the store have equal checksums: NaN is stored as NULL, and -0 as 0.
  void Add(const std::optional<double>& value) {
    const bool known = value && !std::isnan(*value);
    out_.Put(static_cast<uint8_t>(known));
    if (known) out_.Put(*value + 0.0);
  }
  int64_t Value() const;

  std::string bytes_;
  ByteWriter out_{&bytes_};
};
int64_t SumOf(const JobRecord& job);
// Excludes the outcome of the decision, because the outcome changes.
int64_t SumOf(const Decision& decision);
int64_t SumOf(const OomRecord& oom);
int64_t SumOf(const TierAct& act);
int64_t SumOf(const SettingChange& setting);

using Labels = std::vector<std::pair<std::string, std::string>>;
std::string EncodeLabels(const Labels& labels);
// Every Decode function returns DataLoss for bytes that no Encode function wrote.
absl::StatusOr<Labels> DecodeLabels(std::string_view bytes);
// Encodes the parts of a job's workload; returns "" if the workload is unknown.
std::string EncodeParts(const WorkloadParts& parts);
absl::StatusOr<WorkloadParts> DecodeParts(std::string_view bytes);

std::string EncodeFleetPoint(const FleetPoint& point);
absl::StatusOr<FleetPoint> DecodeFleetPoint(std::string_view bytes);

std::string EncodeStoredCheckpoint(const Checkpoint& checkpoint);
absl::StatusOr<Checkpoint> DecodeStoredCheckpoint(std::string_view bytes);

}  // namespace taut::server
