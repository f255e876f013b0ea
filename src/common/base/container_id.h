// By which ID a container engine knows a container.
#pragma once

#include <string_view>

namespace taut {

// The 64 lower-case hex digits in a cgroup's path ("/docker/ID", "/system.slice/docker-ID.scope",
// "/kubepods/.../ID") or another text; the last such run of exactly 64, "" if there is none.
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
