// Saves and restores the capacity service. Source: docs/reference/formats.md, "The state of capacity".
#include <algorithm>

#include "common/histogram/checkpoint.h"
#include "fmt/format.h"
#include "server/pool/capacity_service.h"

namespace taut::server {
namespace {

constexpr uint32_t kCapacityVersion = 1;
constexpr size_t kMaxCapacityState = size_t{64} << 20;
constexpr int32_t kMostIndex = INT32_MAX / 2;

}  // namespace

std::string CapacityService::SaveState() const {
  std::string payload;
  ByteWriter out(&payload);
  const std::lock_guard lock(mutex_);
  out.Put(kCapacityVersion);
  out.Put(uint8_t{window_.has_value()});
  out.Put(window_.value_or(WindowId{0}).index);
  out.Put(uint8_t{hour_.has_value()});
  out.Put(hour_.value_or(0));
  if (hour_.has_value()) open_.Save(out);
  lines_.Save(out);
  out.PutVarint(ledgers_.size());
  for (const HorizonLedger& horizon_ledger : ledgers_) {
    out.PutString(horizon_ledger.tier);
    out.Put(static_cast<uint8_t>(horizon_ledger.resource));
    out.PutString(kCapacityHorizons[horizon_ledger.horizon].name);
    horizon_ledger.ledger.Save(out);
  }
  return SealCheckpoint(payload);
}

absl::Status CapacityService::LoadAll(ByteReader& in) {
  // States of all earlier versions can be read.
  if (const auto version = in.Get<uint32_t>(); version > kCapacityVersion && !in.failed())
    return absl::UnimplementedError(fmt::format(
        "the state of capacity is of version {}, this one reads {} and older", version, kCapacityVersion));
  const bool begun = in.Get<uint8_t>() != 0;
  const WindowId window{in.Get<int32_t>()};
  const bool open = in.Get<uint8_t>() != 0;
  const auto hour = in.Get<int32_t>();
  if (window.index < 0 || window.index > kMostIndex || hour < 0 || hour > kMostIndex)
    return absl::DataLossError("the state of capacity is of no time");
  if (begun) window_ = window;
  if (open) {
    absl::StatusOr<HourOfCapacity> loaded = HourOfCapacity::Load(in);
    if (!loaded.ok()) return loaded.status();
    open_ = *std::move(loaded);
    hour_ = hour;
  }
  absl::StatusOr<CapacityLines> lines = CapacityLines::Load(in);
  if (!lines.ok()) return lines.status();
  lines_ = *std::move(lines);
  if (open && lines_.first() != lines_.end() && hour < lines_.end())
    return absl::DataLossError("the state of capacity has an hour twice");
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) {
    const std::string tier(in.GetString());
    const auto resource = in.Get<uint8_t>();
    const std::string_view name = in.GetString();
    const auto horizon = std::ranges::find(kCapacityHorizons, name, &CapacityHorizon::name);
    absl::StatusOr<brain::PromiseLedger> ledger = brain::PromiseLedger::Load(in);
    if (!ledger.ok()) return ledger.status();
    if (resource >= kResources.size() || horizon == kCapacityHorizons.end() || ledger->step_s() != 3600)
      return absl::DataLossError("promises of capacity of an unknown resource, horizon or step");
    LedgerOf(tier, static_cast<Resource>(resource), static_cast<size_t>(horizon - kCapacityHorizons.begin()))
        .ledger = *std::move(ledger);
  }
  if (in.remaining() > 0) return absl::DataLossError("the state of capacity goes on after its end");
  return in.status("the state of capacity");
}

absl::Status CapacityService::LoadState(std::string_view bytes) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(bytes, kMaxCapacityState);
  if (!payload.ok()) return payload.status();
  // Load into another service first, so that a damaged state leaves this service unchanged.
  CapacityService next(tiers_);
  ByteReader in(*payload);
  if (absl::Status s = next.LoadAll(in); !s.ok()) return s;
  const std::lock_guard lock(mutex_);
  window_ = next.window_;
  hour_ = next.hour_;
  open_ = std::move(next.open_);
  lines_ = std::move(next.lines_);
  ledgers_ = std::move(next.ledgers_);
  quotes_.clear();
  MakeQuotes();
  CollectPromises();
  Publish();
  return absl::OkStatus();
}

}  // namespace taut::server
