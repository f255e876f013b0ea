// The component of the capacity service, which passes each closed window to the service and stores its state.
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
    const MachinesComponent* machines = nullptr;  // machines; null: no source of machines
    const QuotaComponent* quota = nullptr;        // quota; null: not configured
    const PricesComponent* prices = nullptr;
    std::string default_tier;  // tier of jobs for which neither quota nor price file defines one
  };
  // `context` and the objects in `parts` must outlive this object.
  CapacityComponent(Parts parts, const DaemonContext& context);

  std::string_view name() const override { return "capacity"; }
  // Returns the components whose state this component reads, and which must therefore start first.
  std::span<const std::string_view> after() const override;
  // Returns the service; null before Start().
  CapacityService* service() { return service_.has_value() ? &*service_ : nullptr; }
  // Reads the state. If the state is damaged, logs the damage and starts with an empty service.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  // Saves the state. Logs each failure once.
  void Save() override;

 private:
  CellCapacity Now() const;
  // Passes a closed window to the service. A past window is added with the current quota if the price file defines
  // the pool's size. With a source of machines, past windows are not added, because the machines of their time are
  // unknown.
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
