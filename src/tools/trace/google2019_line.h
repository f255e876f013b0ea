// Parses one line of a Google v3 table to plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simdjson.h"

namespace taut::tools {

inline constexpr int64_t kGoogleNever = INT64_MAX;  // time that means "after the end of the trace"

struct GoogleResources {
  std::optional<double> cpus, memory;
};

// Fields of instance_usage that the reader uses. A field that is missing or null keeps its default.
struct GoogleUsageLine {
  std::optional<int64_t> start_us, end_us, collection;
  int64_t instance = 0;
  int64_t alloc_collection = 0;
  int64_t collection_type = 0;
  int64_t machine = 0;  // ID of the machine; 0: unknown; -1: dedicated
  GoogleResources average, maximum;
  double assigned_memory = 0;
  std::array<double, 11> distribution;        // percentiles 0, 10, .. 100
  std::array<double, 9> tail;                 // percentiles 91 .. 99
  size_t num_distribution = 0, num_tail = 0;  // counts in the line, which may exceed the sizes of the arrays
};

// Fields of collection_events and instance_events that the reader uses.
struct GoogleEventLine {
  std::optional<int64_t> time_us, collection;
  int64_t type = 0;  // value of GoogleEvent::Type
  int64_t collection_type = 0;
  std::optional<int64_t> scheduling_class, priority;
  int64_t instance = 0, alloc_collection = 0, vertical_scaling = 0, max_per_machine = 0;
  GoogleResources request;
  std::string_view logical_name, user;  // views that are valid until the next line is parsed
};

// A line of machine_events.
struct GoogleMachineLine {
  std::optional<int64_t> time_us, machine;
  int64_t type = 0;  // kind of event: 1 add, 2 remove, 3 update
  GoogleResources capacity;
};

// Parse a line into `out`. Integers may be JSON numbers or strings of digits. Return an error if the line is not a
// JSON object of this table; `out` then contains the fields before the error.
simdjson::error_code ParseGoogleUsage(simdjson::ondemand::document& document, GoogleUsageLine& out);
simdjson::error_code ParseGoogleEvent(simdjson::ondemand::document& document, GoogleEventLine& out);
simdjson::error_code ParseGoogleMachine(simdjson::ondemand::document& document, GoogleMachineLine& out);

}  // namespace taut::tools
