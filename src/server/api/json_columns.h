// Writes JSON arrays with one value per element of a list.
#pragma once

#include <string_view>

#include "common/base/json_writer.h"

namespace taut::server {

// Writes the array `key`. `get` returns or writes the value of an element.
template <typename Values, typename Get>
void PutColumn(std::string_view key, const Values& values, Get get, JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const auto& v : values) get(v);
  json.EndArray();
}

}  // namespace taut::server
