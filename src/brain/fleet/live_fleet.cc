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
  // Lanes point to the old models until all lanes have been recreated.
  const std::unique_ptr<FleetModels> old =
      std::exchange(models, std::make_unique<FleetModels>(settings.vertical));
  ByteReader in(saved);
  (void)checkpoint.LoadFleet(in);  // a fleet model that cannot be read under the new settings starts empty
  for (LiveJob& job : jobs) Repolicy(job);
}

}  // namespace taut::brain
