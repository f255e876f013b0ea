#include "node/docker/docker_finder.h"

#include <algorithm>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "node/cgroup/cgroup.h"

namespace taut::node {
namespace {

constexpr std::string_view kDefaultJob = "docker/{service}", kDefaultTask = "{host}/{name}";
constexpr std::string_view kComposeProject = "com.docker.compose.project";
constexpr std::string_view kComposeService = "com.docker.compose.service";
constexpr std::string_view kIdentityPrefix = "docker:";
constexpr size_t kShortIdDigits = 12;

absl::StatusOr<NameTemplate> ParseTemplate(const TaskRule& rule, size_t index, std::string_view what,
                                           std::string_view text) {
  absl::StatusOr<NameTemplate> out = NameTemplate::Parse(text);
  if (out.ok()) return out;
  return absl::InvalidArgumentError(StrCat(rule.name.empty() ? StrCat("rule ", index + 1) : rule.name, ": ",
                                           what, " '", text, "': ", Message(out.status())));
}

absl::StatusOr<std::string> IdOf(std::string_view identity) {
  if (identity.starts_with(kIdentityPrefix)) return std::string(identity.substr(kIdentityPrefix.size()));
  return absl::InvalidArgumentError(StrCat("'", identity, "' is not a container"));
}

}  // namespace

absl::StatusOr<ContainerNamer> ContainerNamer::Create(const std::vector<TaskRule>& rules, std::string host) {
  if (host.empty()) return absl::InvalidArgumentError("the rules for containers need a host name");
  ContainerNamer out;
  out.host_ = std::move(host);
  for (size_t i = 0; i < rules.size(); ++i) {
    const TaskRule& rule = rules[i];
    if (rule.source != TaskSource::kDocker) continue;
    auto job = ParseTemplate(rule, i, "job", rule.job.empty() ? kDefaultJob : rule.job);
    if (!job.ok()) return job.status();
    auto task = ParseTemplate(rule, i, "task", rule.task.empty() ? kDefaultTask : rule.task);
    if (!task.ok()) return task.status();
    out.rules_.push_back({i, rule.match, *std::move(job), *std::move(task)});
  }
  return out;
}

std::optional<FoundTask> ContainerNamer::Name(const ContainerSummary& container) const {
  std::vector<std::string> names;  // reserved, so that `values` can refer to the texts
  names.reserve(container.labels.size());
  std::vector<LabelView> values;
  std::string_view project, service;
  for (const auto& [key, value] : container.labels) {
    values.push_back({names.emplace_back(StrCat("label.", key)), value});
    if (key == kComposeProject) project = value;
    if (key == kComposeService) service = value;
  }
  const bool is_compose = !project.empty() && !service.empty();
  const std::string full_service = is_compose ? StrCat(project, "/", service) : container.name;
  values.push_back({"host", host_});
  values.push_back({"name", container.name});
  values.push_back({"id", std::string_view(container.id).substr(0, kShortIdDigits)});
  values.push_back({"image", container.image});
  values.push_back({"service", full_service});
  for (const Compiled& rule : rules_) {
    if (!FitsPattern(container.name, rule.match)) continue;
    std::optional<std::string> job = rule.job.Render(values);
    std::optional<std::string> task = rule.task.Render(values);
    if (!job.has_value() || !task.has_value()) continue;
    FoundTask out;
    out.identity = DockerIdentity(container.id);
    out.job = *std::move(job);
    out.task = *std::move(task);
    out.rule = rule.rule;
    if (!project.empty()) out.labels.emplace_back("compose_project", project);
    if (!service.empty()) out.labels.emplace_back("compose_service", service);
    out.labels.emplace_back("image", container.image);
    return out;
  }
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<DockerFinder>> DockerFinder::Create(DockerFinderOptions options) {
  absl::StatusOr<ContainerNamer> namer = ContainerNamer::Create(options.rules, options.host);
  if (!namer.ok()) return namer.status();
  absl::StatusOr<std::shared_ptr<EngineClient>> client = EngineClient::Create(options.engine);
  if (!client.ok()) return client.status();
  if (!options.open_cgroup) {
    absl::StatusOr<CgroupMounts> mounts = ReadCgroupMounts();
    if (!mounts.ok()) return mounts.status();
    options.open_cgroup = [its = *std::move(mounts)](std::string_view path) { return OpenCgroup(its, path); };
  }
  EngineEventsOptions its_events;
  its_events.address = options.engine.address;
  its_events.connect_timeout = options.engine.connect_timeout;
  absl::StatusOr<std::unique_ptr<EngineEvents>> events = EngineEvents::Start(its_events);
  if (!events.ok()) return events.status();
  return std::unique_ptr<DockerFinder>(
      new DockerFinder(std::move(options), *std::move(namer), *std::move(client), *std::move(events)));
}

DockerFinder::DockerFinder(DockerFinderOptions options, ContainerNamer namer,
                           std::shared_ptr<EngineClient> client, std::unique_ptr<EngineEvents> events)
    : options_(std::move(options)),
      namer_(std::move(namer)),
      client_(std::move(client)),
      events_(std::move(events)) {}

absl::StatusOr<std::vector<FoundTask>> DockerFinder::Find() {
  const absl::StatusOr<std::vector<ContainerSummary>> running = client_->ListRunning();
  if (!running.ok()) return running.status();
  std::vector<FoundTask> out;
  for (const ContainerSummary& container : *running) {
    if (std::optional<FoundTask> task = namer_.Name(container); task.has_value())
      out.push_back(*std::move(task));
  }
  std::sort(out.begin(), out.end(),
            [](const FoundTask& a, const FoundTask& b) { return a.identity < b.identity; });
  return out;
}

absl::StatusOr<std::unique_ptr<TaskGroup>> DockerFinder::Open(const FoundTask& task) {
  const absl::StatusOr<std::string> id = IdOf(task.identity);
  if (!id.ok()) return id.status();
  return DockerTask::Open(client_, *id, options_.open_cgroup, options_.proc_dir);
}

// Returns true while the container exists: the engine keeps a container's limits until the container is
// removed.
bool DockerFinder::MayReturn(const FoundTask& task) {
  const absl::StatusOr<std::string> id = IdOf(task.identity);
  return id.ok() && !absl::IsNotFound(client_->Inspect(*id).status());
}

absl::Status DockerFinder::SetStoppedMemory(const std::string& identity, double bytes) {
  const absl::StatusOr<std::string> id = IdOf(identity);
  if (!id.ok()) return id.status();
  return SetMemoryOfStopped(*client_, *id, bytes);
}

}  // namespace taut::node
