// Sorts and filters the machines of a view, and returns one page of the result.
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
  std::string search = {};  // words, case-insensitive; each must be in the name or source
  std::string source = {};  // "": all sources
  std::string sort = "name";
  std::optional<bool> ascending = {};  // nullopt: names ascend, figures descend
  size_t offset = 0, limit = 100;
};
struct MachinesPage {
  size_t total = 0;  // number of matching machines on all pages
  std::vector<std::shared_ptr<const MachineView>> machines;
};
// Returns the names of all sort orders: "name, source, tasks, cpu_capacity, ...".
std::string MachineSorts();
bool IsMachineSort(std::string_view sort);
// Returns one page. Machines without the figure by which the list is sorted are last; machines with equal
// figures are sorted by name. REQUIRES: IsMachineSort(query.sort). O(n log n).
MachinesPage ListMachines(const MachinesView& view, const MachinesQuery& query);

}  // namespace taut::server
