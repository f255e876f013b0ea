// What is published of Google's traces, to stand beside what a trace has.
//
// Source: Tirmazi et al., "Borg: the next generation", EuroSys 2020, table of usage integrals, and its text.
// Units there are
// of the largest machine (NCU-hours, NMU-hours), so only what has no unit can be compared with another trace.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace taut::tools {

struct PublishedSize {
  std::string_view measure;
  double cpu_2011, cpu_2019, memory_2011, memory_2019;
};
// Measures without a unit: shares, C^2, alpha, R^2, and the wait at half load that follows from C^2.
std::span<const PublishedSize> PublishedSizes();

// What the same paper says of events, allocations and machines. Absent: not published.
struct PublishedEvents {
  std::optional<double> jobs_an_hour_mean, jobs_an_hour_median, tasks_again_a_new_one, machine_shapes;
  // Alloc sets: of the collections; of the CPU and the memory asked for; those of production.
  std::optional<double> alloc_collections, alloc_cpu, alloc_memory, alloc_production;
};
PublishedEvents PublishedEvents2011();
PublishedEvents PublishedEvents2019();

}  // namespace taut::tools
