#include "node/cgroup/unit_name.h"

#include <algorithm>
#include <array>

#include "common/base/strings.h"

namespace taut::node {
namespace {

constexpr std::array<std::string_view, 3> kUnitSuffixes = {".service", ".scope", ".slice"};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string DecodeUnitEscapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 3 < text.size() && text[i] == '\\' && text[i + 1] == 'x' && HexDigit(text[i + 2]) >= 0 &&
        HexDigit(text[i + 3]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 2]) * 16 + HexDigit(text[i + 3]));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<SystemdUnit> ParseUnitName(std::string_view directory) {
  if (directory.starts_with('_')) directory.remove_prefix(1);
  for (const std::string_view suffix : kUnitSuffixes) {
    if (!directory.ends_with(suffix) || directory.size() == suffix.size()) continue;
    const std::string_view bare = directory.substr(0, directory.size() - suffix.size());
    SystemdUnit out;
    out.full = directory;
    out.unit = DecodeUnitEscapes(bare);
    out.suffix = suffix;
    if (const size_t at = bare.find('@'); at != std::string_view::npos) {
      out.prefix = DecodeUnitEscapes(bare.substr(0, at));
      out.instance = DecodeUnitEscapes(bare.substr(at + 1));
    }
    return out;
  }
  return std::nullopt;
}

std::optional<PathGlob> PathGlob::Parse(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  PathGlob out;
  for (const std::string_view component : Split(text.substr(1), '/')) {
    if (component.empty() || component == "." || component == "..") return std::nullopt;
    out.components_.emplace_back(component);
  }
  return out;
}

size_t PathGlob::num_stars() const {
  size_t out = 0;
  for (const std::string& component : components_) {
    out += static_cast<size_t>(std::count(component.begin(), component.end(), '*'));
  }
  return out;
}

// On a mismatch the last star is extended by one byte. Earlier stars keep their shortest text: a longer text could
// not make the rest match.
bool PathGlob::FitsAt(size_t depth, std::string_view component, std::vector<std::string>& captures) const {
  if (depth >= components_.size()) return false;
  const std::string_view glob = components_[depth];
  const size_t settled = captures.size();
  size_t t = 0, g = 0, star = std::string_view::npos, star_text = 0;
  while (t < component.size() || g < glob.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
      captures.emplace_back();
    } else if (g < glob.size() && t < component.size() && glob[g] == component[t]) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos && t < component.size()) {
      g = star + 1;
      captures.back() += component[star_text];
      t = ++star_text;
    } else {
      captures.resize(settled);
      return false;
    }
  }
  return true;
}

}  // namespace taut::node
