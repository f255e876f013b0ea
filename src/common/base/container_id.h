// Finds the ID of a container in text such as a cgroup path.
#pragma once

#include <string_view>

namespace taut {

// Returns the container's ID: the last run of exactly 64 lower-case hex digits; "" if the text has no such
// run. Examples are "/docker/ID", "/system.slice/docker-ID.scope" and "/kubepods/.../ID". The result is a
// view into `text`.
inline std::string_view ContainerIdIn(std::string_view text) {
  constexpr size_t kDigits = 64;
  size_t end = text.size();
  while (end >= kDigits) {
    size_t begin = end;
    while (begin > 0 && ((text[begin - 1] >= '0' && text[begin - 1] <= '9') ||
                         (text[begin - 1] >= 'a' && text[begin - 1] <= 'f'))) {
      --begin;
    }
    if (end - begin == kDigits) return text.substr(begin, kDigits);
    end = begin == end ? end - 1 : begin;
  }
  return {};
}

}  // namespace taut
