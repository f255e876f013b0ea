// Parses kernel control files without allocation. Truncated or non-numeric text yields nullopt, never a wrong
// number: the kernel ends every line with a newline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "node/agent/task_group.h"

namespace taut::node {

// Parses a decimal number and nothing else; nullopt above 2^64 - 1.
std::optional<uint64_t> ParseDecimal(std::string_view digits);
// Parses "1234\n".
std::optional<uint64_t> ParseKernelNumber(std::string_view text);
// Returns the number in the line "key number\n".
std::optional<uint64_t> ParseKeyedNumber(std::string_view text, std::string_view key);
// Returns the totals of "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull ...".
PressureTotals ParsePressure(std::string_view text);
// Shares of time under pressure in the last ten seconds (avg10), 0 .. 1.
struct PressureShares {
  std::optional<double> some, full;
};
PressureShares ParsePressureShares(std::string_view text);

// The content of a limit file.
struct KernelLimit {
  bool is_limited = false;
  uint64_t value = 0;  // bytes; 0 unless is_limited

  std::optional<double> amount() const;
};
// Parses "max\n" or a number of bytes. Amounts above the memory of any machine (v1: 9223372036854771712) mean no
// limit. Other text yields nullopt.
std::optional<KernelLimit> ParseByteLimit(std::string_view text);
// The content of cpu.max, "max 100000\n" or "50000 100000\n"; v1: "-1\n" or "50000\n" and the period's file.
struct CpuQuota {
  std::optional<uint64_t> quota_us;  // absent: no limit
  uint64_t period_us = 0;

  std::optional<double> cores() const;
};
std::optional<CpuQuota> ParseCpuMax(std::string_view text);
std::optional<CpuQuota> ParseCfsQuota(std::string_view quota, std::string_view period);

// Converts an errno to a status; `place` names the file or directory.
absl::Status KernelError(int error, std::string_view place);

}  // namespace taut::node
