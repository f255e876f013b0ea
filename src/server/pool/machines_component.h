// The component of the machine service, which passes each closed window and the sources' placement to the service,
// and stores its state.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "server/control/component.h"
#include "server/control/kept_state.h"
#include "server/control/placement.h"
#include "server/pool/machine_service.h"

namespace taut::server {

class MachinesComponent final : public Component {
 public:
  // `context` and the sources must outlive this object.
  MachinesComponent(const MachinesConfig& config, const DaemonContext& context,
                    std::vector<const PlacementSource*> sources);

  std::string_view name() const override { return "machines"; }
  MachineService* service() { return &service_; }
  const MachineService* service() const { return &service_; }
  // Returns the amounts of the largest machine by resource; 0 if unknown. Thread-safe.
  PerResource<double> Largest() const;
  // Reads the state. If the state is damaged, logs the damage and starts with an empty service.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  // Saves the state. Logs each failure once.
  void Save() override;

 private:
  void Load();
  // Passes a closed window to the service. Skips windows in the past, because the placement of their tasks is
  // unknown.
  void OnTick(const TickEvents& events);

  const DaemonContext& context_;
  KeptState state_;
  const std::vector<const PlacementSource*> sources_;
  MachineService service_;
  size_t state_bytes_ = 0;  // size of the last saved state
  int windows_ = 0;         // number of windows since the last save
  std::atomic<double> pass_s_ = 0, save_s_ = 0;
};

}  // namespace taut::server
