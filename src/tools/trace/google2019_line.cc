// Parses the JSON of Google v3 tables in one pass over the keys of each object, in any order of the keys.
#include "tools/trace/google2019_line.h"

namespace taut::tools {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

// Parses an integer, or a string with an integer, because BigQuery exports 64-bit integers as strings. null leaves
// `out` unchanged.
template <typename T>
error_code GetInt(ondemand::value value, T& out) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type); e) return e;
  int64_t number = 0;
  switch (type) {
    case ondemand::json_type::string:
      if (const error_code e = value.get_int64_in_string().get(number); e) return e;
      break;
    case ondemand::json_type::number:
      if (const error_code e = value.get_int64().get(number); e) return e;
      break;
    case ondemand::json_type::null:
      return value.is_null().error();
    default:
      return simdjson::INCORRECT_TYPE;
  }
  out = number;
  return simdjson::SUCCESS;
}

template <typename T>
error_code GetNumber(ondemand::value value, T& out) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type); e) return e;
  double number = 0;
  switch (type) {
    case ondemand::json_type::number:
      if (const error_code e = value.get_double().get(number); e) return e;
      break;
    case ondemand::json_type::string:
      if (const error_code e = value.get_double_in_string().get(number); e) return e;
      break;
    case ondemand::json_type::null:
      return value.is_null().error();
    default:
      return simdjson::INCORRECT_TYPE;
  }
  out = number;
  return simdjson::SUCCESS;
}

// Calls on_field(key, value) for each field. Stops at the first error and returns it.
template <typename F>
error_code ForEachField(simdjson::simdjson_result<ondemand::object> result, const F& on_field) {
  ondemand::object object;
  if (const error_code e = std::move(result).get(object); e) return e;
  for (auto field_result : object) {
    ondemand::field field;
    if (const error_code e = std::move(field_result).get(field); e) return e;
    if (const error_code e = on_field(field.key(), field.value()); e) return e;
  }
  return simdjson::SUCCESS;
}

error_code GetResources(ondemand::value value, GoogleResources& out) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type); e) return e;
  if (type == ondemand::json_type::null) return value.is_null().error();
  return ForEachField(value.get_object(), [&out](ondemand::raw_json_string key, ondemand::value v) {
    if (key.unsafe_is_equal("cpus")) return GetNumber(v, out.cpus);
    if (key.unsafe_is_equal("memory")) return GetNumber(v, out.memory);
    return simdjson::SUCCESS;
  });
}

error_code GetText(ondemand::value value, std::string_view& out) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type); e) return e;
  if (type == ondemand::json_type::null) return value.is_null().error();
  return value.get_string().get(out);
}

template <size_t N>
error_code GetNumbers(ondemand::value value, std::array<double, N>& out, size_t& count) {
  ondemand::json_type type;
  if (const error_code e = value.type().get(type); e) return e;
  if (type == ondemand::json_type::null) return value.is_null().error();
  ondemand::array array;
  if (const error_code e = value.get_array().get(array); e) return e;
  for (auto element : array) {
    double number = 0;
    if (const error_code e = element.get_double().get(number); e) return e;
    if (count < N) out[count] = number;
    ++count;
  }
  return simdjson::SUCCESS;
}

// Returns TRAILING_CONTENT if the document is followed by other text.
error_code CheckEnd(ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? simdjson::SUCCESS
                                                                        : simdjson::TRAILING_CONTENT;
}

}  // namespace

error_code ParseGoogleUsage(ondemand::document& document, GoogleUsageLine& out) {
  const error_code error =
      ForEachField(document.get_object(), [&out](ondemand::raw_json_string key, ondemand::value v) {
        // Comparing the first letter avoids most string comparisons. Nearly all lines of a trace are usage lines.
        switch (key.raw()[0]) {
          case 's':
            if (key.unsafe_is_equal("start_time")) return GetInt(v, out.start_us);
            break;
          case 'e':
            if (key.unsafe_is_equal("end_time")) return GetInt(v, out.end_us);
            break;
          case 'c':
            if (key.unsafe_is_equal("collection_id")) return GetInt(v, out.collection);
            if (key.unsafe_is_equal("collection_type")) return GetInt(v, out.collection_type);
            if (key.unsafe_is_equal("cpu_usage_distribution")) {
              return GetNumbers(v, out.distribution, out.num_distribution);
            }
            break;
          case 'i':
            if (key.unsafe_is_equal("instance_index")) return GetInt(v, out.instance);
            break;
          case 'a':
            if (key.unsafe_is_equal("alloc_collection_id")) return GetInt(v, out.alloc_collection);
            if (key.unsafe_is_equal("average_usage")) return GetResources(v, out.average);
            if (key.unsafe_is_equal("assigned_memory")) return GetNumber(v, out.assigned_memory);
            break;
          case 'm':
            if (key.unsafe_is_equal("maximum_usage")) return GetResources(v, out.maximum);
            if (key.unsafe_is_equal("machine_id")) return GetInt(v, out.machine);
            break;
          case 't':
            if (key.unsafe_is_equal("tail_cpu_usage_distribution"))
              return GetNumbers(v, out.tail, out.num_tail);
            break;
          default:
            break;
        }
        return simdjson::SUCCESS;
      });
  return error ? error : CheckEnd(document);
}

error_code ParseGoogleEvent(ondemand::document& document, GoogleEventLine& out) {
  const error_code error =
      ForEachField(document.get_object(), [&out](ondemand::raw_json_string key, ondemand::value v) {
        if (key.unsafe_is_equal("time")) return GetInt(v, out.time_us);
        if (key.unsafe_is_equal("type")) return GetInt(v, out.type);
        if (key.unsafe_is_equal("collection_id")) return GetInt(v, out.collection);
        if (key.unsafe_is_equal("scheduling_class")) return GetInt(v, out.scheduling_class);
        if (key.unsafe_is_equal("collection_type")) return GetInt(v, out.collection_type);
        if (key.unsafe_is_equal("priority")) return GetInt(v, out.priority);
        if (key.unsafe_is_equal("resource_request")) return GetResources(v, out.request);
        if (key.unsafe_is_equal("instance_index")) return GetInt(v, out.instance);
        if (key.unsafe_is_equal("alloc_collection_id")) return GetInt(v, out.alloc_collection);
        if (key.unsafe_is_equal("vertical_scaling")) return GetInt(v, out.vertical_scaling);
        if (key.unsafe_is_equal("max_per_machine")) return GetInt(v, out.max_per_machine);
        if (key.unsafe_is_equal("user")) return GetText(v, out.user);
        if (key.unsafe_is_equal("collection_logical_name")) return GetText(v, out.logical_name);
        return simdjson::SUCCESS;
      });
  return error ? error : CheckEnd(document);
}

error_code ParseGoogleMachine(ondemand::document& document, GoogleMachineLine& out) {
  const error_code error =
      ForEachField(document.get_object(), [&out](ondemand::raw_json_string key, ondemand::value v) {
        if (key.unsafe_is_equal("time")) return GetInt(v, out.time_us);
        if (key.unsafe_is_equal("machine_id")) return GetInt(v, out.machine);
        if (key.unsafe_is_equal("type")) return GetInt(v, out.type);
        if (key.unsafe_is_equal("capacity")) return GetResources(v, out.capacity);
        return simdjson::SUCCESS;
      });
  return error ? error : CheckEnd(document);
}

}  // namespace taut::tools
