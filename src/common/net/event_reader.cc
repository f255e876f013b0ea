#include "common/net/event_reader.h"

#include <algorithm>

namespace taut {

bool EventReader::Put(std::string_view bytes, const std::function<bool(const ServerEvent&)>& on_event) {
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    line_.append(bytes.substr(0, end));
    if (line_.size() + event_.data.size() > max_event_bytes_) {
      too_large_ = true;
      return false;
    }
    if (end == bytes.size()) return true;
    bytes.remove_prefix(end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    const bool go_on = Line(line_, on_event);
    line_.clear();
    if (!go_on) return false;
  }
  return true;
}

bool EventReader::Line(std::string_view line, const std::function<bool(const ServerEvent&)>& on_event) {
  if (line.empty()) {
    const bool complete = has_data_;
    if (event_.event.empty()) event_.event = "message";
    const bool go_on = !complete || on_event(event_);
    event_.event.clear();
    event_.data.clear();
    has_data_ = false;
    return go_on;
  }
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (name == "event") event_.event = value;
  if (name == "id") event_.id = value;
  if (name == "data") {
    if (has_data_) event_.data.push_back('\n');
    event_.data.append(value);
    has_data_ = true;
  }
  return true;
}

}  // namespace taut
