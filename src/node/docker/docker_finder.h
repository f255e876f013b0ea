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
  std::string host;             // what {host} stands for
  std::vector<TaskRule> rules;  // those of other sources are skipped; FoundTask::rule counts them all
  CgroupOpener open_cgroup;     // unset: that of this machine (node/cgroup/cgroup.h)
  std::string proc_dir = "/proc";
};

// How a rule names a container. Empty templates are "docker/{service}" and "{host}/{name}". {id} is the 12
// digits that `docker ps` shows. The first rule that fits and whose templates have a value for every
// placeholder counts.
class ContainerNamer {
 public:
  // InvalidArgument naming the rule whose template cannot be read.
  static absl::StatusOr<ContainerNamer> Create(const std::vector<TaskRule>& rules, std::string host);
  // nullopt: no rule wants it. Labels: image, and compose_project and compose_service if it has them.
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

// A container is one task over all its restarts ("docker:ID"): the engine keeps its limits too. Its groups
// are of one start each: after kGone and kStarted of the same identity, open it anew. Events come for all
// containers, also those that no rule wants.
class DockerFinder final : public TaskFinder {
 public:
  // Starts the thread that listens to the engine, which need not be there yet. InvalidArgument: an address
  // that is no Unix socket, no host, or a template that cannot be read. NotFound: this machine has no
  // cgroups.
  static absl::StatusOr<std::unique_ptr<DockerFinder>> Create(DockerFinderOptions options);

  std::string_view name() const override { return "docker"; }
  // One request, whatever the number of containers.
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;
  bool MayReturn(const FoundTask& task) override;
  Wakeup wakeup() const override { return events_->wakeup(); }
  std::vector<TaskEvent> TakeEvents() override { return events_->Take(); }

  // See SetMemoryOfStopped.
  absl::Status SetStoppedMemory(const std::string& identity, double bytes);
  // Why no events come; OK while they do.
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
