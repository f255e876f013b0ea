#include "brain/economy/quota_spec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/nearest.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

// Returns the name in lower case and without surrounding blanks.
std::string Folded(std::string_view name) {
  std::string out(StripSpace(name));
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

class Checker {
 public:
  Checker(const QuotaSpec& spec, std::span<const QuotaUse> in_use) : spec_(spec), in_use_(in_use) {}

  std::vector<QuotaFinding> Check() {
    Names();
    Parents();
    for (const QuotaGroup& g : spec_.groups) Rows(g);
    Totals();
    Capacity();
    for (const QuotaPool& p : spec_.pools) Pool(p);
    Use();
    return std::move(out_);
  }

 private:
  void Error(const std::string& group, std::string text) { out_.push_back({true, group, std::move(text)}); }
  void Warn(const std::string& group, std::string text) { out_.push_back({false, group, std::move(text)}); }
  bool Known(const std::string& group) const { return by_name_.contains(group); }
  std::string Nearest(const std::string& name) const {
    std::vector<std::string_view> all;
    for (const QuotaGroup& g : spec_.groups) all.emplace_back(g.name);
    return NearestName(name, all);
  }

  void Name(std::string_view kind, const std::string& name, std::map<std::string, std::string>& folded,
            const std::string& group) {
    if (name.empty() || StripSpace(name) != name)
      Error(group, StrCat("invalid name \"", name, "\" of a ", kind, ": expected text without outer blanks"));
    const auto [at, added] = folded.emplace(Folded(name), name);
    if (!added && at->second != name)
      Warn(group, StrCat(kind, " \"", name, "\" differs from \"", at->second, "\" in case only"));
  }

  void Names() {
    std::map<std::string, std::string> groups, tiers, resources;
    std::set<std::string> pools;
    for (size_t i = 0; i < spec_.groups.size(); ++i) {
      const QuotaGroup& g = spec_.groups[i];
      Name("group", g.name, groups, g.name);
      if (!by_name_.emplace(g.name, i).second)
        Error(g.name, StrCat("two groups have the name \"", g.name, "\""));
      for (const QuotaRow& q : g.quotas) {
        Name("tier", q.tier, tiers, g.name);
        Name("resource", q.resource, resources, g.name);
        tiers_.insert(q.tier);
      }
    }
    for (const QuotaPool& p : spec_.pools) {
      Name("pool", p.name, groups, p.name);
      if (Known(p.name) || !pools.insert(p.name).second)
        Error(p.name, StrCat("a pool has the name of another group or pool, \"", p.name, "\""));
    }
  }

  void Parents() {
    for (const QuotaGroup& g : spec_.groups) {
      if (g.parent.empty()) continue;
      cohorts_.insert(g.parent);
      if (Known(g.parent)) continue;
      Error(g.name, StrCat("unknown parent \"", g.parent, "\" of group \"", g.name, "\"; did you mean \"",
                           Nearest(g.parent), "\"?"));
    }
    Cycles();
    for (const QuotaPool& p : spec_.pools) pooled_.insert(p.members.begin(), p.members.end());
  }

  // Reports cycles of parents. Visits each group once.
  void Cycles() {
    std::vector<size_t> seen_from(spec_.groups.size(), SIZE_MAX);
    for (size_t start = 0; start < spec_.groups.size(); ++start) {
      std::vector<size_t> path;
      size_t at = start;
      while (seen_from[at] == SIZE_MAX) {
        seen_from[at] = start;
        path.push_back(at);
        const auto parent = by_name_.find(spec_.groups[at].parent);
        if (parent == by_name_.end()) break;
        at = parent->second;
      }
      // The walk has ended at a group of `path`, at which the cycle begins.
      const auto first = std::find(path.begin(), path.end(), at);
      if (first == path.end() || !Known(spec_.groups[path.back()].parent)) continue;
      std::string text = "the groups make a cycle: ";
      for (auto i = first; i != path.end(); ++i) StrAppend(&text, spec_.groups[*i].name, " -> ");
      Error(spec_.groups[at].name, text + spec_.groups[at].name);
    }
  }

  void Requests(const QuotaGroup& g) {
    if (!g.max_requests.has_value()) return;
    if (*g.max_requests < 0) {
      Error(g.name, StrCat("invalid max_requests of group \"", g.name, "\": ", *g.max_requests,
                           ", expected 0 or more"));
    } else if (cohorts_.contains(g.name)) {
      Warn(g.name,
           StrCat("max_requests of \"", g.name, "\" has no effect: requests are of groups without children"));
    }
  }

  void Rows(const QuotaGroup& g) {
    Requests(g);
    std::set<std::pair<std::string, std::string>> seen;
    for (const QuotaRow& q : g.quotas) {
      const std::string where = StrCat("of group \"", g.name, "\", tier \"", q.tier, "\", ", q.resource);
      if (!seen.emplace(q.tier, q.resource).second) Error(g.name, StrCat("two quotas ", where));
      Amount(g.name, "nominal", where, q.nominal);
      Amount(g.name, "borrowing limit", where, q.borrowing_limit.value_or(0));
      Amount(g.name, "lending limit", where, q.lending_limit.value_or(0));
      const bool cohort = cohorts_.contains(g.name);
      if (!cohort && q.lending_limit.value_or(0) > q.nominal) {
        Error(g.name,
              StrCat("lending limit ", *q.lending_limit, " ", where, " is above its nominal, ", q.nominal));
      }
      if (g.parent.empty() && !pooled_.contains(g.name) &&
          (q.borrowing_limit.has_value() || q.lending_limit.has_value()))
        Warn(g.name,
             StrCat("a limit of borrowing or lending ", where, " has no effect: the group has no parent"));
    }
  }
  void Amount(const std::string& group, std::string_view what, const std::string& where, int64_t amount) {
    if (amount >= 0 && amount <= kMaxQuotaAmount) return;
    Error(group, StrCat("invalid ", what, " ", where, ": ", amount, ", expected 0 to ", kMaxQuotaAmount));
  }

  // Checks the sums over all trees, so that no sum of a single tree overflows.
  void Totals() {
    std::map<std::pair<std::string, std::string>, double> totals;
    for (const QuotaGroup& g : spec_.groups) {
      for (const QuotaRow& q : g.quotas) {
        double& sum = totals[{q.tier, q.resource}];
        const bool below = sum <= static_cast<double>(kMaxQuotaAmount);
        sum += static_cast<double>(std::max(q.nominal, q.borrowing_limit.value_or(0)));
        if (below && sum > static_cast<double>(kMaxQuotaAmount)) {
          Error(g.name, StrCat("the quotas of tier \"", q.tier, "\", ", q.resource, " add up to more than ",
                               kMaxQuotaAmount));
        }
      }
    }
  }

  void Capacity() {
    std::set<std::string> seen;
    for (const QuotaCapacity& c : spec_.capacity) {
      if (!seen.insert(c.resource).second) Error("", StrCat("two capacities of ", c.resource));
      Amount("", "capacity", StrCat("of ", c.resource), c.amount);
      const int64_t oversold = Oversold(spec_, c.resource).value_or(0);
      if (oversold == 0) continue;
      const auto text = [&c](int64_t amount) { return QuotaText(c.resource, amount); };
      std::string finding = StrCat("tier \"", kProductionTier, "\", ", c.resource, ": the nominal quotas, ",
                                   text(ProductionQuota(spec_, c.resource)), ", are ", text(oversold),
                                   " above the capacity of ", text(c.in_service()));
      if (c.availability < 1) StrAppend(&finding, " (", c.availability * 100, " % of ", text(c.amount), ")");
      if (c.accepts_oversold) {
        Warn("", std::move(finding));
      } else {
        Error("", StrCat(finding, "; expected less quota, or oversold: accept"));
      }
    }
  }

  void Pool(const QuotaPool& p) {
    if (p.members.size() < 2)
      Error(p.name, StrCat("pool \"", p.name, "\" has ", p.members.size(), " members; expected at least 2"));
    for (const std::string& tier : p.tiers) {
      if (!tiers_.contains(tier))
        Error(p.name, StrCat("pool \"", p.name, "\": no group has a quota of tier \"", tier, "\""));
    }
    const std::string* parent = nullptr;
    for (const std::string& m : p.members) {
      if (!Known(m)) {
        Error(p.name,
              StrCat("pool \"", p.name, "\": unknown group \"", m, "\"; did you mean \"", Nearest(m), "\"?"));
        continue;
      }
      const auto [at, added] = pool_of_.emplace(m, p.name);
      if (!added) {
        Error(p.name, StrCat("group \"", m, "\" is in pool \"", at->second, "\" and in pool \"", p.name,
                             "\"; expected one: join them"));
      }
      const std::string& of = spec_.groups[by_name_.at(m)].parent;
      if (parent != nullptr && *parent != of) {
        Error(p.name, StrCat("pool \"", p.name, "\": group \"", m, "\" has the parent \"", of,
                             "\" and others have \"", *parent, "\"; expected groups of one parent"));
      }
      parent = &of;
    }
  }

  void Use() {
    std::map<std::pair<std::string, std::string>, double> totals;
    for (const QuotaUse& u : in_use_) {
      if (!Known(u.group)) {
        Error(u.group,
              StrCat("group \"", u.group, "\" uses ", QuotaText(u.amounts), " and is not in the quota"));
        continue;
      }
      if (cohorts_.contains(u.group))
        Error(u.group, StrCat("\"", u.group, "\" uses ", QuotaText(u.amounts), " and is a cohort"));
      if (u.tier.empty())
        Error(u.group, StrCat("group \"", u.group, "\" uses quota of a tier without a name"));
      for (const QuotaAmount& a : u.amounts.amounts()) {
        double& total = totals[{u.tier, a.resource}];
        total += static_cast<double>(a.amount);
        if (a.amount < 0 || total > static_cast<double>(kMaxQuotaAmount)) {
          Error(u.group, StrCat("invalid use of ", a.resource, " by group \"", u.group, "\": ", a.amount,
                                ", expected at least 0 and at most ", kMaxQuotaAmount, " by all groups"));
          return;
        }
      }
    }
  }

  const QuotaSpec& spec_;
  std::span<const QuotaUse> in_use_;
  std::vector<QuotaFinding> out_;
  std::unordered_map<std::string, size_t> by_name_;
  std::set<std::string> cohorts_, pooled_, tiers_;
  std::map<std::string, std::string> pool_of_;
};

}  // namespace

int64_t QuotaCapacity::in_service() const {
  // The tolerance keeps products such as 100 * 0.98 whole.
  return static_cast<int64_t>(std::floor(static_cast<double>(amount) * availability + 1e-6));
}

int64_t ProductionQuota(const QuotaSpec& spec, std::string_view resource) {
  int64_t sum = 0;
  for (const QuotaGroup& g : spec.groups) {
    for (const QuotaRow& q : g.quotas) {
      if (q.tier != kProductionTier || q.resource != resource) continue;
      sum += std::clamp<int64_t>(q.nominal, 0, kMaxQuotaAmount - sum);
    }
  }
  return sum;
}

std::optional<int64_t> Oversold(const QuotaSpec& spec, std::string_view resource) {
  const auto found = std::ranges::find(spec.capacity, resource, &QuotaCapacity::resource);
  if (found == spec.capacity.end()) return std::nullopt;
  return std::max<int64_t>(0, ProductionQuota(spec, resource) - found->in_service());
}

std::vector<QuotaFinding> CheckQuotaSpec(const QuotaSpec& spec, std::span<const QuotaUse> in_use) {
  return Checker(spec, in_use).Check();
}

}  // namespace taut::brain
