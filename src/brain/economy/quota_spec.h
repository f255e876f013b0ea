// Specification of quota: groups in a tree of cohorts with a quota per tier and resource, and its checks.
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

// A group's quota of one resource in one tier. Borrowing and lending limits have the meaning that Kueue defines
// (docs, "Cluster Queue").
struct QuotaRow {
  std::string tier, resource;
  int64_t nominal = 0;  // own quota
  // Most that the group may use beyond its own quota (a cohort: beyond its own and its groups' quota); absent: all
  // quota that the cohort above has available.
  std::optional<int64_t> borrowing_limit = std::nullopt;
  // Most of the group's unused own quota that the cohort above may lend; absent: all. The remaining own quota is
  // exclusive.
  std::optional<int64_t> lending_limit = std::nullopt;
};

// A group without children uses quota. A group with children is a cohort: the children share its nominal quota,
// and no job runs in the cohort itself. A group without a row for a tier and resource has no quota of the resource
// in the tier and may not borrow. A cohort without a row adds no quota and no limit.
struct QuotaGroup {
  std::string name;
  std::string parent = {};  // "": none
  std::vector<QuotaRow> quotas = {};
  // Most requests that may be queued or hold quota at a time; absent: the caller's default. No effect on a
  // cohort, which has no requests.
  std::optional<int64_t> max_requests = std::nullopt;
};

// An agreement between groups of the same parent: the members lend each other all unused quota, whatever their
// limits are. Towards the parent, the members are one cohort, whose lending and borrowing limits are the sums of
// the members' limits.
struct QuotaPool {
  std::string name;
  std::vector<std::string> members;
  std::vector<std::string> tiers = {};  // empty: all tiers
};

// Groups, and the pools that groups have agreed on.
struct QuotaSpec {
  std::vector<QuotaGroup> groups;
  std::vector<QuotaPool> pools = {};
};

// Use of a group, or of one job of the group, in a tier.
struct QuotaUse {
  std::string group, tier;
  QuotaVector amounts;
  bool operator==(const QuotaUse&) const = default;
};

// An error or a warning.
struct QuotaFinding {
  bool error = false;  // false: a warning; the specification can be used
  std::string group;   // group or pool
  std::string text;    // sentence with the group, the value and what is allowed
};

// Checks a specification. CheckQuota of quota_tree.h also reports use beyond the quota. Findings are in the order
// of the groups. O(n log n) for n rows and groups. Errors:
// - an empty or repeated name, an unknown parent, a cycle,
// - an amount or max_requests out of bounds, a lending limit above the nominal quota,
// - two rows for the same tier and resource,
// - a pool with fewer than two members, with members of different parents, or with a member of another pool,
// - use by an unknown group or a cohort.
// Warnings: names that differ only in case, and limits without effect.
std::vector<QuotaFinding> CheckQuotaSpec(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

}  // namespace taut::brain
