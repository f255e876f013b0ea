#include "brain/economy/quota_vector.h"

#include <algorithm>
#include <cmath>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {

QuotaVector::QuotaVector(std::initializer_list<QuotaAmount> amounts) {
  for (const QuotaAmount& a : amounts) Set(a.resource, a.amount);
}

QuotaVector QuotaVector::Of(int64_t cpu_millicores, int64_t memory_bytes) {
  QuotaVector out;
  out.Set(kQuotaCpu, cpu_millicores);
  out.Set(kQuotaMemory, memory_bytes);
  return out;
}

void QuotaVector::Set(std::string_view resource, int64_t amount) {
  const auto at = std::lower_bound(amounts_.begin(), amounts_.end(), resource,
                                   [](const QuotaAmount& a, std::string_view r) { return a.resource < r; });
  const bool found = at != amounts_.end() && at->resource == resource;
  if (found && amount == 0) {
    amounts_.erase(at);
  } else if (found) {
    at->amount = amount;
  } else if (amount != 0) {
    amounts_.insert(at, {std::string(resource), amount});
  }
}

int64_t QuotaVector::Get(std::string_view resource) const {
  for (const QuotaAmount& a : amounts_) {
    if (a.resource == resource) return a.amount;
  }
  return 0;
}

std::optional<QuotaVector> QuotaVector::Times(int64_t n) const {
  QuotaVector out;
  out.amounts_.reserve(amounts_.size());
  for (const QuotaAmount& a : amounts_) {
    if (a.amount < 0 || n < 0 || (n > 0 && a.amount > kMaxQuotaAmount / n)) return std::nullopt;
    if (n > 0) out.amounts_.push_back({a.resource, a.amount * n});
  }
  return out;
}

std::optional<QuotaVector> QuotaVector::Plus(const QuotaVector& other) const {
  QuotaVector out = *this;
  for (const QuotaAmount& a : other.amounts_) {
    const int64_t before = Get(a.resource);
    if (a.amount < 0 || before < 0 || a.amount > kMaxQuotaAmount || before > kMaxQuotaAmount - a.amount)
      return std::nullopt;
    out.Set(a.resource, before + a.amount);
  }
  return out;
}

QuotaVector Larger(const QuotaVector& a, const QuotaVector& b) {
  QuotaVector out = a;
  for (const QuotaAmount& each : b.amounts())
    out.Set(each.resource, std::max(a.Get(each.resource), each.amount));
  return out;
}

QuotaVector Sum(const QuotaVector& a, const QuotaVector& b, int64_t sign) {
  QuotaVector out = a;
  for (const QuotaAmount& each : b.amounts())
    out.Set(each.resource, a.Get(each.resource) + sign * each.amount);
  return out;
}

std::string QuotaText(std::string_view resource, int64_t amount) {
  if (resource == kQuotaCpu)
    return StrCat(static_cast<double>(amount) / 1000, amount == 1000 ? " core" : " cores");
  if (resource == kQuotaMemory) return StrCat(BytesText(static_cast<double>(amount)), " of memory");
  return StrCat(amount, " ", resource);
}

std::string QuotaText(const QuotaVector& vector) {
  std::string out;
  for (const QuotaAmount& a : vector.amounts())
    StrAppend(&out, out.empty() ? "" : ", ", QuotaText(a.resource, a.amount));
  return out.empty() ? "nothing" : out;
}

absl::StatusOr<int64_t> ParseQuotaAmount(std::string_view resource, const std::string& text) {
  constexpr double kMost = static_cast<double>(kMaxQuotaAmount);
  if (resource == kQuotaMemory) {
    const absl::StatusOr<double> bytes = ParseSize(text);
    if (!bytes.ok()) return bytes.status();
    if (*bytes <= kMost) return static_cast<int64_t>(*bytes);
  } else {
    const bool is_cpu = resource == kQuotaCpu;
    const std::optional<double> number = ParseDouble(text);
    const double amount = number.value_or(-1) * (is_cpu ? 1000 : 1);
    if (number.has_value() && amount >= 0 && amount <= kMost && (is_cpu || amount == std::floor(amount)))
      return static_cast<int64_t>(std::llround(amount));
  }
  return absl::InvalidArgumentError(StrCat("\"", ShortText(text), "\": expected ",
                                           resource == kQuotaMemory ? "an amount of memory such as 512GiB"
                                           : resource == kQuotaCpu  ? "a number of cores such as 1.5"
                                                                    : "a whole number"));
}

}  // namespace taut::brain
