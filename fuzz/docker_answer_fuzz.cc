// Fuzzes the parsers of Docker Engine responses with arbitrary bytes. A response is rejected, or has the
// properties that other code assumes. Update requests made from the response can be parsed.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/base/strings.h"
#include "node/docker/container_cgroup.h"
#include "node/docker/docker_finder.h"
#include "node/docker/engine_answer.h"
#include "node/docker/engine_client.h"
#include "node/docker/limit_update.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}
void RequireRefusal(const absl::Status& status) {
  Require(absl::IsDataLoss(status) && !Message(status).empty());
}

node::ContainerNamer Namer() {
  node::TaskRule all, by_label;
  all.source = by_label.source = node::TaskSource::kDocker;
  all.match = by_label.match = "*";
  by_label.job = "{label.team}";
  return *node::ContainerNamer::Create({by_label, all}, "h");
}

void CheckUpdates(const node::ContainerLimits& limits) {
  for (const node::LimitKind kind :
       {node::LimitKind::kMemoryMax, node::LimitKind::kCpuMax, node::LimitKind::kCpuWeight}) {
    for (const std::optional<double> value :
         {std::optional<double>(), std::optional(50e6), std::optional(0.5)}) {
      const auto update = node::PlanLimitUpdate(limits, kind, value, node::CgroupVersion::kV1, 2);
      Require(update.ok());
      if (update->body.empty()) continue;
      // The body of an update has the field names of a response, so the parser of responses can check the body.
      const auto read =
          node::ParseContainerDetails(StrCat(R"({"Id":"a","State":{},"HostConfig":)", update->body, "}"));
      Require(read.ok());
      if (kind == node::LimitKind::kMemoryMax)
        Require(read->limits.memory_bytes == update->result.memory_bytes);
      if (kind == node::LimitKind::kCpuWeight) Require(read->limits.cpu_shares == update->result.cpu_shares);
      for (const int64_t n : {read->limits.memory_bytes, read->limits.nano_cpus, read->limits.cpu_shares}) {
        Require(n >= 0);
      }
    }
  }
}

void Read(std::string_view text) {
  static const node::ContainerNamer namer = Namer();
  if (const auto list = node::ParseContainerList(text); list.ok()) {
    for (const node::ContainerSummary& c : *list) {
      Require(!c.id.empty() && !c.name.empty() && c.name.find('/') == std::string::npos);
      const auto found = namer.Name(c);
      Require(found.has_value() && found->task == StrCat("h/", c.name));
    }
  } else {
    RequireRefusal(list.status());
  }
  if (const auto details = node::ParseContainerDetails(text); details.ok()) {
    CheckUpdates(details->limits);
    const node::TaskLimits limits = node::ToTaskLimits(details->limits, 2);
    for (const node::LimitKind kind :
         {node::LimitKind::kMemoryMax, node::LimitKind::kCpuMax, node::LimitKind::kCpuWeight}) {
      Require(!limits.of(kind).has_value() || *limits.of(kind) > 0);
    }
  } else {
    RequireRefusal(details.status());
  }
  if (const auto version = node::ParseEngineVersion(text); version.ok())
    (void)node::ChooseApiVersion(*version);
  if (const auto cores = node::ParseCores(text); cores.ok()) Require(*cores > 0);
  if (const auto event = node::ParseEngineEvent(text); event.ok()) Require(!event->id.empty());
  Require(node::EngineMessage(text).size() <= 300);
  if (const auto where = node::ParseContainerCgroup(text, "c8a8"); where.ok()) {
    Require(where->path.find("c8a8") != std::string::npos);
  }
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taut::Read({reinterpret_cast<const char*>(data), size});
  return 0;
}
