// The daemon's service of capacity: what it is shown of each closed window, and the file beside the store.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "server/control/component.h"
#include "server/pool/capacity_service.h"
#include "server/pool/machines_component.h"
#include "server/pool/prices_component.h"
#include "server/pool/quota_component.h"

namespace taut::server {

class CapacityComponent final : public Component {
 public:
  struct Parts {
    const MachinesComponent* machines = nullptr;  // null: there is no source of machines
    const QuotaComponent* quota = nullptr;        // null: none is configured
    const PricesComponent* prices = nullptr;
    std::string default_tier;  // of jobs for which neither of them says one
  };
  // `context` and all parts outlive it.
  CapacityComponent(Parts parts, const DaemonContext& context);

  std::string_view name() const override { return "capacity"; }
  // It reads what they hold of a window.
  std::span<const std::string_view> after() const override;
  // Null before Start.
  CapacityService* service() { return service_.has_value() ? &*service_ : nullptr; }
  // Reads the file, "STORE.capacity"; what is damaged is logged, and the service begins from nothing.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  // Failures are logged once.
  void Save() override;

 private:
  CellCapacity Now() const;
  // Windows of the past count where the price file states the size of the pool, with the quota of now; they are
  // left out where there is a source of machines: which machines there were is not known.
  void OnTick(const TickEvents& events);
  void OnPast(const ClosedWindow& window);
  void Load();

  const Parts parts_;
  const DaemonContext& context_;
  const std::string file_;  // "": none
  std::optional<JobTiers> tiers_;
  std::optional<CapacityService> service_;
  std::string said_;  // the failure that was logged last
  std::atomic<uint64_t> failed_saves_ = 0;
};

}  // namespace taut::server
