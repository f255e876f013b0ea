// The resources that a limit is set for, as rows of a table. What differs between them by nature is a column
// here; code that treats them alike asks the row, and only code of one resource (CFS periods, OOM kills) names it.
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

// In the order of the table. Values are stored: new ones go to the end. TAUT_THIRD_RESOURCE (the build for
// ThreadSanitizer) adds one that no source measures, which tests what a new row needs.
enum class Resource : uint8_t {
  kCpu = 0,
  kMemory = 1,
#ifdef TAUT_THIRD_RESOURCE
  kDisk = 2,
#endif
};

// The entry of the last row in a table by Resource that names its entries; nothing where that row is not there.
#ifdef TAUT_THIRD_RESOURCE
#define TAUT_THIRD(entry) entry
#else
#define TAUT_THIRD(entry)
#endif

// What happens to a task that needs more than its limit.
enum class AtLimit : uint8_t {
  kThrottled,  // it gets no more: usage above the limit is judged by the window's mean
  kKilled      // it ends: judged by the window's peak
};

enum class AmountUnit : uint8_t { kCores, kBytes };

struct ResourceRow {
  Resource resource;
  std::string_view name;         // in settings, files and APIs: "memory"
  std::string_view title, word;  // for people, at the beginning of a text and within: "Memory", "memory"
  AtLimit at_limit;
  AmountUnit unit;
};

inline constexpr std::array kResourceRows = {
    ResourceRow{Resource::kCpu, "cpu", "CPU", "CPU", AtLimit::kThrottled, AmountUnit::kCores},
    ResourceRow{Resource::kMemory, "memory", "Memory", "memory", AtLimit::kKilled, AmountUnit::kBytes},
#ifdef TAUT_THIRD_RESOURCE
    ResourceRow{Resource::kDisk, "disk", "Disk", "disk", AtLimit::kKilled, AmountUnit::kBytes},
#endif
};
inline constexpr size_t kNumResources = kResourceRows.size();
// Those of the first version of what is stored; in a stored state the others follow behind them.
inline constexpr size_t kFirstResources = 2;

constexpr size_t IndexOf(Resource r) { return static_cast<size_t>(r); }
inline constexpr size_t kCpuIndex = IndexOf(Resource::kCpu), kMemoryIndex = IndexOf(Resource::kMemory);
constexpr const ResourceRow& RowOf(Resource r) { return kResourceRows[IndexOf(r)]; }

inline constexpr auto kResources = [] {
  std::array<Resource, kNumResources> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kResourceRows[i].resource;
  return all;
}();

// One value of each, by IndexOf.
template <typename T>
using PerResource = std::array<T, kNumResources>;
template <typename T>
constexpr PerResource<T> AllOf(const T& value) {
  return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return PerResource<T>{(static_cast<void>(kIndex), value)...};
  }
  (std::make_index_sequence<kNumResources>());
}

// What differs by unit.
struct AmountUnitRow {
  AmountUnit unit;
  std::string_view name, one;  // "cores", "core"
  // What people are shown large amounts in, and how many of the unit it is; in the names of prices and of work
  // ("core-hours", "GiB-hours") without the plural.
  std::string_view large_name, large_one;
  double large;
  // What accounts and bills count, in whole numbers, per unit: millicores, mebibytes.
  double accounted;
  double smallest;      // that Kubernetes and kernels can be given
  double granularity;   // the least by which two limits differ
  double least_limit;   // less saves nothing worth a restart
  double small_amount;  // in the lowest part of what tasks use: where scales of levels begin
};
inline constexpr std::array kAmountUnits = {
    AmountUnitRow{AmountUnit::kCores, "cores", "core", "cores", "core", 1, 1000, 0.001, 0.001, 0.01, 0.01},
    AmountUnitRow{AmountUnit::kBytes, "bytes", "byte", "GiB", "GiB", kGiB, 1 / kMiB, 1, kMiB, 32 * kMiB,
                  kMiB},
};
constexpr const AmountUnitRow& UnitOf(Resource r) { return kAmountUnits[static_cast<size_t>(RowOf(r).unit)]; }

constexpr std::string_view Name(Resource r) { return RowOf(r).name; }
// By the name of the row.
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
