// Specification of quota, and its checks: groups in a tree of cohorts with a quota per tier and resource.
// quota_tree.h does the arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/economy/quota_vector.h"

namespace taut::brain {

// The quota of a group for one resource in one tier. Borrowing and lending limits have the meaning that Kueue
// defines (docs, "Cluster Queue").
struct QuotaRow {
  std::string tier, resource;
  int64_t nominal = 0;  // nominal quota
  // Highest use beyond the group's own quota; for a cohort, beyond its own and its groups' quota. Absent if the
  // group may use all available quota of the cohort above.
  std::optional<int64_t> borrowing_limit = std::nullopt;
  // Highest amount of the group's unused own quota that the cohort above may lend; absent if it may lend all.
  // The rest of the own quota is exclusive.
  std::optional<int64_t> lending_limit = std::nullopt;
};

// A group without children uses quota. A group with children is a cohort: the children share its nominal quota,
// and no job runs in the cohort itself. A group without a row for a tier and resource has no quota of the resource
// in the tier and may not borrow. A cohort without a row adds no quota and no limit.
struct QuotaGroup {
  std::string name;
  std::string parent = {};  // name of the parent; "": the group has no parent
  std::vector<QuotaRow> quotas = {};
  // Highest number of requests that may be queued or open at a time; absent: the caller's default applies. Has
  // no effect on a cohort, which has no requests.
  std::optional<int64_t> max_requests = std::nullopt;
};

// An agreement between groups with one parent: the members lend each other all unused quota, regardless of their
// limits. For the parent, the members are one cohort, whose lending and borrowing limits are the sums of the
// members' limits.
struct QuotaPool {
  std::string name;
  std::vector<std::string> members;
  std::vector<std::string> tiers = {};  // tiers to which the pool applies; empty: all tiers
};

inline constexpr std::string_view kProductionTier = "production";

// The capacity of all machines for one resource. The nominal quota of tier kProductionTier may not exceed it,
// because production may use all of its quota at once.
struct QuotaCapacity {
  std::string resource;
  int64_t amount = 0;
  double availability = 1;        // share of `amount` that is in service at any time, > 0 and <= 1
  bool accepts_oversold = false;  // true if quota beyond the capacity is a warning instead of an error

  // Returns the capacity in service.
  int64_t in_service() const;
};

// Groups, and the pools on which groups have agreed.
struct QuotaSpec {
  std::vector<QuotaGroup> groups;
  std::vector<QuotaPool> pools = {};
  std::vector<QuotaCapacity> capacity = {};
};

// Returns the sum of the nominal quota of tier kProductionTier, at most kMaxQuotaAmount.
int64_t ProductionQuota(const QuotaSpec& spec, std::string_view resource);
// Returns the amount by which ProductionQuota exceeds the capacity in service, 0 if it does not; nullopt if the
// specification has no capacity of the resource.
std::optional<int64_t> Oversold(const QuotaSpec& spec, std::string_view resource);

// The use of a group, or of one job of the group, in a tier.
struct QuotaUse {
  std::string group, tier;
  QuotaVector amounts;
  bool operator==(const QuotaUse&) const = default;
};

// An error or a warning about a specification.
struct QuotaFinding {
  bool error = false;  // false for a warning, with which the specification can be used
  std::string group;   // name of the group or pool
  std::string text;    // sentence with the group, the value and the allowed values
};

// Checks a specification. CheckQuota of quota_tree.h also reports use beyond the quota. Findings are in the order
// of the groups. O(n log n) for n rows and groups. Errors:
// - an empty or repeated name, an unknown parent, a cycle,
// - an amount or max_requests out of bounds, a lending limit above the nominal quota,
// - two rows for the same tier and resource,
// - nominal quota of production above a capacity that does not accept it, two capacities of one resource,
// - a pool with fewer than two members, with members of different parents, or with a member of another pool,
// - use by an unknown group or a cohort.
// Warnings: names that differ only in case, and limits without effect.
std::vector<QuotaFinding> CheckQuotaSpec(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

}  // namespace taut::brain
