// Quota of one resource in one tier: a tree of cohorts, with integer arithmetic.
//
// Definitions, for node n:
// - quota(n) = nominal(n) + sum over children of (quota - exclusive)
// - exclusive(n) = quota(n) - lending limit (0 without one)
// - use(n) = use of n's own jobs + sum over children of max(0, use - exclusive)
// - available(n) = max(0, exclusive - use) + available(parent), at most quota + borrowing limit - use
// - available(root) = quota - use
// No level yields less than its unused exclusive part. Quota is therefore borrowed from the cohort, not from a
// group, and groups have no debt to each other. (Kueue's hierarchical cohorts, KEP-79.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace taut::brain {

inline constexpr int64_t kNoQuotaLimit = INT64_MAX;

// A group or cohort in this lane.
struct QuotaCell {
  int64_t nominal = 0;             // own quota, without its children's
  int64_t borrow = kNoQuotaLimit;  // most that the group may use beyond `quota`
  int64_t exclusive = 0;           // part of `quota` that is never lent
  int64_t quota = 0;
  int64_t use = 0;  // use of `quota` or of borrowed quota
  // Use of all jobs below this cell. A cohort's `use`, in contrast, lacks its children's use of their exclusive
  // parts.
  int64_t held = 0;
  int32_t parent = -1;
  bool listed = false;  // the specification has a row for this cell

  int64_t unused_exclusive() const { return std::max(int64_t{0}, exclusive - use); }
};

// Why an amount does not fit at one level.
struct QuotaBind {
  enum class What { kBorrowingLimit, kCohort };
  What what = What::kCohort;
  int32_t node = 0;
  int64_t asked = 0;      // amount that this level is asked for, after the levels below
  int64_t available = 0;  // amount that this level has left
};

// A value; a copy copies all cells. Nodes are indices of `cells`. Calls are O(depth) unless stated otherwise.
class QuotaLane {
 public:
  QuotaLane() = default;
  // REQUIRES: parents are indices of `cells` without a cycle.
  explicit QuotaLane(std::vector<QuotaCell> cells) : cells_(std::move(cells)) {}

  const QuotaCell& cell(int32_t node) const { return cells_[static_cast<size_t>(node)]; }
  size_t size() const { return cells_.size(); }
  int32_t RootOf(int32_t node) const;

  // Returns the most that a group may additionally use now.
  int64_t Available(int32_t node) const { return MostOf(node, true); }
  // Returns the most that a group could use if nothing were in use.
  int64_t Maximum(int32_t node) const { return MostOf(node, false); }
  // Returns every level without enough for `amount`, from the group up; empty if the amount fits. `now` = false:
  // computes as if nothing were in use.
  std::vector<QuotaBind> Binds(int32_t node, int64_t amount, bool now) const;
  bool Fits(int32_t node, int64_t amount) const { return amount <= Available(node); }
  // Returns the lowest cohort whose quota covers `amount` in addition to its use, or the group itself if the
  // group's own quota covers `amount`. REQUIRES: `amount` fits.
  int32_t LenderOf(int32_t node, int64_t amount) const;
  // Returns the unused quota in the tree of `node` that is not lent to `node`. O(nodes * depth).
  int64_t UnlentTo(int32_t node) const;

  // Adds `amount` (may be negative) to the group's use, whether it fits or not. REQUIRES: the group's use stays >=
  // 0.
  void Add(int32_t node, int64_t amount);

 private:
  int64_t MostOf(int32_t node, bool now) const;

  std::vector<QuotaCell> cells_;
};

}  // namespace taut::brain
