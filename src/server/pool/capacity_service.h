// The actuary of a running cell: its lines by the hour, what can still be sold of each tier, and the promises that
// were made of it. docs/algorithms/economy.md, "Capacity of a running cell".
//
// The brain is the replay's: each quote is that of an Actuary (brain/economy/actuary.h) which is shown the hours
// that
// are kept, and each promise is in a PromiseLedger. Quotes of a month and longer are made at midnight, UTC,
// others every hour. So the hours and the promises are all the state there is.
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
  // By descending priority, not empty. History of other tiers is kept: see CapacityLines::HigherUse.
  explicit CapacityService(std::vector<CapacityTier> tiers);

  // Begins from nothing.
  void Clear();
  // A window that closed. Windows ascend: one that is not newer than the last is left out, but for one of more
  // than an hour before, with which all that is later is forgotten. The last window of an hour closes it: then
  // quotes are made, and promises of those without an open one (of a day and longer at midnight, UTC). At most
  // 0.2 s with the default tiers and kCapacityDays (capacity_service_bench.cc), otherwise some microseconds.
  void OnWindow(const CellCapacity& window);
  // A window of history that was read later: its hour is known from then on, and nothing is promised of it. One
  // that is not newer than the last is left out. Quotes are made with the next OnWindow. Some microseconds.
  void OnPastWindow(const CellCapacity& window);
  // Shows the window as the newest without counting it: after a restart, until one closes.
  void Show(const CellCapacity& window);
  std::shared_ptr<const CapacityView> View() const;
  // REQUIRES: resolution_s a positive multiple of 3600. Steps are aligned to it; those without any known hour at
  // both ends are left out.
  CapacityHistory History(int64_t from_s, int64_t to_s, int64_t resolution_s) const;
  std::optional<WindowId> window() const;

  // All that a restart needs for the same answers, sealed (common/histogram/checkpoint.h). About 0.1 MB.
  std::string SaveState() const;
  // Before the first OnWindow. Not OK: the bytes are damaged or of a newer version, and it begins from nothing.
  absl::Status LoadState(std::string_view bytes);

 private:
  // Promises of a tier, resource and horizon.
  struct HorizonLedger {
    std::string tier;
    Resource resource = Resource::kCpu;
    size_t horizon = 0;
    brain::PromiseLedger ledger{3600};
  };
  struct Quoted {
    size_t tier = 0, horizon = 0;
    Resource resource = Resource::kCpu;
    int32_t until = 0;  // the first hour that the quote does not know
    brain::Quote quote;
  };
  // capacity_state.cc
  absl::Status LoadAll(ByteReader& in);
  // All REQUIRE mutex_.
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
  std::optional<int32_t> hour_;  // that is open
  HourOfCapacity open_;
  std::optional<WindowId> window_;
  std::optional<CellCapacity> latest_;
  std::vector<Quoted> quotes_;  // as of the last hour that closed
  bool quotes_due_ = false;     // hours of the past are known since
  std::vector<CapacityPromise> shown_;
  PerResource<int32_t> measured_hours_ = {};

  mutable std::mutex view_mutex_;
  std::shared_ptr<const CapacityView> view_;
};

// What an actuary may promise of it.
double PromiseOfTier(const CapacityTier& tier);

}  // namespace taut::server
