// Names of cgroups as systemd writes them, and paths that fit a glob.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taut::node {

// A unit by its directory's name: "web@blue\x2dgreen.service".
struct SystemdUnit {
  std::string full;         // as systemctl writes it, with its escapes
  std::string unit;         // decoded, no suffix: "web@blue-green"
  std::string prefix;       // before '@', "" without one: "web"
  std::string instance;     // behind it: "blue-green"
  std::string_view suffix;  // ".service"
};
// nullopt if it is no service, scope or slice. A leading '_', which systemd puts before names that could be a
// file of the kernel's ("_cpu.service"), is not of the name.
std::optional<SystemdUnit> ParseUnitName(std::string_view directory);
// "\x2d" as the byte it stands for; what is no escape stays as it is.
std::string DecodeUnitEscapes(std::string_view text);

// A path with '*' for any text, also none, within one component: "/apps/*/worker-*".
class PathGlob {
 public:
  // nullopt: not absolute, or a component is empty, "." or "..".
  static std::optional<PathGlob> Parse(std::string_view text);

  size_t depth() const { return components_.size(); }
  // Number of '*'.
  size_t num_stars() const;
  // Does a component fit the one at this depth (from 0)? Appends what its '*' stand for; if several ways fit,
  // the earlier stars take as little as possible.
  bool FitsAt(size_t depth, std::string_view component, std::vector<std::string>& captures) const;

 private:
  std::vector<std::string> components_;
};

}  // namespace taut::node
