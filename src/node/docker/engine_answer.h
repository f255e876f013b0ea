// Parses responses of the Docker Engine API to plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::node {

struct EngineVersion {
  std::string engine;       // version such as "20.10.24"
  std::string api_version;  // highest supported version: "1.41"
  std::string min_api_version;
};

struct ContainerSummary {
  std::string id;                                           // ID of 64 hex digits
  std::string name;                                         // name without the leading slash
  std::string image;                                        // image in the owner's spelling: "nginx:1.25"
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by key
};

// Fields of HostConfig that define limits, with the engine's values; 0: never set.
struct ContainerLimits {
  int64_t memory_bytes = 0;
  int64_t memory_swap_bytes = 0;  // memory and swap together; -1: no limit
  int64_t nano_cpus = 0;          // set by --cpus; excludes quota and period
  int64_t cpu_quota_us = 0;       // -1: no limit
  int64_t cpu_period_us = 0;      // 0: the default of 100 ms
  int64_t cpu_shares = 0;

  bool operator==(const ContainerLimits&) const = default;
};

struct ContainerDetails {
  std::string id;
  bool is_running = false;
  bool was_oom_killed = false;
  int64_t pid = 0;         // pid of the first process, in the engine's PID namespace; 0 if not running
  std::string started_at;  // start time as text, different for each start
  ContainerLimits limits;
};

struct EngineEvent {
  std::string action;  // name such as "start", "die" or "oom"
  std::string id;      // ID of the container
};

// The parsers return DataLoss with the reason if `json` is not a response of the expected form. Unknown
// fields are ignored.
absl::StatusOr<EngineVersion> ParseEngineVersion(std::string_view json);
absl::StatusOr<std::vector<ContainerSummary>> ParseContainerList(std::string_view json);
absl::StatusOr<ContainerDetails> ParseContainerDetails(std::string_view json);
// Returns the number of cores of the engine's machine, from the response of /info.
absl::StatusOr<int64_t> ParseCores(std::string_view json);
absl::StatusOr<EngineEvent> ParseEngineEvent(std::string_view json);

// Returns the engine's message in an error response, or the first line of a body that is not JSON. At most 300
// bytes.
std::string EngineMessage(std::string_view body);

}  // namespace taut::node
