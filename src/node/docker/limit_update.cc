#include "node/docker/limit_update.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "node/agent/cpu_weight.h"

namespace taut::node {
namespace {

constexpr int64_t kDefaultPeriodUs = 100'000;
constexpr long long kLeastQuotaUs = 1000, kLeastNanoCpus = 10'000'000;  // the engine's minimum CPU limits
constexpr int64_t kPageBytes = 4096;
// The kernel's default for a group: 1,024 shares, weight 100.
constexpr int64_t kDefaultSharesV1 = 1024;
constexpr double kDefaultWeightV2 = 100;

bool HasMemoryLimit(const ContainerLimits& limits) {
  return limits.memory_bytes > 0 && limits.memory_bytes < kLeastNoMemoryLimit;
}

LimitUpdate PlanMemory(const ContainerLimits& now, std::optional<int64_t> bytes) {
  LimitUpdate out{"", now};
  if (!bytes.has_value() && !HasMemoryLimit(now)) return out;
  ContainerLimits& r = out.result;
  if (now.memory_swap_bytes <= 0) {
    r.memory_bytes = bytes.value_or(kNoMemoryLimit);
    r.memory_swap_bytes = -1;
  } else {
    const int64_t swap = std::max<int64_t>(now.memory_swap_bytes - now.memory_bytes, 0);
    // Without a limit, the difference of the two values still stores the swap allowance, for the next limit.
    r.memory_bytes = bytes.value_or((kNoMemoryLimit - swap) / kPageBytes * kPageBytes);
    r.memory_swap_bytes = bytes.has_value() ? r.memory_bytes + swap : kNoMemoryLimit;
  }
  out.body = StrCat(R"({"Memory":)", r.memory_bytes, R"(,"MemorySwap":)", r.memory_swap_bytes, "}");
  return out;
}

LimitUpdate PlanCpu(const ContainerLimits& now, std::optional<double> value, int64_t cores) {
  LimitUpdate out{"", now};
  ContainerLimits& r = out.result;
  if (now.nano_cpus > 0) {
    const double all = static_cast<double>(cores);
    r.nano_cpus = std::max(std::llround(std::min(value.value_or(all), all) * 1e9), kLeastNanoCpus);
    out.body = StrCat(R"({"NanoCpus":)", r.nano_cpus, "}");
    return out;
  }
  if (!value.has_value()) {
    if (now.cpu_quota_us <= 0) return out;
    r.cpu_quota_us = -1;
    out.body = R"({"CpuQuota":-1})";
    return out;
  }
  r.cpu_period_us = now.cpu_period_us > 0 ? now.cpu_period_us : kDefaultPeriodUs;
  r.cpu_quota_us = std::max(std::llround(*value * static_cast<double>(r.cpu_period_us)), kLeastQuotaUs);
  out.body = StrCat(R"({"CpuPeriod":)", r.cpu_period_us, R"(,"CpuQuota":)", r.cpu_quota_us, "}");
  return out;
}

int64_t Shares(double weight) { return static_cast<int64_t>(SharesOfWeight(weight)); }

LimitUpdate PlanWeight(const ContainerLimits& now, std::optional<double> value, CgroupVersion version) {
  LimitUpdate out{"", now};
  if (!value.has_value() && now.cpu_shares == 0) return out;
  out.result.cpu_shares = value.has_value()               ? Shares(*value)
                          : version == CgroupVersion::kV1 ? kDefaultSharesV1
                                                          : Shares(kDefaultWeightV2);
  out.body = StrCat(R"({"CpuShares":)", out.result.cpu_shares, "}");
  return out;
}

}  // namespace

absl::StatusOr<LimitUpdate> PlanLimitUpdate(const ContainerLimits& now, LimitKind kind,
                                            std::optional<double> value, CgroupVersion version,
                                            int64_t cores) {
  if (kind == LimitKind::kMemoryHigh) {
    return absl::UnimplementedError("Docker does not support memory.high; use memory: hard in the rule");
  }
  if (kind == LimitKind::kMemoryLow || kind == LimitKind::kMemoryMin) {
    return absl::UnimplementedError(StrCat(Name(kind), " of a container is set in its cgroup"));
  }
  // An upper bound that fits the engine's int64 in any unit.
  if (value.has_value() && !(*value > 0 && *value < 9e18)) {
    return absl::InvalidArgumentError(StrCat(Name(kind), ": ", *value, " is not a limit"));
  }
  switch (kind) {
    case LimitKind::kMemoryMax: {
      const bool is_none = !value.has_value() || *value >= static_cast<double>(kLeastNoMemoryLimit);
      return PlanMemory(now, is_none ? std::nullopt : std::optional<int64_t>(std::llround(*value)));
    }
    case LimitKind::kCpuMax:
      // The bound of 1e6 cores keeps quota and nanoseconds far from overflow.
      return PlanCpu(now, value.has_value() ? std::optional(std::min(*value, 1e6)) : value, cores);
    default:
      return PlanWeight(now, value, version);
  }
}

TaskLimits ToTaskLimits(const ContainerLimits& limits, int64_t cores) {
  TaskLimits out;
  if (HasMemoryLimit(limits)) out.memory_max_bytes = static_cast<double>(limits.memory_bytes);
  if (limits.nano_cpus > 0) {
    if (limits.nano_cpus / 1'000'000'000 < cores) {
      out.cpu_max_cores = static_cast<double>(limits.nano_cpus) / 1e9;
    }
  } else if (limits.cpu_quota_us > 0) {
    const int64_t period_us = limits.cpu_period_us > 0 ? limits.cpu_period_us : kDefaultPeriodUs;
    out.cpu_max_cores = static_cast<double>(limits.cpu_quota_us) / static_cast<double>(period_us);
  }
  if (limits.cpu_shares > 0) out.cpu_weight = WeightOfShares(static_cast<uint64_t>(limits.cpu_shares));
  return out;
}

}  // namespace taut::node
