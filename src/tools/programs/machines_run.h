// tautd's desk of machines: its sources, each closed window, and the file beside the store.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "server/config/daemon_config.h"
#include "server/control/control_plane.h"
#include "server/control/placement.h"
#include "server/pool/machine_desk.h"

namespace taut::tools {

class MachinesRun {
 public:
  // Reads the file, "STORE.machines"; what is damaged is logged, and the desk begins from nothing. `store_path`
  // "memory": there is no file. Sources and `control` outlive it.
  MachinesRun(const server::MachinesConfig& config, const std::string& store_path,
              std::vector<const server::PlacementSource*> sources, const server::ControlPlane& control);

  server::MachineDesk* desk() { return &desk_; }
  server::MachineRunCounts counts() const;
  // From the loop. Windows of the past are left out: where their tasks ran is not known.
  void OnTick(const server::TickEvents& events);
  // Failures are logged once.
  void Save();

 private:
  void Load();

  const std::string file_;  // "": none
  const std::vector<const server::PlacementSource*> sources_;
  const server::ControlPlane& control_;
  server::MachineDesk desk_;
  size_t state_bytes_ = 0;  // of the last save
  int windows_ = 0;         // since then
  std::string said_;        // the failure that was logged last
  std::atomic<uint64_t> failed_saves_ = 0;
  std::atomic<double> pass_s_ = 0, save_s_ = 0;
};

}  // namespace taut::tools
