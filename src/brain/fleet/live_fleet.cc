#include "brain/fleet/live_fleet.h"

#include <memory>
#include <string>
#include <utility>

namespace taut::brain {

void LiveFleet::Reload(const LiveSettings& its_settings) {
  settings = its_settings;
  policies.clear();
  std::string saved;
  ByteWriter out(&saved);
  checkpoint.SaveFleet(out);
  // The lanes point to the old models until each has been recreated.
  const std::unique_ptr<FleetModels> old =
      std::exchange(models, std::make_unique<FleetModels>(settings.vertical));
  ByteReader in(saved);
  (void)checkpoint.LoadFleet(in);  // a fleet model that other settings cannot read starts anew
  for (LiveJob& job : jobs) Repolicy(job);
}

}  // namespace taut::brain
