// tautd's desk of capacity: what it is shown of each closed window, and the file beside the store.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "brain/economy/pricing.h"
#include "server/control/control_plane.h"
#include "server/pool/capacity_desk.h"
#include "server/pool/machine_desk.h"
#include "server/pool/quota_desk.h"

namespace taut::tools {

class CapacityRun {
 public:
  struct Parts {
    const server::ControlPlane& control;
    const server::MachineDesk* machines = nullptr;  // null: there is no source of machines
    const server::QuotaDesk* quota = nullptr;       // null: none is configured
    const brain::Pricing* pricing = nullptr;        // null: no price file
    std::string default_tier;                       // of jobs for which neither of them says one
  };
  // Reads the file, "STORE.capacity"; what is damaged is logged, and the desk begins from nothing. `store_path`
  // "memory": there is no file. All parts outlive it.
  CapacityRun(const Parts& parts, const std::string& store_path);

  server::CapacityDesk* desk() { return &desk_; }
  uint64_t failed_saves() const { return failed_saves_; }
  // From the loop, after the desks of machines and quota. Windows of the past count where the price file states
  // the size of the pool, with the quota of now; they are left out where there is a source of machines: which
  // machines there were is not known.
  void OnTick(const server::TickEvents& events);
  // Failures are logged once.
  void Save();

 private:
  server::CellCapacity Now() const;
  void OnPast(const ClosedWindow& window);
  void Load();

  const Parts parts_;
  const std::string file_;  // "": none
  const server::JobTiers tiers_;
  server::CapacityDesk desk_;
  std::string said_;  // the failure that was logged last
  std::atomic<uint64_t> failed_saves_ = 0;
};

}  // namespace taut::tools
