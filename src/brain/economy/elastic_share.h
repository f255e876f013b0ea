// Elastic shares of one resource among a tree of groups: each has a guaranteed minimum, which others use
// while it does not, a maximum, and a weight by which it takes part in what is spare. (Koordinator's elastic
// quota tree; references of the algorithm: koordinator.sh, "Multi Hierarchy Elastic Quota Management".)
//
// Bottom-up, a group's request is the sum of its children's, each at most the child's maximum; a group that
// does not lend asks at least for its minimum. Top-down, what a parent has is shared among its children:
//   1. Their minimums; if they add up to more than there is (capacity dropped), scaled down to it in
//      proportion.
//   2. Each has min(request, minimum), or its minimum if it does not lend. The rest is spare.
//   3. The spare is shared by weight among those whose request is not met. What one has beyond its request
//      goes back, and is shared again among those not yet met, until all are, or nothing goes back.
//
// Rounding: whenever an amount is shared in proportion, each gets the whole part of its share, and the units
// that remain go one each to the largest fractions; of equal fractions first to the larger weight, then
// to the smaller name. So the parts always add up to the amount, and the order of the groups does not matter.
// Example: a spare of 45 by weights 60, 50, 80 is 14.21, 11.84, 18.95: 14 + 11 + 18 and the two remaining
// units to the second and third, 14, 12, 19. If the first wanted only 5 of its 14, 9 go back and are shared
// 3.46, 5.54: +3, +6.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::brain {

// All amounts in the resource's unit, 0 to kMaxQuotaAmount.
struct ElasticGroup {
  std::string name;
  std::string parent = {};  // "": the root
  int64_t min = 0;          // guaranteed; the sum of a group's children's is at most its own
  std::optional<int64_t> max = std::nullopt;     // absent: all that there is
  std::optional<int64_t> weight = std::nullopt;  // absent: max. Of 0: nothing of the spare
  int64_t request = 0;                           // of a group without children
  bool lends = true;                             // what it does not use of its minimum
};

struct ElasticShare {
  int64_t request = 0;  // its own or its children's, at most its max
  int64_t min = 0;      // scaled down to what its parent has
  int64_t runtime = 0;  // what it may use now, or its children together
  bool operator==(const ElasticShare&) const = default;
};

// In the order of `groups`; `total` is what the groups without a parent share. The runtimes of a group's
// children never add up to more than its own. InvalidArgument with all that is wrong: a name twice or empty,
// an unknown parent, a cycle, an amount out of bounds, min above max, children's minimums above their
// parent's, a request of a group with children. O(n^2 log n) for n children of a group in the worst case,
// usually O(n log n).
absl::StatusOr<std::vector<ElasticShare>> ShareElastically(std::span<const ElasticGroup> groups,
                                                           int64_t total);

// One that takes part in a proportional sharing.
struct Proportion {
  std::string_view name;
  int64_t weight = 0;  // 0 to kMaxQuotaAmount
};
// `amount` in parts proportional to the weights, by the rounding rule above; all 0 if all weights are.
// REQUIRES: amount is 0 to kMaxQuotaAmount.
std::vector<int64_t> ShareInProportion(std::span<const Proportion> of, int64_t amount);

}  // namespace taut::brain
