// Quota of one resource in one tier: a tree of cohorts, with integer arithmetic.
//
// Definitions, for node n:
// - quota(n) = nominal(n) + sum over children of (quota - exclusive)
// - exclusive(n) = quota(n) - lending limit; 0 without a lending limit
// - use(n) = use of n's own jobs + sum over children of max(0, use - exclusive)
// - available(n) = max(0, exclusive - use) + available(parent), at most quota + borrowing limit - use
// - available(root) = quota - use
// No level provides less than its unused exclusive part. Quota is therefore borrowed from the cohort, not from a
// group, and groups have no debt to each other. (Kueue's hierarchical cohorts, KEP-79.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace taut::brain {

inline constexpr int64_t kNoQuotaLimit = INT64_MAX;

// A group or cohort in this lane.
struct QuotaCell {
  int64_t nominal = 0;             // nominal quota without the children's quota
  int64_t borrow = kNoQuotaLimit;  // highest use beyond `quota`
  int64_t exclusive = 0;           // part of `quota` that is never lent
  int64_t quota = 0;
  int64_t use = 0;  // use of `quota` and of borrowed quota
  // Use of all jobs below this cell. In contrast, a cohort's `use` excludes the children's use of their
  // exclusive parts.
  int64_t held = 0;
  int32_t parent = -1;
  bool listed = false;  // true if the specification has a row for this cell

  int64_t unused_exclusive() const { return std::max(int64_t{0}, exclusive - use); }
};

// Reason why an amount does not fit at one level of the tree.
struct QuotaBind {
  enum class What { kBorrowingLimit, kCohort };
  What what = What::kCohort;
  int32_t node = 0;
  int64_t asked = 0;      // amount that this level must provide, after the levels below it
  int64_t available = 0;  // amount that this level can provide
};

// A lane as a value; copying it copies all cells. Nodes are indices of `cells`. Calls are O(depth) unless stated
// otherwise.
class QuotaLane {
 public:
  QuotaLane() = default;
  // Creates a lane of these cells. REQUIRES: the cells' parents are indices of `cells`, without a cycle.
  explicit QuotaLane(std::vector<QuotaCell> cells) : cells_(std::move(cells)) {}

  const QuotaCell& cell(int32_t node) const { return cells_[static_cast<size_t>(node)]; }
  size_t size() const { return cells_.size(); }
  int32_t RootOf(int32_t node) const;

  // Returns the highest amount that a group may additionally use now.
  int64_t Available(int32_t node) const { return MostOf(node, true); }
  // Returns the highest amount that a group could use if all quota were unused.
  int64_t Maximum(int32_t node) const { return MostOf(node, false); }
  // Returns every level that cannot provide `amount`, from the group upwards; empty if the amount fits. If `now`
  // is false, computes as if all quota were unused.
  std::vector<QuotaBind> Binds(int32_t node, int64_t amount, bool now) const;
  bool Fits(int32_t node, int64_t amount) const { return amount <= Available(node); }
  // Returns the lowest cohort whose quota covers `amount` in addition to its use. Returns the group itself if
  // its own quota covers `amount`. REQUIRES: `amount` fits.
  int32_t LenderOf(int32_t node, int64_t amount) const;
  // Returns the sum of the unused exclusive quota of the other groups and cohorts in the tree of `node`, which
  // `node` cannot borrow. O(nodes * depth).
  int64_t UnlentTo(int32_t node) const;

  // Adds `amount`, which may be negative, to the group's use, even if it does not fit. REQUIRES: the group's use
  // stays >= 0.
  void Add(int32_t node, int64_t amount);

 private:
  int64_t MostOf(int32_t node, bool now) const;

  std::vector<QuotaCell> cells_;
};

}  // namespace taut::brain
