// The daemon's capacity service: passes each closed window to it, and keeps its state in the store.
#pragma once

#include <optional>
#include <string>

#include "server/control/component.h"
#include "server/control/kept_state.h"
#include "server/pool/capacity_service.h"
#include "server/pool/machines_component.h"
#include "server/pool/prices_component.h"
#include "server/pool/quota_component.h"

namespace taut::server {

class CapacityComponent final : public Component {
 public:
  struct Parts {
    const MachinesComponent* machines = nullptr;  // null: no source of machines
    const QuotaComponent* quota = nullptr;        // null: not configured
    const PricesComponent* prices = nullptr;
    std::string default_tier;  // of jobs for which neither of them names a tier
  };
  // `context` and all parts outlive this object.
  CapacityComponent(Parts parts, const DaemonContext& context);

  std::string_view name() const override { return "capacity"; }
  // Starts after the components whose state of a window it reads.
  std::span<const std::string_view> after() const override;
  // Null before Start.
  CapacityService* service() { return service_.has_value() ? &*service_ : nullptr; }
  // Reads the state. Damage is logged, and the service starts empty.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  // Logs each failure once.
  void Save() override;

 private:
  CellCapacity Now() const;
  // Windows of the past count if the price file states the size of the pool; the present quota applies. With
  // a source of machines they are skipped, because the machines of that time are unknown.
  void OnTick(const TickEvents& events);
  void OnPast(const ClosedWindow& window);
  void Load();

  const Parts parts_;
  const DaemonContext& context_;
  KeptState state_;
  std::optional<JobTiers> tiers_;
  std::optional<CapacityService> service_;
};

}  // namespace taut::server
