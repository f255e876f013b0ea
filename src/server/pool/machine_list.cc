#include "server/pool/machine_list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

using Figure = std::optional<double> MachineAmounts::*;
constexpr std::pair<std::string_view, Figure> kFigures[] = {
    {"capacity", &MachineAmounts::capacity},
    {"limits", &MachineAmounts::limits},
    {"reservations", &MachineAmounts::reservations},
    {"usage", &MachineAmounts::usage},
    {"predicted", &MachineAmounts::predicted},
    {"reclaimable", &MachineAmounts::reclaimable},
    {"reclaimable_now", &MachineAmounts::reclaimable_now}};

// A sort key of the list.
struct By {
  Resource resource = Resource::kCpu;
  Figure figure = nullptr;
  bool tasks = false, source = false;
};
std::optional<By> ParseSort(std::string_view sort) {
  By by;
  if (sort == "name") return by;
  by.tasks = sort == "tasks";
  by.source = sort == "source";
  if (by.tasks || by.source) return by;
  for (const Resource r : kResources) {
    for (const auto& [name, figure] : kFigures) {
      if (sort != StrCat(Name(r), "_", name)) continue;
      by.resource = r;
      by.figure = figure;
      return by;
    }
  }
  return std::nullopt;
}

bool Fits(const MachineView& machine, const std::vector<std::string>& words, std::string_view source) {
  if (!source.empty() && machine.source != source) return false;
  const std::string text = absl::AsciiStrToLower(StrCat(machine.name, " ", machine.source));
  return std::ranges::all_of(words, [&](const std::string& w) { return text.find(w) != std::string::npos; });
}

}  // namespace

std::string MachineSorts() {
  std::string out = "name, source, tasks";
  for (const Resource r : kResources) {
    for (const auto& [name, figure] : kFigures) StrAppend(&out, ", ", Name(r), "_", name);
  }
  return out;
}

bool IsMachineSort(std::string_view sort) { return ParseSort(sort).has_value(); }

MachinesPage ListMachines(const MachinesView& view, const MachinesQuery& query) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(query.search, ' ')) {
    if (!word.empty()) words.push_back(absl::AsciiStrToLower(absl::string_view(word.data(), word.size())));
  }
  MachinesPage page;
  for (const auto& machine : view.machines) {
    if (Fits(*machine, words, query.source)) page.machines.push_back(machine);
  }
  page.total = page.machines.size();
  const By by = *ParseSort(query.sort);
  const bool figure = by.tasks || by.figure != nullptr;
  const bool ascending = query.ascending.value_or(!figure);
  const auto value = [&by](const MachineView& m) -> std::optional<double> {
    if (by.tasks) return m.present ? std::optional<double>(m.tasks.size()) : std::nullopt;
    return by.figure != nullptr ? m.of(by.resource).*by.figure : std::nullopt;
  };
  const auto less = [&](const auto& a, const auto& b) {
    if (by.source && a->source != b->source) return ascending ? a->source < b->source : b->source < a->source;
    if (figure) {
      const std::optional<double> x = value(*a), y = value(*b);
      if (x.has_value() != y.has_value()) return x.has_value();
      if (x.has_value() && *x != *y) return ascending ? *x < *y : *y < *x;
      return false;
    }
    return !by.source && !ascending && b->name < a->name;
  };
  // The stable sort keeps machines with equal figures in the order of their names.
  std::stable_sort(page.machines.begin(), page.machines.end(), less);
  const size_t first = std::min(query.offset, page.machines.size());
  page.machines.erase(page.machines.begin(), page.machines.begin() + static_cast<std::ptrdiff_t>(first));
  if (page.machines.size() > query.limit) page.machines.resize(query.limit);
  return page;
}

}  // namespace taut::server
