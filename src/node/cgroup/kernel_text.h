// What the kernel writes into its small files, taken apart without allocation. Text that is cut off or no
// number is absent, never a wrong number: the kernel ends every line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "node/agent/task_group.h"

namespace taut::node {

// A decimal number and nothing else; nullopt past 2^64 - 1.
std::optional<uint64_t> ParseDecimal(std::string_view digits);
// "1234\n".
std::optional<uint64_t> ParseKernelNumber(std::string_view text);
// The number of the line "key number\n".
std::optional<uint64_t> ParseKeyedNumber(std::string_view text, std::string_view key);
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull ...": the totals.
PressureTotals ParsePressure(std::string_view text);
// The same: avg10, the share of the last ten seconds, 0 .. 1.
struct PressureShares {
  std::optional<double> some, full;
};
PressureShares ParsePressureShares(std::string_view text);

// What a limit file says.
struct KernelLimit {
  bool is_limited = false;
  uint64_t value = 0;  // if it is limited

  std::optional<double> amount() const;
};
// "max\n", or bytes; so many that no machine has them (v1: 9223372036854771712) are no limit either. nullopt:
// neither.
std::optional<KernelLimit> ParseByteLimit(std::string_view text);
// cpu.max, "max 100000\n" or "50000 100000\n", in cores. v1: "-1\n" or "50000\n" beside the period's file.
struct CpuQuota {
  std::optional<uint64_t> quota_us;  // absent: no limit
  uint64_t period_us = 0;

  std::optional<double> cores() const;
};
std::optional<CpuQuota> ParseCpuMax(std::string_view text);
std::optional<CpuQuota> ParseCfsQuota(std::string_view quota, std::string_view period);

// An errno as a status; `place` says what was touched.
absl::Status KernelError(int error, std::string_view place);

}  // namespace taut::node
