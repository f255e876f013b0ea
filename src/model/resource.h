// The two resources a limit is set for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "histogram/grid.h"

namespace taut {

enum class Resource : uint8_t { kCpu = 0, kMemory = 1 };
inline constexpr std::array<Resource, 2> kResources = {Resource::kCpu, Resource::kMemory};

constexpr std::string_view Name(Resource r) { return r == Resource::kCpu ? "cpu" : "memory"; }
constexpr std::string_view UnitName(Resource r) { return r == Resource::kCpu ? "cores" : "bytes"; }
inline const Grid& GridOf(Resource r) { return r == Resource::kCpu ? Grid::Cpu() : Grid::Memory(); }

}  // namespace taut
