// What the Docker Engine API answers, read from its JSON into plain values.
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
  std::string engine;       // "20.10.24"
  std::string api_version;  // the highest it speaks: "1.41"
  std::string min_api_version;
};

struct ContainerSummary {
  std::string id;                                           // 64 hex digits
  std::string name;                                         // without the leading slash
  std::string image;                                        // as its owner named it: "nginx:1.25"
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by key
};

// The fields of HostConfig that limits are made of, as the engine has them; 0: never set.
struct ContainerLimits {
  int64_t memory_bytes = 0;
  int64_t memory_swap_bytes = 0;  // memory and swap together; -1: no limit
  int64_t nano_cpus = 0;          // what --cpus sets; excludes quota and period
  int64_t cpu_quota_us = 0;       // -1: no limit
  int64_t cpu_period_us = 0;      // 0: 100 ms
  int64_t cpu_shares = 0;

  bool operator==(const ContainerLimits&) const = default;
};

struct ContainerDetails {
  std::string id;
  bool is_running = false;
  bool was_oom_killed = false;
  int64_t pid = 0;         // of its first process, as the engine's machine counts; 0 if it does not run
  std::string started_at;  // differs from start to start
  ContainerLimits limits;
};

struct EngineEvent {
  std::string action;  // "start", "die", "oom", ...
  std::string id;      // the container's
};

// All fail with DataLoss saying what is wrong if `json` is not such an answer. Unknown fields are passed
// over.
absl::StatusOr<EngineVersion> ParseEngineVersion(std::string_view json);
absl::StatusOr<std::vector<ContainerSummary>> ParseContainerList(std::string_view json);
absl::StatusOr<ContainerDetails> ParseContainerDetails(std::string_view json);
// Cores of the engine's machine, of the answer to /info.
absl::StatusOr<int64_t> ParseCores(std::string_view json);
absl::StatusOr<EngineEvent> ParseEngineEvent(std::string_view json);

// The engine's own words in an answer that is an error; the first line, at most 300 bytes, if it is not JSON.
std::string EngineMessage(std::string_view body);

}  // namespace taut::node
