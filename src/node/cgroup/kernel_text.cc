#include "node/cgroup/kernel_text.h"

#include <cerrno>
#include <limits>
#include <system_error>

#include "common/base/strings.h"

namespace taut::node {
namespace {

constexpr uint64_t kNoMachineHas = uint64_t{1} << 62;  // bytes; no machine has this much memory
constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
constexpr std::string_view kTotal = " total=";  // key of the total in a line of a pressure file

// Returns the text before the first line end; nullopt if there is no line end.
std::optional<std::string_view> FirstLine(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

std::optional<uint64_t> TotalOf(std::string_view text, std::string_view kind) {
  while (const std::optional<std::string_view> line = FirstLine(text)) {
    const size_t at = line->rfind(kTotal);
    if (line->starts_with(kind) && at != std::string_view::npos) {
      return ParseDecimal(line->substr(at + kTotal.size()));
    }
    text.remove_prefix(line->size() + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> ParseDecimal(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<uint64_t>(c - '0');
    if (c < '0' || c > '9' || value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<uint64_t> ParseKernelNumber(std::string_view text) {
  const std::optional<std::string_view> line = FirstLine(text);
  return line.has_value() ? ParseDecimal(*line) : std::nullopt;
}

std::optional<uint64_t> ParseKeyedNumber(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    if (end > key.size() && text[key.size()] == ' ' && text.starts_with(key)) {
      return ParseDecimal(text.substr(key.size() + 1, end - key.size() - 1));
    }
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

PressureTotals ParsePressure(std::string_view text) {
  return {TotalOf(text, "some "), TotalOf(text, "full ")};
}

PressureShares ParsePressureShares(std::string_view text) {
  const auto share_of = [text](std::string_view start) -> std::optional<double> {
    const size_t at = text.find(start);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(at + start.size());
    const size_t end = rest.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    const std::optional<double> percent = ParseDouble(rest.substr(0, end));
    if (!percent.has_value() || !(*percent >= 0 && *percent <= 100)) return std::nullopt;
    return *percent / 100;
  };
  return {share_of("some avg10="), share_of("full avg10=")};
}

std::optional<double> KernelLimit::amount() const {
  return is_limited ? std::optional<double>(static_cast<double>(value)) : std::nullopt;
}

std::optional<KernelLimit> ParseByteLimit(std::string_view text) {
  if (text == "max\n") return KernelLimit{};
  const std::optional<uint64_t> value = ParseKernelNumber(text);
  if (!value.has_value()) return std::nullopt;
  return *value >= kNoMachineHas ? KernelLimit{} : KernelLimit{true, *value};
}

std::optional<double> CpuQuota::cores() const {
  if (!quota_us.has_value()) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(period_us);
}

std::optional<CpuQuota> ParseCpuMax(std::string_view text) {
  const std::optional<std::string_view> line = FirstLine(text);
  if (!line.has_value()) return std::nullopt;
  const size_t blank = line->find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view quota = line->substr(0, blank);
  const std::optional<uint64_t> period = ParseDecimal(line->substr(blank + 1));
  CpuQuota out;
  if (quota != "max") {
    out.quota_us = ParseDecimal(quota);
    if (!out.quota_us.has_value()) return std::nullopt;
  }
  if (period.value_or(0) == 0) return std::nullopt;
  out.period_us = *period;
  return out;
}

std::optional<CpuQuota> ParseCfsQuota(std::string_view quota, std::string_view period) {
  CpuQuota out;
  out.period_us = ParseKernelNumber(period).value_or(0);
  if (out.period_us == 0) return std::nullopt;
  if (quota == "-1\n") return out;
  out.quota_us = ParseKernelNumber(quota);
  if (!out.quota_us.has_value()) return std::nullopt;
  return out;
}

absl::Status KernelError(int error, std::string_view place) {
  const std::string text = StrCat(place, ": ", std::generic_category().message(error));
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(
          StrCat(text, " (run as root, with the cgroup hierarchy mounted read-write)"));
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(
          StrCat(text, " (raise the limit of open files, LimitNOFILE= in systemd)"));
    case EBUSY:
    case EAGAIN:
    case ENOMEM:
      return absl::ResourceExhaustedError(text);
    case EINVAL:
    case ERANGE:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

}  // namespace taut::node
