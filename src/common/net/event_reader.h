// Parses a text/event-stream into events, incrementally.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/net/http_client.h"

namespace taut {

class EventReader {
 public:
  // Lines end with LF or CRLF. The events do not depend on the pieces in which the bytes arrive. Put returns
  // false if on_event returned false, or if an event exceeds `max_event_bytes` (see too_large()).
  explicit EventReader(size_t max_event_bytes) : max_event_bytes_(max_event_bytes) {}
  bool Put(std::string_view bytes, const std::function<bool(const ServerEvent&)>& on_event);
  bool too_large() const { return too_large_; }

 private:
  bool Line(std::string_view line, const std::function<bool(const ServerEvent&)>& on_event);

  const size_t max_event_bytes_;
  std::string line_;
  ServerEvent event_;
  bool has_data_ = false;
  bool too_large_ = false;
};

}  // namespace taut
