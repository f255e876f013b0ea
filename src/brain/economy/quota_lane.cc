#include "brain/economy/quota_lane.h"

namespace taut::brain {
namespace {

// Returns the amount by which the cell's use is below its borrowing limit.
int64_t BelowLimit(const QuotaCell& c, int64_t use) {
  return c.borrow == kNoQuotaLimit ? kNoQuotaLimit : c.quota + c.borrow - use;
}

}  // namespace

int32_t QuotaLane::RootOf(int32_t node) const {
  while (cell(node).parent >= 0) node = cell(node).parent;
  return node;
}

// Walks to the root. Each level bounds the amount by the exclusive parts below the level plus the amount that
// the level itself can provide.
int64_t QuotaLane::MostOf(int32_t node, bool now) const {
  int64_t most = kNoQuotaLimit, exclusive = 0;
  for (;; node = cell(node).parent) {
    const QuotaCell& c = cell(node);
    const int64_t use = now ? c.use : 0;
    const int64_t own = std::max(int64_t{0}, c.exclusive - use);
    const int64_t level = c.parent < 0 ? c.quota - use : BelowLimit(c, use);
    if (level != kNoQuotaLimit) most = std::min(most, exclusive + std::max(own, level));
    if (c.parent < 0) return most;
    exclusive += own;
  }
}

std::vector<QuotaBind> QuotaLane::Binds(int32_t node, int64_t amount, bool now) const {
  std::vector<QuotaBind> out;
  for (; amount > 0 && node >= 0; node = cell(node).parent) {
    const QuotaCell& c = cell(node);
    const int64_t use = now ? c.use : 0;
    const int64_t own = std::max(int64_t{0}, c.exclusive - use);
    const int64_t level = std::max(own, c.parent < 0 ? c.quota - use : BelowLimit(c, use));
    if (amount > level) {
      const auto what = c.parent < 0 ? QuotaBind::What::kCohort : QuotaBind::What::kBorrowingLimit;
      out.push_back({what, node, amount, level});
    }
    // The exclusive part provides its share first, and only the rest is required from the level above.
    amount -= own;
  }
  return out;
}

int32_t QuotaLane::LenderOf(int32_t node, int64_t amount) const {
  for (;; node = cell(node).parent) {
    const QuotaCell& c = cell(node);
    if (c.parent < 0 || c.use + amount <= c.quota) return node;
    amount -= c.unused_exclusive();
  }
}

int64_t QuotaLane::UnlentTo(int32_t node) const {
  const int32_t root = RootOf(node);
  int64_t out = 0;
  for (int32_t i = 0; i < static_cast<int32_t>(cells_.size()); ++i) {
    if (cell(i).unused_exclusive() > 0 && cell(i).parent >= 0 && RootOf(i) == root)
      out += cell(i).unused_exclusive();
  }
  for (; cell(node).parent >= 0; node = cell(node).parent) out -= cell(node).unused_exclusive();
  return out;
}

void QuotaLane::Add(int32_t node, int64_t amount) {
  // `flow` is the change of the use that exceeds the exclusive part of the level below.
  for (int64_t flow = amount; node >= 0; node = cell(node).parent) {
    QuotaCell& c = cells_[static_cast<size_t>(node)];
    const int64_t before = std::max(int64_t{0}, c.use - c.exclusive);
    c.use += flow;
    c.held += amount;
    flow = std::max(int64_t{0}, c.use - c.exclusive) - before;
  }
}

}  // namespace taut::brain
