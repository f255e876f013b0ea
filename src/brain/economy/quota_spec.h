// Who may use how much: groups in a tree of cohorts with a quota per tier and resource, and what is wrong
// with such a specification. quota_tree.h does the arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/economy/quota_vector.h"

namespace taut::brain {

// A group's quota of one resource in one tier. The limits mean what they mean in Kueue (docs, "Cluster
// Queue").
struct QuotaRow {
  std::string tier, resource;
  int64_t nominal = 0;  // its own
  // The most that it may use beyond its own (a cohort: beyond what its groups have together); absent: all
  // that the cohort above has.
  std::optional<int64_t> borrowing_limit = std::nullopt;
  // The most of its own that the cohort above may lend while it is unused; absent: all. The rest is
  // exclusive.
  std::optional<int64_t> lending_limit = std::nullopt;
};

// A group without children uses quota; one with children is a cohort: its nominal is for its children to
// share, and nothing runs in it. A group that uses has no quota where it has no row, and may not borrow
// there; a cohort without a row passes everything through.
struct QuotaGroup {
  std::string name;
  std::string parent = {};  // "": none
  std::vector<QuotaRow> quotas = {};
  // The most requests of it that may wait or hold quota at a time; absent: the default of who asks. Without
  // effect on a cohort, which asks for nothing.
  std::optional<int64_t> max_requests = std::nullopt;
};

// An agreement: between its members (of the same parent) everything unused is lent, whatever their limits
// say; towards the parent the members are one cohort, which lends and borrows as much as they may together.
struct QuotaPool {
  std::string name;
  std::vector<std::string> members;
  std::vector<std::string> tiers = {};  // empty: all
};

struct QuotaSpec {
  std::vector<QuotaGroup> groups;
  std::vector<QuotaPool> pools = {};
};

// What a group uses in a tier, or what a job of it uses.
struct QuotaUse {
  std::string group, tier;
  QuotaVector amounts;
  bool operator==(const QuotaUse&) const = default;
};

struct QuotaFinding {
  bool error = false;  // else a warning: the specification can be used
  std::string group;   // or the pool
  std::string text;    // a sentence that names the group, the value and what is allowed
};

// What is wrong with a specification in itself; CheckQuota of quota_tree.h adds what is used beyond it.
// Errors: an empty name, two of the same, an unknown parent, a cycle of groups, a negative or excessive
// amount, a negative maximum of requests, a lending limit above the nominal, two rows for the same, a pool of
// other than two or more groups of one parent of which none is in another pool, use of a group that is unknown
// or a cohort. Warnings: names that differ in case only, and limits that have no effect. In the order of the
// groups. O(n log n) for n rows and groups.
std::vector<QuotaFinding> CheckQuotaSpec(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

}  // namespace taut::brain
