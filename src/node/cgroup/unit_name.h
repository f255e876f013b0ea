// Cgroup names of systemd's units, and matching of paths with a glob.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taut::node {

// A unit, parsed from its directory's name: "web@blue\x2dgreen.service".
struct SystemdUnit {
  std::string full;         // name in the output of systemctl, with its escapes
  std::string unit;         // decoded name without suffix: "web@blue-green"
  std::string prefix;       // part before '@': "web"; "" without '@'
  std::string instance;     // part after '@': "blue-green"
  std::string_view suffix;  // suffix such as ".service"
};
// Parses a directory's name; nullopt if the name belongs to no service, scope or slice. A leading '_' is removed,
// because systemd puts '_' before names that could be files of the kernel ("_cpu.service").
std::optional<SystemdUnit> ParseUnitName(std::string_view directory);
// Decodes escapes such as "\x2d" to their bytes; other text is unchanged.
std::string DecodeUnitEscapes(std::string_view text);

// A path with '*' for any text (also empty) within one component: "/apps/*/worker-*".
class PathGlob {
 public:
  // Parses a pattern; nullopt if the path is not absolute, or a component is empty, "." or "..".
  static std::optional<PathGlob> Parse(std::string_view text);

  size_t depth() const { return components_.size(); }
  // Returns the number of '*' in the pattern.
  size_t num_stars() const;
  // True if the component matches the glob's component at this depth (from 0). Appends the texts of its
  // stars; if several matches exist, earlier stars match as little as possible.
  bool FitsAt(size_t depth, std::string_view component, std::vector<std::string>& captures) const;

 private:
  std::vector<std::string> components_;
};

}  // namespace taut::node
