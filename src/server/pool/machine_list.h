// A page of the machines of a view, sorted and searched.
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
  std::string search = {};  // words; each in the name or the source, whatever the case
  std::string source = {};  // "": of every one
  std::string sort = "name";
  std::optional<bool> ascending = {};  // nullopt: names ascend, figures descend
  size_t offset = 0, limit = 100;
};
struct MachinesPage {
  size_t total = 0;  // that fit
  std::vector<std::shared_ptr<const MachineView>> machines;
};
// "name, source, tasks, cpu_capacity, ...".
std::string MachineSorts();
bool IsMachineSort(std::string_view sort);
// REQUIRES: IsMachineSort(query.sort). Absent figures come last; equals in the order of names. O(n log n).
MachinesPage ListMachines(const MachinesView& view, const MachinesQuery& query);

}  // namespace taut::server
