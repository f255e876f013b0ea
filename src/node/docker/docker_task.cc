#include "node/docker/docker_task.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "absl/time/time.h"
#include "common/base/strings.h"
#include "node/docker/container_cgroup.h"

namespace taut::node {
namespace {

absl::Status NotRunning(std::string_view id) {
  return absl::NotFoundError(StrCat("container ", id.substr(0, 12), " is no longer running"));
}

// Largest difference between the kernel's value and the engine's: a page, 1 ms of quota in a period of 100
// ms, one unit of the kernel's weight.
double RoundingOf(LimitKind kind) {
  switch (kind) {
    case LimitKind::kMemoryMax:
    case LimitKind::kMemoryHigh:
    case LimitKind::kMemoryLow:
    case LimitKind::kMemoryMin:
      return 4096;
    case LimitKind::kCpuMax:
      return 0.0101;
    case LimitKind::kCpuWeight:
      return 1.01;
  }
  return 0;
}

bool Agree(LimitKind kind, const std::optional<double>& engine, const std::optional<double>& kernel) {
  if (!engine.has_value() || !kernel.has_value()) return engine.has_value() == kernel.has_value();
  return std::abs(*engine - *kernel) <= RoundingOf(kind);
}

// Returns the kernel's value. An amount that means no limit becomes absent, as in ToTaskLimits.
std::optional<double> KernelLimit(const TaskLimits& kernel, LimitKind kind, const ContainerLimits& engine,
                                  int64_t cores) {
  const std::optional<double>& value = kernel.of(kind);
  if (!value.has_value()) return value;
  const bool is_none =
      (kind == LimitKind::kMemoryMax && *value >= static_cast<double>(kLeastNoMemoryLimit)) ||
      (kind == LimitKind::kCpuMax && engine.nano_cpus > 0 && *value >= static_cast<double>(cores));
  return is_none ? std::nullopt : value;
}

std::string Say(const std::optional<double>& value) { return value.has_value() ? StrCat(*value) : "none"; }

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::NotFoundError(StrCat(path, ": cannot be read"));
  return text.str();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DockerTask>> DockerTask::Open(std::shared_ptr<EngineClient> client,
                                                             const std::string& id,
                                                             const CgroupOpener& opener,
                                                             const std::string& proc_dir) {
  absl::StatusOr<ContainerDetails> start = client->Inspect(id);
  if (!start.ok()) return start.status();
  if (!start->is_running || start->pid <= 0) return NotRunning(id);
  const absl::StatusOr<std::string> text = ReadFile(StrCat(proc_dir, "/", start->pid, "/cgroup"));
  if (!text.ok()) return text.status();
  const absl::StatusOr<ContainerCgroup> where = ParseContainerCgroup(*text, start->id);
  if (!where.ok()) return where.status();
  absl::StatusOr<std::unique_ptr<TaskGroup>> cgroup = opener(where->path);
  if (!cgroup.ok()) return cgroup.status();
  std::unique_ptr<DockerTask> out(
      new DockerTask(std::move(client), *std::move(start), where->version, *std::move(cgroup)));
  // Inspect the container again: the container may have restarted between the first Inspect and the opening of its
  // cgroup.
  if (const absl::StatusOr<ContainerDetails> now = out->Inspect(); !now.ok()) return now.status();
  return out;
}

DockerTask::DockerTask(std::shared_ptr<EngineClient> client, ContainerDetails start, CgroupVersion version,
                       std::unique_ptr<TaskGroup> cgroup)
    : client_(std::move(client)), start_(std::move(start)), version_(version), cgroup_(std::move(cgroup)) {}

absl::StatusOr<ContainerDetails> DockerTask::Inspect() {
  if (is_gone_) return NotRunning(start_.id);
  absl::StatusOr<ContainerDetails> now = client_->Inspect(start_.id);
  is_gone_ =
      absl::IsNotFound(now.status()) ||
      (now.ok() && (!now->is_running || now->pid != start_.pid || now->started_at != start_.started_at));
  if (is_gone_) return NotRunning(start_.id);
  return now;
}

absl::StatusOr<TaskLimits> DockerTask::ReadLimits() {
  const absl::StatusOr<ContainerDetails> now = Inspect();
  if (!now.ok()) return now.status();
  const absl::StatusOr<int64_t> cores = client_->Cores();
  if (!cores.ok()) return cores.status();
  absl::StatusOr<TaskLimits> kernel = cgroup_->ReadLimits();
  if (!kernel.ok()) return kernel.status();
  const TaskLimits engine = ToTaskLimits(now->limits, *cores);
  TaskLimits out = *kernel;
  for (const LimitKind kind : {LimitKind::kMemoryMax, LimitKind::kCpuMax, LimitKind::kCpuWeight}) {
    const std::optional<double> there = KernelLimit(*kernel, kind, now->limits, *cores);
    out.of(kind) = Agree(kind, engine.of(kind), there) ? engine.of(kind) : there;
  }
  return out;
}

absl::Status DockerTask::CheckShrink(double bytes) {
  // On v1 the kernel rejects a limit below the usage and kills no process.
  if (version_ == CgroupVersion::kV1) return absl::OkStatus();
  TaskReading reading;
  if (absl::Status status = cgroup_->Read(ReadDepth::kUsage, reading); !status.ok()) return status;
  const std::optional<uint64_t> used =
      reading.memory_working_set_bytes.has_value() ? reading.memory_working_set_bytes : reading.memory_bytes;
  if (!used.has_value() || static_cast<double>(*used) <= bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(StrCat("container ", start_.id.substr(0, 12), " uses ", *used,
                                             " bytes, more than the limit of ", bytes, " requested"));
}

absl::Status DockerTask::Verify(LimitKind kind, const ContainerLimits& expected, int64_t cores) {
  const absl::StatusOr<ContainerDetails> now = Inspect();
  if (!now.ok()) return now.status();
  const absl::StatusOr<TaskLimits> kernel = cgroup_->ReadLimits();
  if (!kernel.ok()) return kernel.status();
  const std::optional<double> wanted = ToTaskLimits(expected, cores).of(kind);
  const std::optional<double> engine = ToTaskLimits(now->limits, cores).of(kind);
  const std::optional<double> there = KernelLimit(*kernel, kind, expected, cores);
  const bool engine_has_it = wanted == engine;
  if (engine_has_it && Agree(kind, wanted, there)) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("container ", start_.id.substr(0, 12), ": ", Name(kind), " ",
                                              Say(wanted), " was requested, but the engine has ", Say(engine),
                                              " and the kernel ", Say(there),
                                              "; check whether another program sets its limits"));
}

std::optional<double> DockerTask::Rounded(LimitKind kind, std::optional<double> value) {
  if (kind == LimitKind::kMemoryLow || kind == LimitKind::kMemoryMin) return cgroup_->Rounded(kind, value);
  const absl::StatusOr<int64_t> cores = client_->Cores();
  if (!cores.ok()) return value;
  const absl::StatusOr<LimitUpdate> update = PlanLimitUpdate(start_.limits, kind, value, version_, *cores);
  return update.ok() ? ToTaskLimits(update->result, *cores).of(kind) : value;
}

std::optional<int64_t> DockerTask::started_s() const {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, start_.started_at, &time, &error)) return std::nullopt;
  return absl::ToUnixSeconds(time);
}

absl::Status DockerTask::SetLimit(LimitKind kind, std::optional<double> value) {
  if (kind == LimitKind::kMemoryLow || kind == LimitKind::kMemoryMin) return cgroup_->SetLimit(kind, value);
  const absl::StatusOr<ContainerDetails> now = Inspect();
  if (!now.ok()) return now.status();
  const absl::StatusOr<int64_t> cores = client_->Cores();
  if (!cores.ok()) return cores.status();
  const absl::StatusOr<LimitUpdate> update = PlanLimitUpdate(now->limits, kind, value, version_, *cores);
  if (!update.ok()) return update.status();
  if (update->body.empty()) return Verify(kind, update->result, *cores);
  if (kind == LimitKind::kMemoryMax && value.has_value()) {
    if (absl::Status status = CheckShrink(*value); !status.ok()) return status;
  }
  if (absl::Status status = client_->Update(start_.id, update->body); !status.ok()) {
    // An update of a container that just ended fails with various messages: check whether it runs.
    const absl::StatusOr<ContainerDetails> after = Inspect();
    return absl::IsNotFound(after.status()) ? after.status() : status;
  }
  return Verify(kind, update->result, *cores);
}

absl::Status SetMemoryOfStopped(EngineClient& client, std::string_view id, double bytes) {
  const absl::StatusOr<ContainerDetails> now = client.Inspect(id);
  if (!now.ok()) return now.status();
  if (now->is_running) {
    return absl::FailedPreconditionError(
        StrCat("container ", id.substr(0, 12), " runs: set its limit through its task"));
  }
  const absl::StatusOr<LimitUpdate> update =
      PlanLimitUpdate(now->limits, LimitKind::kMemoryMax, bytes, CgroupVersion::kV1, 1);
  if (!update.ok()) return update.status();
  if (absl::Status status = client.Update(id, update->body); !status.ok()) return status;
  const absl::StatusOr<ContainerDetails> after = client.Inspect(id);
  if (!after.ok()) return after.status();
  if (after->limits.memory_bytes == update->result.memory_bytes) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("container ", id.substr(0, 12),
                                              ": the engine accepted the limit of ", bytes,
                                              " bytes, but has ", after->limits.memory_bytes));
}

}  // namespace taut::node
