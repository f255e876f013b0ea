// The daemon's machines: their sources, each closed window, and the service's file beside the store.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "server/control/component.h"
#include "server/control/placement.h"
#include "server/pool/machine_service.h"

namespace taut::server {

class MachinesComponent final : public Component {
 public:
  // `context` and the sources outlive it.
  MachinesComponent(const MachinesConfig& config, const DaemonContext& context,
                    std::vector<const PlacementSource*> sources);

  std::string_view name() const override { return "machines"; }
  MachineService* service() { return &service_; }
  const MachineService* service() const { return &service_; }
  // Returns the largest machine's amounts by Resource; 0 where none is known. Thread-safe.
  PerResource<double> Largest() const;
  // Reads the file, "STORE.machines"; what is damaged is logged, and the service begins from nothing.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  // Failures are logged once.
  void Save() override;

 private:
  void Load();
  // Windows of the past are left out: where their tasks ran is not known.
  void OnTick(const TickEvents& events);

  const DaemonContext& context_;
  const std::string file_;  // "": none
  const std::vector<const PlacementSource*> sources_;
  MachineService service_;
  size_t state_bytes_ = 0;  // of the last save
  int windows_ = 0;         // since then
  std::string said_;        // the failure that was logged last
  std::atomic<uint64_t> failed_saves_ = 0;
  std::atomic<double> pass_s_ = 0, save_s_ = 0;
};

}  // namespace taut::server
