// Amounts of several resources for quota, as integers in the unit of each resource.
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

inline constexpr std::string_view kQuotaCpu = "cpu";        // unit: millicores
inline constexpr std::string_view kQuotaMemory = "memory";  // unit: bytes
// Bound on one amount, and on the sum of a resource over a tree.
inline constexpr int64_t kMaxQuotaAmount = int64_t{1} << 60;

// An amount of one resource.
struct QuotaAmount {
  std::string resource;  // kQuotaCpu, kQuotaMemory, or the name of a countable resource, such as "gpu"
  int64_t amount = 0;
  bool operator==(const QuotaAmount&) const = default;
};

// Amounts of several resources. Absent resources count as 0, and zeros are not stored. Negative amounts can be
// stored, so that an error message can contain them.
class QuotaVector {
 public:
  QuotaVector() = default;
  QuotaVector(std::initializer_list<QuotaAmount> amounts);
  static QuotaVector Of(int64_t cpu_millicores, int64_t memory_bytes);

  void Set(std::string_view resource, int64_t amount);
  int64_t Get(std::string_view resource) const;
  // Returns the amounts ordered by resource name. No amount is 0.
  std::span<const QuotaAmount> amounts() const { return amounts_; }
  bool empty() const { return amounts_.empty(); }
  // Return nullopt if an amount is negative or would exceed kMaxQuotaAmount.
  std::optional<QuotaVector> Times(int64_t n) const;
  std::optional<QuotaVector> Plus(const QuotaVector& other) const;
  bool operator==(const QuotaVector&) const = default;

 private:
  std::vector<QuotaAmount> amounts_;
};

// Returns the larger amount of each resource.
QuotaVector Larger(const QuotaVector& a, const QuotaVector& b);
// Returns a + sign * b for each resource, without a check of bounds. Intended for uses that are already counted,
// whose sums are within the bounds.
QuotaVector Sum(const QuotaVector& a, const QuotaVector& b, int64_t sign);

// Formats an amount exactly, such as "1.5 cores", "1536MiB of memory" or "3 gpu".
std::string QuotaText(std::string_view resource, int64_t amount);
// Formats all amounts, such as "1.5 cores, 1536MiB of memory"; "nothing" if the vector is empty.
std::string QuotaText(const QuotaVector& vector);

// Parses an amount in the form that people write: cores for cpu (to a thousandth), "512GiB" for memory, a whole
// number for other resources. Returns InvalidArgument for any other text; the caller must add the position of
// the text.
absl::StatusOr<int64_t> ParseQuotaAmount(std::string_view resource, const std::string& text);

}  // namespace taut::brain
