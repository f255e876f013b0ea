// Quota of one resource in one tier: the tree of cohorts as arithmetic on whole numbers.
//
// With quota(n) = nominal(n) + sum over n's children of (quota - exclusive), exclusive(n) = quota(n) -
// lending limit (0 without one), and use(n) = what n's own jobs use + sum over n's children of max(0, use -
// exclusive):
//   available(n) = max(0, exclusive - use) + available(parent), and at most quota + borrowing limit - use;
//   available(root) = quota - use; none is below what the exclusive part leaves.
// So borrowed quota comes from the cohort, not from a group, and there is no debt between groups. (Kueue's
// hierarchical cohorts, KEP-79.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace taut::brain {

inline constexpr int64_t kNoQuotaLimit = INT64_MAX;

// A group or cohort.
struct QuotaCell {
  int64_t nominal = 0;             // its own, without its children's
  int64_t borrow = kNoQuotaLimit;  // beyond `quota`
  int64_t exclusive = 0;           // of `quota`, never lent
  int64_t quota = 0;
  int64_t use = 0;  // of `quota` or borrowed
  int64_t held =
      0;  // by all jobs below: a cohort's `use` has not what its children use of their exclusive part
  int32_t parent = -1;
  bool listed = false;  // it has a row

  int64_t unused_exclusive() const { return std::max(int64_t{0}, exclusive - use); }
};

// Why an amount does not fit, at one level.
struct QuotaBind {
  enum class What { kBorrowingLimit, kCohort };
  What what = What::kCohort;
  int32_t node = 0;
  int64_t asked = 0;      // what reaches this level
  int64_t available = 0;  // what it could give
};

// A value; copying it copies its cells. Nodes are the indices of `cells`. Each call is O(depth) if nothing
// else is said.
class QuotaLane {
 public:
  QuotaLane() = default;
  // REQUIRES: parents are indices of `cells` and make no cycle.
  explicit QuotaLane(std::vector<QuotaCell> cells) : cells_(std::move(cells)) {}

  const QuotaCell& cell(int32_t node) const { return cells_[static_cast<size_t>(node)]; }
  size_t size() const { return cells_.size(); }
  int32_t RootOf(int32_t node) const;

  // The most that a group may use more than now.
  int64_t Available(int32_t node) const { return MostOf(node, true); }
  // The most that it could use if no one used anything, itself included.
  int64_t Maximum(int32_t node) const { return MostOf(node, false); }
  // Every level that does not have `amount`, from the group up; empty if it fits. With `now` false, as if no
  // one used anything.
  std::vector<QuotaBind> Binds(int32_t node, int64_t amount, bool now) const;
  bool Fits(int32_t node, int64_t amount) const { return amount <= Available(node); }
  // The lowest cohort whose own quota holds `amount` more of the group; the group itself if it borrows
  // nothing. REQUIRES: it fits.
  int32_t LenderOf(int32_t node, int64_t amount) const;
  // What is unused in the whole tree of `node` and not lent to it. O(nodes * depth).
  int64_t UnlentTo(int32_t node) const;

  // Counts `amount` more (or less, if negative) in use by the group, allowed or not.
  // REQUIRES: its use stays at least 0.
  void Add(int32_t node, int64_t amount);

 private:
  int64_t MostOf(int32_t node, bool now) const;

  std::vector<QuotaCell> cells_;
};

}  // namespace taut::brain
