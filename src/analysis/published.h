// What is published of Google's traces, to stand beside what a trace has.
//
// Source: Tirmazi et al., "Borg: the next generation", EuroSys 2020, table of usage integrals. Units there are
// of the largest machine (NCU-hours, NMU-hours), so only what has no unit can be compared with another trace.
#pragma once

#include <span>
#include <string_view>

namespace taut {

struct PublishedSize {
  std::string_view measure;
  double cpu_2011, cpu_2019, memory_2011, memory_2019;
};
// Measures without a unit: shares, C^2, alpha, R^2, and the wait at half load that follows from C^2.
std::span<const PublishedSize> PublishedSizes();

}  // namespace taut
