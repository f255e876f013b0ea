#include "brain/economy/elastic_share.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "brain/economy/quota_vector.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

__extension__ using Wide = unsigned __int128;

// A child that takes part when its parent's amount is shared.
struct Taker {
  std::string_view name;
  int64_t min = 0, weight = 0, request = 0;
  bool lends = true;
  int64_t runtime = 0;
};

// Shares `spare` among takers with an unmet request. Repeats while amounts beyond requests are returned.
void ShareSpare(std::vector<Taker>& takers, int64_t spare) {
  std::vector<size_t> hungry;
  for (size_t i = 0; i < takers.size(); ++i) {
    if (takers[i].runtime < takers[i].request && takers[i].weight > 0) hungry.push_back(i);
  }
  std::vector<Proportion> of;
  while (spare > 0 && !hungry.empty()) {
    of.clear();
    for (const size_t i : hungry) of.push_back({takers[i].name, takers[i].weight});
    const std::vector<int64_t> parts = ShareInProportion(of, spare);
    spare = 0;
    std::vector<size_t> still;
    for (size_t k = 0; k < hungry.size(); ++k) {
      Taker& t = takers[hungry[k]];
      const int64_t taken = std::min(parts[k], t.request - t.runtime);
      t.runtime += taken;
      spare += parts[k] - taken;
      if (t.runtime < t.request) still.push_back(hungry[k]);
    }
    hungry.swap(still);
  }
}

void Share(std::vector<Taker>& takers, int64_t total) {
  int64_t mins = 0;
  for (const Taker& t : takers) mins += t.min;
  if (mins > total) {
    std::vector<Proportion> of;
    of.reserve(takers.size());
    for (const Taker& t : takers) of.push_back({t.name, t.min});
    const std::vector<int64_t> scaled = ShareInProportion(of, total);
    for (size_t i = 0; i < takers.size(); ++i) takers[i].min = scaled[i];
  }
  int64_t spare = total;
  for (Taker& t : takers) {
    t.runtime = t.lends ? std::min(t.request, t.min) : t.min;
    spare -= t.runtime;
  }
  ShareSpare(takers, spare);
}

class Sharing {
 public:
  explicit Sharing(std::span<const ElasticGroup> groups)
      : groups_(groups), shares_(groups.size()), children_(groups.size()) {}

  absl::StatusOr<std::vector<ElasticShare>> Run(int64_t total) {
    if (total < 0 || total > kMaxQuotaAmount)
      Error(StrCat("invalid total ", total, ": expected 0 to ", kMaxQuotaAmount));
    Names();
    for (const ElasticGroup& g : groups_) Amounts(g);
    if (errors_.empty()) Order();
    if (errors_.empty()) Minimums();
    if (!errors_.empty()) return absl::InvalidArgumentError(errors_);
    total_ = total;
    for (size_t i = top_down_.size(); i-- > 0;) Request(top_down_[i]);
    Divide(roots_, total);
    for (const size_t i : top_down_) Divide(children_[i], shares_[i].runtime);
    return std::move(shares_);
  }

 private:
  void Error(std::string_view text) { StrAppend(&errors_, errors_.empty() ? "" : "; ", text); }

  void Names() {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < groups_.size(); ++i) {
      names.emplace_back(groups_[i].name);
      if (groups_[i].name.empty()) Error("a group has no name");
      if (!by_name_.emplace(groups_[i].name, i).second)
        Error(StrCat("two groups have the name \"", groups_[i].name, "\""));
    }
    for (size_t i = 0; i < groups_.size(); ++i) {
      const std::string& parent = groups_[i].parent;
      const auto at = by_name_.find(parent);
      if (parent.empty()) {
        roots_.push_back(i);
      } else if (at == by_name_.end()) {
        Error(StrCat("unknown parent \"", parent, "\" of group \"", groups_[i].name, "\"; did you mean \"",
                     NearestName(parent, names), "\"?"));
      } else {
        children_[at->second].push_back(i);
      }
    }
  }

  void Amounts(const ElasticGroup& g) {
    const auto check = [&](std::string_view what, int64_t amount) {
      if (amount >= 0 && amount <= kMaxQuotaAmount) return;
      Error(StrCat("invalid ", what, " of group \"", g.name, "\": ", amount, ", expected 0 to ",
                   kMaxQuotaAmount));
    };
    check("min", g.min);
    check("max", g.max.value_or(0));
    check("weight", g.weight.value_or(0));
    check("request", g.request);
    if (g.max.has_value() && g.min > *g.max)
      Error(StrCat("min ", g.min, " of group \"", g.name, "\" is above its max, ", *g.max));
    // The sum is bounded over the whole tree, so that no sum overflows.
    const bool below = sum_ <= static_cast<double>(kMaxQuotaAmount);
    sum_ += static_cast<double>(g.request) + static_cast<double>(g.min);
    if (below && sum_ > static_cast<double>(kMaxQuotaAmount)) {
      Error(StrCat("the requests and minimums up to group \"", g.name, "\" add up to more than ",
                   kMaxQuotaAmount));
    }
  }

  void Order() {
    top_down_ = roots_;
    for (size_t i = 0; i < top_down_.size(); ++i)
      top_down_.insert(top_down_.end(), children_[top_down_[i]].begin(), children_[top_down_[i]].end());
    if (top_down_.size() == groups_.size()) return;
    std::vector<bool> reached(groups_.size());
    for (const size_t i : top_down_) reached[i] = true;
    std::string names;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (!reached[i]) StrAppend(&names, names.empty() ? "\"" : "\", \"", groups_[i].name);
    }
    Error(StrCat("groups in a cycle or below one: ", names, "\""));
  }

  void Minimums() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (!children_[i].empty() && groups_[i].request != 0) {
        Error(StrCat("group \"", groups_[i].name, "\" has children and a request of its own, ",
                     groups_[i].request, "; expected 0"));
      }
      int64_t sum = 0;
      for (const size_t c : children_[i]) sum += groups_[c].min;
      if (!children_[i].empty() && sum > groups_[i].min) {
        Error(StrCat("the minimums of the children of group \"", groups_[i].name, "\" add up to ", sum,
                     ", more than its own, ", groups_[i].min));
      }
    }
  }

  int64_t MaxOf(size_t i) const { return groups_[i].max.value_or(total_); }
  int64_t WeightOf(size_t i) const { return groups_[i].weight.value_or(MaxOf(i)); }

  // Sets the request of a group. Must be called after the requests of its children are set.
  void Request(size_t i) {
    int64_t sum = groups_[i].request;
    for (const size_t c : children_[i]) sum += shares_[c].request;
    if (!groups_[i].lends) sum = std::max(sum, groups_[i].min);
    shares_[i].request = groups_[i].max.has_value() ? std::min(sum, *groups_[i].max) : sum;
  }

  // Shares the amount of a parent among its children.
  void Divide(const std::vector<size_t>& children, int64_t total) {
    std::vector<Taker> takers;
    takers.reserve(children.size());
    for (const size_t c : children)
      takers.push_back({groups_[c].name, groups_[c].min, WeightOf(c), shares_[c].request, groups_[c].lends});
    Share(takers, total);
    for (size_t k = 0; k < children.size(); ++k) {
      shares_[children[k]].min = takers[k].min;
      shares_[children[k]].runtime = takers[k].runtime;
    }
  }

  std::span<const ElasticGroup> groups_;
  std::vector<ElasticShare> shares_;
  std::vector<std::vector<size_t>> children_;
  std::vector<size_t> roots_, top_down_;
  std::unordered_map<std::string, size_t> by_name_;
  std::string errors_;
  int64_t total_ = 0;
  double sum_ = 0;
};

}  // namespace

std::vector<int64_t> ShareInProportion(std::span<const Proportion> of, int64_t amount) {
  std::vector<int64_t> parts(of.size());
  Wide weights = 0;
  for (const Proportion& p : of) weights += static_cast<Wide>(p.weight);
  if (weights == 0) return parts;
  std::vector<Wide> fractions(of.size());
  int64_t left = amount;
  for (size_t i = 0; i < of.size(); ++i) {
    const Wide exact = static_cast<Wide>(of[i].weight) * static_cast<Wide>(amount);
    parts[i] = static_cast<int64_t>(exact / weights);
    fractions[i] = exact % weights;
    left -= parts[i];
  }
  std::vector<size_t> order(of.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) {
    if (fractions[a] != fractions[b]) return fractions[a] > fractions[b];
    if (of[a].weight != of[b].weight) return of[a].weight > of[b].weight;
    return of[a].name < of[b].name;
  };
  // The number of remaining units is less than the number of parts with a fraction above 0.
  std::partial_sort(order.begin(), order.begin() + left, order.end(), before);
  for (int64_t k = 0; k < left; ++k) ++parts[order[static_cast<size_t>(k)]];
  return parts;
}

absl::StatusOr<std::vector<ElasticShare>> ShareElastically(std::span<const ElasticGroup> groups,
                                                           int64_t total) {
  return Sharing(groups).Run(total);
}

}  // namespace taut::brain
