// Finds the containers of this machine's Docker engine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/name_template.h"
#include "node/agent/task_group.h"
#include "node/agent/task_rule.h"
#include "node/docker/docker_task.h"
#include "node/docker/engine_client.h"
#include "node/docker/engine_events.h"

namespace taut::node {

struct DockerFinderOptions {
  EngineClientOptions engine;
  std::string host;  // value of {host}
  // Rules of other sources are skipped; FoundTask::rule is the index in this list.
  std::vector<TaskRule> rules;
  CgroupOpener open_cgroup;  // unset: opens cgroups of this machine (node/cgroup/cgroup.h)
  std::string proc_dir = "/proc";
};

// Names containers by rules. Empty templates are "docker/{service}" and "{host}/{name}". {id} is the 12-digit ID
// that `docker ps` shows. The first rule that matches and whose placeholders all have a value applies.
class ContainerNamer {
 public:
  // Parses the templates of the rules. InvalidArgument, with the rule's name, if a template cannot be parsed
  // or `host` is empty.
  static absl::StatusOr<ContainerNamer> Create(const std::vector<TaskRule>& rules, std::string host);
  // Returns the task of a container; nullopt if no rule matches. Its labels are image, and compose_project
  // and compose_service if present. O(rules).
  std::optional<FoundTask> Name(const ContainerSummary& container) const;

 private:
  struct Compiled {
    size_t rule = 0;
    std::string match;
    NameTemplate job, task;
  };
  std::string host_;
  std::vector<Compiled> rules_;
};

// A container is one task over all its restarts ("docker:ID"), because the engine keeps the container's limits. A
// TaskGroup covers one start: after kGone and kStarted of an identity, the caller must open the task again. Events
// cover all containers, including containers that no rule matches.
class DockerFinder final : public TaskFinder {
 public:
  // Starts the thread that reads the engine's events; the engine need not run yet. InvalidArgument if the
  // address is not a Unix socket, the host is empty or a template cannot be parsed. NotFound if this machine
  // has no cgroups.
  static absl::StatusOr<std::unique_ptr<DockerFinder>> Create(DockerFinderOptions options);

  std::string_view name() const override { return "docker"; }
  // Lists all containers with one request to the Docker engine.
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;
  bool MayReturn(const FoundTask& task) override;
  Wakeup wakeup() const override { return events_->wakeup(); }
  std::vector<TaskEvent> TakeEvents() override { return events_->Take(); }

  // Sets the memory limit of a stopped container (SetMemoryOfStopped). InvalidArgument if the identity is not a
  // container's.
  absl::Status SetStoppedMemory(const std::string& identity, double bytes);
  // Returns OK while events arrive, else the reason why no events arrive.
  absl::Status events_status() const { return events_->status(); }

 private:
  DockerFinder(DockerFinderOptions options, ContainerNamer namer, std::shared_ptr<EngineClient> client,
               std::unique_ptr<EngineEvents> events);

  const DockerFinderOptions options_;
  const ContainerNamer namer_;
  const std::shared_ptr<EngineClient> client_;
  const std::unique_ptr<EngineEvents> events_;
};

}  // namespace taut::node
