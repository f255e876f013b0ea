// Published figures of Google's traces, for comparison with other traces.
//
// Source: Tirmazi et al., "Borg: the next generation", EuroSys 2020, table of usage integrals, and text. The
// paper's amounts are relative to the largest machine (NCU-hours, NMU-hours), so only figures without a unit are
// comparable.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace taut::tools {

struct PublishedSize {
  std::string_view measure;
  double cpu_2011, cpu_2019, memory_2011, memory_2019;
};
// Returns the published figures without a unit: shares, C^2, alpha, R^2, and the wait at half load, which follows
// from C^2.
std::span<const PublishedSize> PublishedSizes();

// Published figures about events, allocations and machines (Tirmazi et al.). Absent: not published.
struct PublishedEvents {
  std::optional<double> jobs_an_hour_mean, jobs_an_hour_median, tasks_again_a_new_one, machine_shapes;
  // Share of alloc sets in the collections, in requested CPU and in requested memory, and the share of production
  // in alloc sets.
  std::optional<double> alloc_collections, alloc_cpu, alloc_memory, alloc_production;
};
PublishedEvents PublishedEvents2011();
PublishedEvents PublishedEvents2019();

}  // namespace taut::tools
