// Sorts and filters the machines of a view, and returns one page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/pool/machines_view.h"

namespace taut::server {

struct MachinesQuery {
  std::string search = {};  // words, each of which must be in the name or source, case-insensitive
  std::string source = {};  // name of a source; "": all sources
  std::string sort = "name";
  std::optional<bool> ascending = {};  // order; nullopt: names ascend, figures descend
  size_t offset = 0, limit = 100;
};
struct MachinesPage {
  size_t total = 0;  // number of matching machines on all pages
  std::vector<std::shared_ptr<const MachineView>> machines;
};
// Returns the names of all sort keys: "name, source, tasks, cpu_capacity, ...".
std::string MachineSorts();
bool IsMachineSort(std::string_view sort);
// Returns one page. Machines without the figure that is the sort key are last; equal machines are sorted by name.
// O(n log n). REQUIRES: IsMachineSort(query.sort).
MachinesPage ListMachines(const MachinesView& view, const MachinesQuery& query);

}  // namespace taut::server
