// One plain value of a configuration file: where it lives, how it is read and shown. The tables of tautd's
// and tautlet's files are made of these.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "common/base/clock_source.h"
#include "common/net/server_options.h"
#include "node/agent/tier_options.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

// Who carries the daemon's limits out. kDryRun stands alone.
enum class ActuatorKind : uint8_t { kDryRun, kAgents, kKubernetes };

// Which of a kubelet's figures are read: those of cAdvisor, or the few that its metrics server reads.
// Of the kubelets, or in kMetricsApi's case of metrics.k8s.io.
enum class KubeletUsage : uint8_t { kCadvisor, kResource, kMetricsApi };

// What is done with a pod that cannot be resized in place.
enum class ResizeFallback : uint8_t { kWait, kEvict };

// What the validating webhook does with a new pod that its group's quota has no room for.
enum class QuotaWebhook : uint8_t { kOff, kWarn, kRefuse };

// Which new pods of a group whose budget is spent that webhook refuses, or warns about: none, those of workloads
// that do not run, or all.
enum class HeldPods : uint8_t { kOff, kNew, kAll };

using ConfigField =
    std::variant<std::string*, bool*, int*, int64_t*, size_t*, double*, ServerOptions::Duration*,
                 std::vector<ListenAddress>*, std::vector<std::string>*, ClockSource*, Role*,
                 std::vector<ActuatorKind>*, KubernetesJobs*, KubeletUsage*, ResizeFallback*, QuotaWebhook*,
                 HeldPods*, Tier*, node::MemoryProtection*>;
enum class FieldUnit : uint8_t { kPlain, kBytes, kDuration, kUrl };

struct FieldSpec {
  std::string_view key;  // "server.limits.body"
  FieldUnit unit = FieldUnit::kPlain;
  double min = 0, max = 0;  // of numbers, in plain units, bytes or seconds
};
// Sets a value from the items of a list, or from one. InvalidArgument names the key, without a place.
absl::Status SetField(const FieldSpec& spec, const ConfigField& field, std::span<const std::string> values);
// As people write it: "16MiB", "[127.0.0.1:7070]".
std::string ShowField(const FieldSpec& spec, const ConfigField& field);
// The items that SetField reads back to what ShowField has shown.
std::vector<std::string> ShownItems(std::string_view shown);

}  // namespace taut::server
