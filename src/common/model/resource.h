// The resources that have limits, as rows of a table. Differences between resources are columns. Code that treats
// resources alike reads the row; only code for one resource (CFS periods, OOM kills) names the resource.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/byte_units.h"
#include "common/histogram/grid.h"

namespace taut {

// Resources in the order of the table. The values are stored: append new values. TAUT_THIRD_RESOURCE (set in the
// ThreadSanitizer build) adds a resource that no source measures, as a test of the requirements of a new row.
enum class Resource : uint8_t {
  kCpu = 0,
  kMemory = 1,
#ifdef TAUT_THIRD_RESOURCE
  kDisk = 2,
#endif
};

// For tables with one entry per Resource: expands to the test resource's entry, or to nothing if this resource is
// not compiled in.
#ifdef TAUT_THIRD_RESOURCE
#define TAUT_THIRD(entry) entry
#else
#define TAUT_THIRD(entry)
#endif

// The effect of a limit on a task that needs more than the limit.
enum class AtLimit : uint8_t {
  kThrottled,  // throttled: the window's mean is compared with the limit
  kKilled      // killed: the window's peak is compared with the limit
};

enum class AmountUnit : uint8_t { kCores, kBytes };

struct ResourceRow {
  Resource resource;
  std::string_view name;         // name in settings, files and APIs: "memory"
  std::string_view title, word;  // display names, at the start of a text and within it: "Memory", "memory"
  std::string_view price_key;  // key of the resource's price in settings, price files and ledgers: "gib_hour"
  AtLimit at_limit;
  AmountUnit unit;
};

inline constexpr std::array kResourceRows = {
    ResourceRow{Resource::kCpu, "cpu", "CPU", "CPU", "core_hour", AtLimit::kThrottled, AmountUnit::kCores},
    ResourceRow{Resource::kMemory, "memory", "Memory", "memory", "gib_hour", AtLimit::kKilled,
                AmountUnit::kBytes},
#ifdef TAUT_THIRD_RESOURCE
    ResourceRow{Resource::kDisk, "disk", "Disk", "disk", "disk_gib_hour", AtLimit::kKilled,
                AmountUnit::kBytes},
#endif
};
inline constexpr size_t kNumResources = kResourceRows.size();
// Number of resources in the first version of stored state. Values of later resources are stored behind the values
// of these resources.
inline constexpr size_t kFirstResources = 2;

constexpr size_t IndexOf(Resource r) { return static_cast<size_t>(r); }
inline constexpr size_t kCpuIndex = IndexOf(Resource::kCpu), kMemoryIndex = IndexOf(Resource::kMemory);
constexpr const ResourceRow& RowOf(Resource r) { return kResourceRows[IndexOf(r)]; }

inline constexpr auto kResources = [] {
  std::array<Resource, kNumResources> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kResourceRows[i].resource;
  return all;
}();

// One value per resource, indexed by IndexOf.
template <typename T>
using PerResource = std::array<T, kNumResources>;
// Returns an array with `value` for each resource.
template <typename T>
constexpr PerResource<T> AllOf(const T& value) {
  return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return PerResource<T>{(static_cast<void>(kIndex), value)...};
  }
  (std::make_index_sequence<kNumResources>());
}

// Properties of a unit of amounts.
struct AmountUnitRow {
  AmountUnit unit;
  std::string_view name, one;  // unit in plural and singular: "cores", "core"
  // The larger unit in which large amounts are shown, and the number of smaller units in it (`large`). Names
  // of prices and work ("core-hours", "GiB-hours") use the singular.
  std::string_view large_name, large_one;
  double large;
  // Number of accounted units in a unit: accounts and bills count whole millicores and mebibytes.
  double accounted;
  double smallest;      // smallest amount that Kubernetes and kernels accept
  double granularity;   // least difference between two limits
  double least_limit;   // least useful limit: a smaller limit saves too little to justify a restart
  double small_amount;  // low end of common usage, at which recommenders' scales of limits begin
};
inline constexpr std::array kAmountUnits = {
    AmountUnitRow{AmountUnit::kCores, "cores", "core", "cores", "core", 1, 1000, 0.001, 0.001, 0.01, 0.01},
    AmountUnitRow{AmountUnit::kBytes, "bytes", "byte", "GiB", "GiB", kGiB, 1 / kMiB, 1, kMiB, 32 * kMiB,
                  kMiB},
};
constexpr const AmountUnitRow& UnitOf(Resource r) { return kAmountUnits[static_cast<size_t>(RowOf(r).unit)]; }

constexpr std::string_view Name(Resource r) { return RowOf(r).name; }
// Returns the resource with this name; nullopt if no resource has this name.
constexpr std::optional<Resource> ResourceNamed(std::string_view name) {
  for (const ResourceRow& row : kResourceRows) {
    if (row.name == name) return row.resource;
  }
  return std::nullopt;
}
constexpr std::string_view UnitName(Resource r) { return UnitOf(r).name; }
constexpr bool InBytes(Resource r) { return RowOf(r).unit == AmountUnit::kBytes; }
constexpr bool InCores(Resource r) { return RowOf(r).unit == AmountUnit::kCores; }
constexpr bool ThrottlesAtLimit(Resource r) { return RowOf(r).at_limit == AtLimit::kThrottled; }
constexpr bool KillsAtLimit(Resource r) { return RowOf(r).at_limit == AtLimit::kKilled; }
inline const Grid& GridOf(Resource r) { return InCores(r) ? Grid::Cpu() : Grid::Memory(); }

static_assert([] {
  for (size_t i = 0; i < kNumResources; ++i) {
    if (IndexOf(kResourceRows[i].resource) != i) return false;
  }
  for (size_t i = 0; i < kAmountUnits.size(); ++i) {
    if (static_cast<size_t>(kAmountUnits[i].unit) != i) return false;
  }
  return true;
}());

}  // namespace taut
