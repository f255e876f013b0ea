// Accounts of a window: amounts that its jobs used, and amounts that were allocated and billed.
#include <algorithm>
#include <cmath>

#include "brain/fleet/past_account.h"
#include "brain/fleet/vertical_pass.h"
#include "common/base/byte_units.h"
#include "common/model/request_signals.h"
#include "common/model/whole_machine.h"
#include "common/model/window_sums.h"

namespace taut::brain {
namespace {

// Returns the accounted quantity if each task has `amount` during a whole window.
uint64_t Quantity(Resource r, double amount, uint32_t tasks) {
  const double units = amount * UnitOf(r).accounted;
  // Bound on an amount, so that a damaged figure does not result in a huge bill.
  constexpr double kMost = 1e15;
  return static_cast<uint64_t>(std::llround(std::clamp(units * tasks * kWindowSeconds, 0.0, kMost)));
}

// Returns the amounts of a lane in the last window. `starts`: usage of tasks in their start-up window, which is
// not part of the lane's usage.
AccountAmounts AmountsOf(Resource r, const LiveLane& lane, const StartSums& starts,
                         std::optional<double> limit, const Allocation& by) {
  AccountAmounts a;
  const bool measured = lane.tasks > 0 && lane.usage_mean >= 0;
  const uint32_t tasks = (measured ? lane.tasks : 0) + starts.tasks;
  if (tasks == 0) return a;
  a.windows = 1;
  a.usage = (measured ? Quantity(r, lane.usage_mean, lane.tasks) : 0) + Quantity(r, starts.more_cores, 1);
  const auto billed = [&](double amount) { return Quantity(r, lane.Billed(r, amount, by), tasks); };
  if (limit.has_value()) {
    a.allocation = billed(*limit);
  } else {
    a.windows_without_allocation = 1;
  }
  a.billed = std::max(a.usage, a.allocation);
  const std::optional<double> owner = lane.owner();
  a.owner = owner.has_value() ? billed(*owner) : a.allocation;
  const std::optional<double> would_be = lane.lane.recommended();
  a.would_be = owner.has_value() && would_be.has_value() ? billed(*would_be) : a.owner;
  return a;
}

// Returns the amounts of a window that was read from history. In this window, tasks had the owner's limit and
// request.
AccountAmounts PastAmounts(Resource r, const JobDay& day, const JobWindow& window) {
  const UsageSums used = SumUsage(day, window, r);
  AccountAmounts a;
  if (used.tasks == 0) return a;
  a.windows = 1;
  a.usage = Quantity(r, used.usage, 1);
  const auto signals = std::span(day.signals).subspan(window.first_signal, window.num_signals);
  if (const float request = RequestsOf(signals).of(r); request >= 0) {
    a.allocation = Quantity(r, request, used.tasks);
  } else if (const std::optional<double> limit = OwnerLimitSum(window, r, used.tasks); limit.has_value()) {
    a.allocation = Quantity(r, *limit, 1);
  } else {
    a.windows_without_allocation = 1;
  }
  a.billed = std::max(a.usage, a.allocation);
  a.owner = a.would_be = a.allocation;
  return a;
}

}  // namespace

void VerticalPass::Account(const ClosedWindow& closed, size_t first, size_t last,
                           std::vector<AccountEntry>& out) const {
  for (const JobWindowData& data : std::span(closed.jobs).subspan(first, last - first)) {
    const LiveJob* job = s_.jobs.Find(data.job);
    if (job == nullptr || IsWholeMachine(*job->record)) continue;
    AccountEntry& entry = out.emplace_back(AccountEntry{.job = data.job});
    const bool starts = job->starts != nullptr && job->starts->last_window == closed.window;
    for (const Resource r : kResources) {
      const LiveLane& lane = job->of(r);
      entry.of[static_cast<size_t>(r)] =
          AmountsOf(r, lane, starts && r == Resource::kCpu ? job->starts->last : StartSums(),
                    s_.Enforced(*job) ? lane.real_limit() : lane.owner(), job->policy->allocation(r));
    }
  }
}

LateAccount PastAccount(const JobDay& day, WindowId through, std::span<const WindowId> counted) {
  LateAccount out{WindowId{day.day * kWindowsPerDay}, {.job = day.job}};
  for (const JobWindow& window : day.windows) {
    if (through < window.window || std::ranges::binary_search(counted, window.window)) continue;
    for (const Resource r : kResources) out.entry.of[static_cast<size_t>(r)].Add(PastAmounts(r, day, window));
  }
  return out;
}

}  // namespace taut::brain
