// Elastic shares of one resource in a tree of groups. Each group has a guaranteed minimum, a maximum, and a
// weight that determines its part of spare capacity. Other groups may use the unused part of a minimum.
// (Koordinator's elastic quota tree; algorithm: koordinator.sh, "Multi Hierarchy Elastic Quota Management".)
//
// Bottom-up, a group's request is the sum of its children's requests, each at most the child's maximum. A group
// that does not lend requests at least its minimum. Top-down, a parent's amount is shared among its children:
// 1. The minimums are guaranteed. If their sum exceeds the amount, because capacity has dropped, they are scaled
// down in proportion.
// 2. Each child receives min(request, minimum), or its minimum if it does not lend. The rest is spare.
// 3. The spare is shared by weight among the children with an unmet request. Amounts beyond a request are
// returned and shared again, until all requests are met or nothing is returned.
//
// Rounding: when an amount is shared in proportion, each part is rounded down. The parts with the largest
// fractions then receive one of the remaining units each. If fractions are equal, the part with the larger weight
// is preferred, then the part with the smaller name. The parts therefore always sum up exactly, and the order of
// groups does not matter. Example: a spare of 45, divided by the weights 60, 50 and 80, is 14.21, 11.84 and 18.95.
// Rounded down, the parts are 14 + 11 + 18. The second and third child receive the two remaining units: 14, 12,
// 19. If the first child requests only 5 of its 14, the 9 returned units are shared as 3.46 and 5.54, which are +3
// and +6.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::brain {

// A group of the tree. All amounts are in the resource's unit, in [0, kMaxQuotaAmount].
struct ElasticGroup {
  std::string name;
  std::string parent = {};  // name of the parent; "": child of the root
  int64_t min = 0;          // guaranteed amount; at least the sum of the children's minimums
  std::optional<int64_t> max = std::nullopt;     // maximum; absent: unbounded
  std::optional<int64_t> weight = std::nullopt;  // weight; absent: max is used; 0: no part of the spare
  int64_t request = 0;                           // requested amount; 0 for a group with children
  bool lends = true;  // true if other groups may use the unused part of the minimum
};

// The result for one group.
struct ElasticShare {
  int64_t request = 0;  // request of the group, or sum of its children's requests; at most its max
  int64_t min = 0;      // guaranteed minimum, scaled down if the parent has too little
  int64_t runtime = 0;  // amount that the group, or its children together, may use now
  bool operator==(const ElasticShare&) const = default;
};

// Returns the shares in the order of `groups`. Groups without a parent share `total`. The runtimes of a group's
// children never sum up to more than the group's runtime. For n children of a group, O(n^2 log n) in the worst
// case, usually O(n log n). Returns InvalidArgument with all errors:
// - a repeated or empty name, an unknown parent, a cycle,
// - an amount out of bounds, min above max, minimums of children above their parent's minimum,
// - a request of a group with children.
absl::StatusOr<std::vector<ElasticShare>> ShareElastically(std::span<const ElasticGroup> groups,
                                                           int64_t total);

// A participant in proportional sharing.
struct Proportion {
  std::string_view name;
  int64_t weight = 0;  // weight, in [0, kMaxQuotaAmount]
};
// Splits `amount` in proportion to the weights, by the rounding rule above. All parts are 0 if all weights are
// 0. REQUIRES: amount in [0, kMaxQuotaAmount].
std::vector<int64_t> ShareInProportion(std::span<const Proportion> of, int64_t amount);

}  // namespace taut::brain
