// The actuary of a running cell. The service stores hourly time series, and computes the capacity that can
// still be sold in each tier, with promises about this capacity. See docs/algorithms/economy.md, "Capacity of
// a running cell".
//
// The replay uses the same arithmetic. An Actuary (brain/economy/actuary.h) makes each quote from the stored
// hours; each promise is in a PromiseLedger. Quotes for a month and longer are made at midnight (UTC), other
// quotes every hour. So the hours and promises are the whole state.
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

// Thread-safe.
class CapacityService {
 public:
  // `tiers`: by descending priority, not empty. The history of tiers that are not in `tiers` is kept: see
  // CapacityLines::HigherUse.
  explicit CapacityService(std::vector<CapacityTier> tiers);

  // Deletes the whole state.
  void Clear();
  // Adds a closed window. A window that is not later than the last window is ignored. A window that is more
  // than an hour before the last window sets the clock back: all later hours are forgotten.
  // The last window of an hour closes the hour. Then quotes are made, and a promise for each quote without an
  // open promise; for a day and longer only at midnight (UTC). Takes at most 0.2 s with the default tiers and
  // kCapacityDays (capacity_service_bench.cc) when an hour closes, otherwise a few microseconds.
  void OnWindow(const CellCapacity& window);
  // Adds a window of history; ignores a window that is not later than the last window. The window's hour
  // becomes known, without promises. The next OnWindow makes the quotes. Takes a few microseconds.
  void OnPastWindow(const CellCapacity& window);
  // Shows the window as the newest one without adding it to its hour. Used after a restart, until a window
  // closes.
  void Show(const CellCapacity& window);
  // Returns the latest snapshot; never null.
  std::shared_ptr<const CapacityView> View() const;
  // Returns the time series in [from_s, to_s) in steps of resolution_s, aligned to multiples of resolution_s.
  // Steps before the first and after the last known hour are left out. REQUIRES: resolution_s is a positive
  // multiple of 3600.
  CapacityHistory History(int64_t from_s, int64_t to_s, int64_t resolution_s) const;
  // Returns the newest window that was added; nullopt if no window was added.
  std::optional<WindowId> window() const;

  // Returns the whole state, with a checksum (common/histogram/checkpoint.h). About 0.1 MB.
  std::string SaveState() const;
  // Restores a state, before the first OnWindow. Returns an error if the state is damaged or from a newer
  // version; the service is then unchanged.
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
  // The functions below REQUIRE mutex_.
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
  std::optional<int32_t> hour_;  // the open hour
  HourOfCapacity open_;
  std::optional<WindowId> window_;
  std::optional<CellCapacity> latest_;
  std::vector<Quoted> quotes_;  // quotes as of the last closed hour
  bool quotes_due_ = false;     // true if past hours were added since the last quotes
  std::vector<CapacityPromise> shown_;
  PerResource<int32_t> measured_hours_ = {};

  mutable std::mutex view_mutex_;  // guards only view_, so that readers do not wait for quotes
  std::shared_ptr<const CapacityView> view_;
};

// Returns the availability, as a share, that an actuary may promise for this tier.
double PromiseOfTier(const CapacityTier& tier);

}  // namespace taut::server
