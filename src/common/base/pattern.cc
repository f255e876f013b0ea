#include "common/base/pattern.h"

#include <cstddef>

namespace taut {
namespace {

// Matches one alternative. On a mismatch only the last star is extended by a byte. If the text matches, it
// also matches with the shortest text for each earlier star, so no more backtracking is needed.
bool FitsGlob(std::string_view text, std::string_view glob) {
  size_t t = 0, g = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace

bool FitsPattern(std::string_view text, std::string_view pattern) {
  for (;;) {
    const size_t bar = pattern.find('|');
    if (FitsGlob(text, pattern.substr(0, bar))) return true;
    if (bar == std::string_view::npos) return false;
    pattern.remove_prefix(bar + 1);
  }
}

}  // namespace taut
