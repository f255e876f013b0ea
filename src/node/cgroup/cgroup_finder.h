// Finds tasks that are cgroups: groups at configured paths, and systemd's units.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/name_template.h"
#include "node/agent/task_group.h"
#include "node/agent/task_rule.h"
#include "node/cgroup/cgroup_mounts.h"
#include "node/cgroup/unit_name.h"
#include "node/cgroup/unit_properties.h"

namespace taut::node {

struct FinderBounds {
  size_t tasks = 10'000;
  size_t directories = 100'000;  // bound of directories searched in one Find
};

// Searches the hierarchy of the memory controller, where a task is one directory. Uses the rules of the sources
// kCgroup and kSystemd and ignores all others; FoundTask::rule is the index in the whole list. The first rule that
// matches a group applies. The rule that matched a group matches nothing below that group, but other rules may. If
// one rule names a slice and another rule names the services in it, both tasks include the usage of the services.
//
// Units are directories named *.service, *.scope or *.slice, at any depth. A rule's pattern is matched with the
// name as systemctl writes it, and with its escapes (\x2d) decoded. Labels of a unit are decoded and without
// suffix: {unit} "web@blue", {prefix} "web", {instance} "blue", {slice} "system" (the nearest slice around it),
// and {path}.
//
// systemd ignores limits that other programs write to the kernel: it writes the limits of its configuration again
// when it reloads its units, or when a unit's properties are set. Limits of transient units are therefore also set
// as properties (unit_properties.h), and the agent sets limits of other units again.
//
// Names: an empty job template is "{base}" for groups and "{prefix|unit}" for units; an empty task template is
// "{host}{path}". A group is left out, with the reason in refusals(), if its name cannot be built, is not
// printable UTF-8, is longer than 255 bytes, or is already in use.
//
// A search opens each directory that may lead to a match. A directory without children costs one stat.
class CgroupFinder final : public TaskFinder {
 public:
  // `host` is the value of {host}. InvalidArgument, with the rule's name, if a path is invalid, a template
  // cannot be parsed, or a placeholder is never filled. NotFound if no cgroups are mounted.
  static absl::StatusOr<std::unique_ptr<CgroupFinder>> Create(const CgroupMounts& mounts, std::string host,
                                                              const std::vector<TaskRule>& rules,
                                                              const FinderBounds& bounds = {});

  // Returns "systemd" if all rules are for units, else "cgroup".
  std::string_view name() const override { return name_; }
  // Returns the groups that match rules. ResourceExhausted if more groups match, or have to be searched, than the
  // bounds allow. The result may or may not contain groups that appear or disappear during the search.
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;

  // Returns human-readable reasons for which the last Find left out matching groups; at most kMaxRefusals.
  std::vector<std::string> refusals() const override { return refusals_; }
  size_t num_refused() const override { return num_refused_; }

  // Open() sets limits of transient units as their properties, too. Call it before Open(), on a machine that
  // systemd runs.
  void UseSystemd(std::shared_ptr<UnitProperties> systemd) { systemd_ = std::move(systemd); }

  static constexpr size_t kMaxRefusals = 20;

 private:
  struct Rule;
  class Walk;

  CgroupFinder(const CgroupMounts& mounts, std::string host, const FinderBounds& bounds)
      : mounts_(mounts), host_(std::move(host)), bounds_(bounds) {}
  absl::Status AddRule(const TaskRule& rule, size_t index);

  CgroupMounts mounts_;
  std::string host_;
  FinderBounds bounds_;
  std::shared_ptr<UnitProperties> systemd_;
  std::string_view name_ = "systemd";
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::vector<std::string> refusals_;
  size_t num_refused_ = 0;
};

}  // namespace taut::node
