#include "brain/economy/quota_tree.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/nearest.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"

namespace taut::brain {

namespace {

template <typename Names>
std::string DidYouMean(std::string_view name, const Names& names) {
  const std::vector<std::string_view> all(names.begin(), names.end());
  return all.empty() ? "there is none"
                     : StrCat("did you mean \"", NearestName(CutUtf8(name, kMostShownBytes), all), "\"?");
}

std::optional<int32_t> IndexIn(std::span<const std::string> sorted, std::string_view name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at == sorted.end() || *at != name) return std::nullopt;
  return static_cast<int32_t>(at - sorted.begin());
}

}  // namespace

// Builds lanes from a specification without errors.
class QuotaTreeBuilder {
 public:
  QuotaTree Build(const QuotaSpec& spec, std::span<const QuotaUse> in_use) {
    CollectNames(spec, in_use);
    SetParents(spec);
    for (size_t t = 0; t < names_->tiers.size(); ++t) {
      for (size_t r = 0; r < names_->resources.size(); ++r) tree_.lanes_.push_back(BuildLane(spec, t, r));
    }
    tree_.names_ = names_;
    // Add cannot fail, because CheckQuotaSpec accepted the use
    for (const QuotaUse& use : in_use) (void)tree_.Add(use);
    return std::move(tree_);
  }

 private:
  void CollectNames(const QuotaSpec& spec, std::span<const QuotaUse> in_use) {
    std::set<std::string> tiers, resources;
    for (const QuotaGroup& g : spec.groups) {
      names_->groups.push_back(g.name);
      for (const QuotaRow& q : g.quotas) {
        tiers.insert(q.tier);
        resources.insert(q.resource);
      }
    }
    for (const QuotaPool& p : spec.pools) names_->groups.push_back(p.name);
    for (const QuotaUse& u : in_use) {  // a tier or resource without quota may have use
      tiers.insert(u.tier);
      for (const QuotaAmount& a : u.amounts.amounts()) resources.insert(a.resource);
    }
    names_->tiers.assign(tiers.begin(), tiers.end());
    names_->resources.assign(resources.begin(), resources.end());
    for (size_t i = 0; i < names_->groups.size(); ++i)
      names_->by_group[names_->groups[i]] = static_cast<int32_t>(i);
  }

  void SetParents(const QuotaSpec& spec) {
    parents_.assign(names_->groups.size(), -1);
    for (size_t i = 0; i < spec.groups.size(); ++i) {
      if (!spec.groups[i].parent.empty()) parents_[i] = names_->by_group.at(spec.groups[i].parent);
    }
    for (size_t p = 0; p < spec.pools.size(); ++p) {
      const auto pool = static_cast<int32_t>(spec.groups.size() + p);
      for (const std::string& member : spec.pools[p].members) {
        const auto m = static_cast<size_t>(names_->by_group.at(member));
        // The pool replaces the member below the parent, and the member moves below the pool.
        parents_[static_cast<size_t>(pool)] = parents_[m];
        parents_[m] = pool;
      }
    }
    names_->cohort.assign(names_->groups.size(), false);
    std::vector<size_t> depth(parents_.size());
    for (size_t i = 0; i < parents_.size(); ++i) {
      if (parents_[i] >= 0) names_->cohort[static_cast<size_t>(parents_[i])] = true;
      for (int32_t at = parents_[i]; at >= 0; at = parents_[static_cast<size_t>(at)]) ++depth[i];
      bottom_up_.push_back(i);
    }
    // Children precede parents, so that a cohort's quota is complete when its parent adds it.
    std::stable_sort(bottom_up_.begin(), bottom_up_.end(),
                     [&](size_t a, size_t b) { return depth[a] > depth[b]; });
  }

  static bool Covers(const QuotaPool& pool, const std::string& tier) {
    return pool.tiers.empty() || std::find(pool.tiers.begin(), pool.tiers.end(), tier) != pool.tiers.end();
  }

  QuotaLane BuildLane(const QuotaSpec& spec, size_t tier, size_t resource) const {
    const std::string &tier_name = names_->tiers[tier], &resource_name = names_->resources[resource];
    std::vector<QuotaCell> cells(names_->groups.size());
    std::vector<std::optional<int64_t>> lending(cells.size());
    for (size_t i = 0; i < spec.groups.size(); ++i) {
      if (!names_->cohort[i]) cells[i].borrow = 0;  // default of a group without a row
      for (const QuotaRow& q : spec.groups[i].quotas) {
        if (q.tier != tier_name || q.resource != resource_name) continue;
        cells[i].nominal = q.nominal;
        cells[i].borrow = q.borrowing_limit.value_or(kNoQuotaLimit);
        cells[i].listed = true;
        lending[i] = q.lending_limit;
      }
    }
    for (size_t p = spec.groups.size(); p < cells.size(); ++p) {
      // JoinPool adds the borrowing limits of the members.
      if (Covers(spec.pools[p - spec.groups.size()], tier_name)) cells[p].borrow = 0;
    }
    for (const size_t i : bottom_up_) {
      QuotaCell& c = cells[i];
      c.parent = parents_[i];
      c.quota += c.nominal;
      // This statement must precede JoinPool, because JoinPool moves the exclusive part of a member to its pool.
      if (lending[i].has_value()) c.exclusive = std::max(int64_t{0}, c.quota - *lending[i]);
      if (c.parent < 0) continue;
      QuotaCell& above = cells[static_cast<size_t>(c.parent)];
      const size_t pool = static_cast<size_t>(c.parent) - spec.groups.size();
      if (pool < spec.pools.size() && Covers(spec.pools[pool], tier_name)) JoinPool(c, above);
      above.quota += c.quota - c.exclusive;
    }
    return QuotaLane(std::move(cells));
  }

  // Moves a member's limits to the pool. Within the pool, the member has no limits.
  static void JoinPool(QuotaCell& member, QuotaCell& pool) {
    pool.exclusive += member.exclusive;
    member.exclusive = 0;
    const bool all = member.borrow == kNoQuotaLimit || pool.borrow == kNoQuotaLimit;
    pool.borrow = all ? kNoQuotaLimit : pool.borrow + member.borrow;
    if (member.listed) member.borrow = kNoQuotaLimit;
  }

  std::shared_ptr<QuotaTree::Names> names_ = std::make_shared<QuotaTree::Names>();
  std::vector<int32_t> parents_;
  std::vector<size_t> bottom_up_;
  QuotaTree tree_;
};

absl::StatusOr<QuotaTree> QuotaTree::Make(const QuotaSpec& spec, std::span<const QuotaUse> in_use) {
  std::string errors;
  for (const QuotaFinding& f : CheckQuotaSpec(spec, in_use)) {
    if (f.error) StrAppend(&errors, errors.empty() ? "" : "; ", f.text);
  }
  if (!errors.empty()) return absl::InvalidArgumentError(errors);
  return QuotaTreeBuilder().Build(spec, in_use);
}

std::optional<int32_t> QuotaTree::TierNamed(std::string_view name) const {
  return IndexIn(names_->tiers, name);
}

std::optional<int32_t> QuotaTree::ResourceNamed(std::string_view name) const {
  return IndexIn(names_->resources, name);
}

absl::StatusOr<int32_t> QuotaTree::GroupNamed(std::string_view name) const {
  const auto at = names_->by_group.find(name);
  if (at == names_->by_group.end()) {
    return absl::NotFoundError(
        StrCat("unknown group \"", ShortText(name), "\"; ", DidYouMean(name, names_->groups)));
  }
  if (IsCohort(at->second)) {
    return absl::FailedPreconditionError(
        StrCat("\"", ShortText(name), "\" is a cohort, in which nothing runs; expected one of its groups"));
  }
  return at->second;
}

absl::StatusOr<int32_t> QuotaTree::TierOrError(std::string_view name) const {
  const std::optional<int32_t> tier = TierNamed(name);
  if (tier.has_value()) return *tier;
  return absl::InvalidArgumentError(
      StrCat("unknown tier \"", ShortText(name), "\"; ", DidYouMean(name, names_->tiers)));
}

bool QuotaTree::HasTier(int32_t group, int32_t tier) const {
  for (int32_t r = 0; r < static_cast<int32_t>(names_->resources.size()); ++r) {
    if (lane(tier, r).cell(group).listed) return true;
  }
  return false;
}

absl::Status QuotaTree::Add(const QuotaUse& use) { return Change(use, 1); }
absl::Status QuotaTree::Remove(const QuotaUse& use) { return Change(use, -1); }

absl::Status QuotaTree::Change(const QuotaUse& use, int64_t sign) {
  const absl::StatusOr<int32_t> group = GroupNamed(use.group);
  if (!group.ok()) return absl::InvalidArgumentError(group.status().message());
  const absl::StatusOr<int32_t> tier = TierOrError(use.tier);
  if (!tier.ok()) return tier.status();
  // Checks all amounts before the first change, so that an error changes no resource.
  for (const QuotaAmount& a : use.amounts.amounts()) {
    const std::optional<int32_t> resource = ResourceNamed(a.resource);
    if (!resource.has_value()) {
      return absl::InvalidArgumentError(StrCat("unknown resource \"", ShortText(a.resource), "\"; ",
                                               DidYouMean(a.resource, names_->resources)));
    }
    const QuotaLane& of = lane(*tier, *resource);
    // The sum over the tree is bounded, so that sums in the lane cannot overflow.
    const int64_t room = kMaxQuotaAmount - of.cell(of.RootOf(*group)).held;
    if (a.amount < 0 || (sign > 0 && a.amount > room)) {
      return absl::InvalidArgumentError(StrCat("invalid ", a.resource, " of group \"", use.group,
                                               "\": ", a.amount, ", expected 0 to ", room));
    }
    if (sign < 0 && a.amount > of.cell(*group).held) {
      return absl::FailedPreconditionError(StrCat(
          "group \"", use.group, "\" uses ", QuotaText(a.resource, of.cell(*group).held), " in tier \"",
          use.tier, "\", which is less than the ", QuotaText(a.resource, a.amount), " to release"));
    }
  }
  for (const QuotaAmount& a : use.amounts.amounts())
    lanes_[LaneOf(*tier, *ResourceNamed(a.resource))].Add(*group, sign * a.amount);
  return absl::OkStatus();
}

std::vector<QuotaUse> QuotaTree::InUse() const {
  std::vector<QuotaUse> out;
  for (int32_t g = 0; g < groups(); ++g) {
    if (IsCohort(g)) continue;
    for (size_t t = 0; t < names_->tiers.size(); ++t) {
      QuotaUse use{NameOf(g), names_->tiers[t], {}};
      for (size_t r = 0; r < names_->resources.size(); ++r)
        use.amounts.Set(names_->resources[r],
                        lane(static_cast<int32_t>(t), static_cast<int32_t>(r)).cell(g).held);
      if (!use.amounts.empty()) out.push_back(std::move(use));
    }
  }
  return out;
}

std::vector<QuotaFinding> QuotaTree::Overused() const {
  std::vector<QuotaFinding> out;
  for (int32_t g = 0; g < groups(); ++g) {
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const QuotaCell& c = lanes_[i].cell(g);
      const int64_t may = c.parent < 0                ? c.quota
                          : c.borrow == kNoQuotaLimit ? kNoQuotaLimit
                                                      : c.quota + c.borrow;
      if (c.use <= may) continue;
      const std::string& resource = names_->resources[i % names_->resources.size()];
      out.push_back({false, NameOf(g),
                     StrCat("\"", NameOf(g), "\" uses ", QuotaText(resource, c.use), " of tier \"",
                            names_->tiers[i / names_->resources.size()], "\" and may use ",
                            QuotaText(resource, may), "; nothing more is admitted until it is less")});
    }
  }
  return out;
}

std::vector<QuotaFinding> CheckQuota(const QuotaSpec& spec, std::span<const QuotaUse> in_use) {
  std::vector<QuotaFinding> out = CheckQuotaSpec(spec, in_use);
  if (std::any_of(out.begin(), out.end(), [](const QuotaFinding& f) { return f.error; })) return out;
  for (QuotaFinding& f : QuotaTreeBuilder().Build(spec, in_use).Overused()) out.push_back(std::move(f));
  return out;
}

}  // namespace taut::brain
