// The actuary of a running cell. The service stores hourly time series. For each tier, the service computes how
// much capacity can still be sold, and with which promised availability. Source: docs/algorithms/economy.md,
// "Capacity of a running cell".
//
// The replay uses the same arithmetic. An Actuary (brain/economy/actuary.h) makes each quote from the stored
// hours, and a PromiseLedger contains each promise. Quotes for a month or longer are made at midnight (UTC), other
// quotes every hour. Therefore the state consists of hours and promises only.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/pool/capacity_lines.h"
#include "server/pool/capacity_view.h"

namespace taut::server {

// Computes the capacity for sale. Thread-safe.
class CapacityService {
 public:
  // `tiers` is sorted by descending priority and is not empty. The history of other tiers is kept; see
  // CapacityLines::HigherUse().
  explicit CapacityService(std::vector<CapacityTier> tiers);

  // Deletes the whole state.
  void Clear();
  // Adds a closed window. Ignores a window that is not later than the last window. A window more than an hour
  // before the last window sets the clock back, which deletes all later hours.
  //
  // The last window of an hour closes the hour. The service then makes quotes, and a promise for each quote that
  // has no open promise. Promises for a day or longer are made only at midnight (UTC). Closing an hour takes at
  // most 0.2 s with the default tiers and kCapacityDays (capacity_service_bench.cc), other windows a few
  // microseconds.
  void OnWindow(const CellCapacity& window);
  // Adds a window of the past, without promises. Ignores a window that is not later than the last window. The next
  // OnWindow() makes the quotes. Cost: a few microseconds.
  void OnPastWindow(const CellCapacity& window);
  // Shows the window as the newest, without adding it to its hour. Used after a restart until a window closes.
  void Show(const CellCapacity& window);
  // Returns the latest snapshot; never null.
  std::shared_ptr<const CapacityView> View() const;
  // Returns the time series in [from_s, to_s) in steps that are multiples of resolution_s. Omits steps before the
  // first and after the last known hour. REQUIRES: resolution_s is a positive multiple of 3600.
  CapacityHistory History(int64_t from_s, int64_t to_s, int64_t resolution_s) const;
  // Returns the newest added window; nullopt if there is none.
  std::optional<WindowId> window() const;

  // Returns the whole state with a checksum (common/histogram/checkpoint.h), about 0.1 MB.
  std::string SaveState() const;
  // Restores a state. Call before the first OnWindow(). Returns an error if the state is damaged or from a newer
  // version, and then leaves the service unchanged.
  absl::Status LoadState(std::string_view bytes);

 private:
  // Promises for one tier, resource and horizon.
  struct HorizonLedger {
    std::string tier;
    Resource resource = Resource::kCpu;
    size_t horizon = 0;
    brain::PromiseLedger ledger{3600};
  };
  struct Quoted {
    size_t tier = 0, horizon = 0;
    Resource resource = Resource::kCpu;
    int32_t until = 0;  // first hour after the quoted hours
    brain::Quote quote;
  };
  // ---- capacity_state.cc ----
  absl::Status LoadAll(ByteReader& in);
  // REQUIRES (all functions below): mutex_ is locked.
  void SetBack(int32_t hour);
  enum class Close : uint8_t { kOnTime, kLate, kPast };
  void CloseHour(Close how);
  void AddToHour(const CellCapacity& window, Close before);
  void MakeDueQuotes();
  void Observe(int32_t hour);
  void MakeQuotes();
  void MakePromises(int32_t hour);
  void CollectPromises();
  void Forget(int32_t hour);
  HorizonLedger& LedgerOf(const std::string& tier, Resource r, size_t horizon);
  const HorizonLedger* FindLedger(const std::string& tier, Resource r, size_t horizon) const;
  struct Series;
  brain::Quote QuoteOf(size_t tier, Resource r, size_t horizon, const Series& series, int32_t until) const;
  void Publish();
  std::vector<CapacityOffer> Offers() const;
  void FillReady(const brain::Quote& quote, size_t horizon, CapacityOffer& offer) const;

  const std::vector<CapacityTier> tiers_;
  mutable std::mutex mutex_;
  CapacityLines lines_;
  std::vector<HorizonLedger> ledgers_;
  std::optional<int32_t> hour_;  // open hour; absent if no hour is open
  HourOfCapacity open_;
  std::optional<WindowId> window_;
  std::optional<CellCapacity> latest_;
  std::vector<Quoted> quotes_;  // quotes at the end of the last closed hour
  bool quotes_due_ = false;     // true if past hours were added since the last quotes
  std::vector<CapacityPromise> shown_;
  PerResource<int32_t> measured_hours_ = {};

  mutable std::mutex view_mutex_;  // lock for view_ only, so that readers do not wait for quotes
  std::shared_ptr<const CapacityView> view_;
};

// Returns the availability, as a share, that an actuary may promise for this tier.
double PromiseOfTier(const CapacityTier& tier);

}  // namespace taut::server
