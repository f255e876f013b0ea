// An amount of each of several resources, as quota counts them: whole numbers, in the resource's own unit.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::brain {

inline constexpr std::string_view kQuotaCpu = "cpu";        // in millicores
inline constexpr std::string_view kQuotaMemory = "memory";  // in bytes
// The most that one amount, and the sum of all of a resource in a tree, may be.
inline constexpr int64_t kMaxQuotaAmount = int64_t{1} << 60;

struct QuotaAmount {
  std::string resource;  // kQuotaCpu, kQuotaMemory, or any other name ("gpu"), counted in units
  int64_t amount = 0;
  bool operator==(const QuotaAmount&) const = default;
};

// A value. A resource that is absent counts as 0, and one of 0 is absent. It carries negative amounts, so
// that those who refuse them can name them.
class QuotaVector {
 public:
  QuotaVector() = default;
  QuotaVector(std::initializer_list<QuotaAmount> amounts);
  static QuotaVector Of(int64_t cpu_millicores, int64_t memory_bytes);

  void Set(std::string_view resource, int64_t amount);
  int64_t Get(std::string_view resource) const;
  // By the resource's name; no amount is 0.
  std::span<const QuotaAmount> amounts() const { return amounts_; }
  bool empty() const { return amounts_.empty(); }
  // Empty if an amount is negative or would pass kMaxQuotaAmount.
  std::optional<QuotaVector> Times(int64_t n) const;
  std::optional<QuotaVector> Plus(const QuotaVector& other) const;
  bool operator==(const QuotaVector&) const = default;

 private:
  std::vector<QuotaAmount> amounts_;
};

// By resource the larger amount.
QuotaVector Larger(const QuotaVector& a, const QuotaVector& b);
// By resource `a` and `sign` times `b`, not bounded: for sums of what is counted.
QuotaVector Sum(const QuotaVector& a, const QuotaVector& b, int64_t sign);

// "1.5 cores", "1536MiB of memory", "3 gpu": exact.
std::string QuotaText(std::string_view resource, int64_t amount);
// "1.5 cores, 1536MiB of memory"; "nothing" if empty.
std::string QuotaText(const QuotaVector& vector);

// An amount as people write it: cores for cpu (to a thousandth), "512GiB" for memory, a whole number for others.
// InvalidArgument without a place.
absl::StatusOr<int64_t> ParseQuotaAmount(std::string_view resource, const std::string& text);

}  // namespace taut::brain
