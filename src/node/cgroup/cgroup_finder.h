// Tasks that are cgroups: groups named by a path, and systemd's units.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/name_template.h"
#include "node/agent/task_group.h"
#include "node/agent/task_rule.h"
#include "node/cgroup/cgroup_mounts.h"
#include "node/cgroup/unit_name.h"

namespace taut::node {

struct FinderBounds {
  size_t tasks = 10'000;
  size_t directories = 100'000;  // looked at
};

// Walks the hierarchy that has memory: there a task is one directory. Of the rules it takes those of kCgroup
// and kSystemd and passes over all others; FoundTask::rule counts them all. The first that fits a group
// decides. Below a group that a rule has named, that rule names nothing more, but others may: a rule that
// names a slice and, by another rule, services in it has their usage in both.
//
// Units are directories called *.service, *.scope or *.slice, wherever they lie. A rule's pattern fits the
// name as systemctl writes it, or with its escapes (\x2d) decoded. Labels of a unit are decoded and have no
// suffix: {unit} "web@blue", {prefix} "web", {instance} "blue", {slice} "system" (the nearest slice around
// it), and {path}.
//
// systemd knows nothing of limits that others write: it writes its own again when a unit's properties are
// set.
//
// Names: an empty job is "{base}" for groups and "{prefix|unit}" for units, an empty task "{host}{path}". A
// group whose name cannot be made, is not printable UTF-8, is longer than 255 bytes, or is another's already,
// is left out and told by refusals().
//
// A walk opens each directory that may lie on the way to a match; one without children costs a stat.
class CgroupFinder final : public TaskFinder {
 public:
  // "host" is what {host} stands for. InvalidArgument, naming the rule: a path that is none, a template that
  // cannot be read or has a placeholder that nothing fills.
  static absl::StatusOr<std::unique_ptr<CgroupFinder>> Create(const CgroupMounts& mounts, std::string host,
                                                              const std::vector<TaskRule>& rules,
                                                              const FinderBounds& bounds = {});

  // "systemd" if all of its rules are for units, else "cgroup".
  std::string_view name() const override { return name_; }
  // ResourceExhausted: more groups fit, or had to be looked at, than the bounds say. Groups
  // that come and go meanwhile may be there or not.
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;

  // Why groups that fit a rule were left out by the last Find, at most kMaxRefusals of them, for people.
  std::vector<std::string> refusals() const override { return refusals_; }
  size_t num_refused() const override { return num_refused_; }

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
  std::string_view name_ = "systemd";
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::vector<std::string> refusals_;
  size_t num_refused_ = 0;
};

}  // namespace taut::node
