// The identity of a job, from the source that discovered it to the actuator that acts on it. A source
// provides the parts of the identity. The job's name is built from these parts, and no code splits a name
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taut {

// The origin of a workload's identity, which also determines the actuator. The store contains the names of
// the values.
enum class Source : uint8_t { kUnknown, kSeries, kAgents, kDocker, kKubernetes };
// Returns "series", "agents", "docker" or "kubernetes"; "" for kUnknown.
std::string_view Name(Source source);
// Returns the source with this name; nullopt if no source has this name.
std::optional<Source> ParseSource(std::string_view name);

struct Workload {
  Source source = Source::kUnknown;
  // Names of the cell and the namespace; "" if the workload has none.
  std::string cell = {}, namespace_name = {};
  std::string kind = {};  // kind in lower case: "deployment"
  std::string name = {};
  std::string group = {};  // group of the workload's pods, if the source splits the workload: "large"
  std::string container = {};

  bool known() const { return source != Source::kUnknown; }
  // Returns the name and the group as people read them: "fluentd@large"; the name alone without a group.
  std::string NameWithGroup() const;
  // Returns the non-empty parts, beginning with the cell, joined with '/': "shop/deployment/web/app". The
  // group follows the name: "logging/daemonset/fluentd@large/app".
  std::string JobName() const;
  bool operator==(const Workload&) const = default;
};

// Separator between a workload's name and its group. No name in Kubernetes contains this character.
inline constexpr char kGroupMark = '@';

// A workload as positions within its job's name: 6 bytes, for tables with millions of jobs.
class WorkloadParts {
 public:
  WorkloadParts() = default;
  // Makes the whole job name the workload's name.
  explicit WorkloadParts(Source source) : source_(source) {}
  // Sizes of the parts in bytes. The remaining bytes are the workload's name. If a part is longer than 255
  // bytes, only the source is stored: no actuator then manages the job.
  struct Sizes {
    size_t cell = 0, namespace_name = 0, kind = 0, group = 0, container = 0;
    bool operator==(const Sizes&) const = default;
  };
  WorkloadParts(Source source, const Sizes& sizes);
  static WorkloadParts Of(const Workload& workload);

  bool known() const { return source_ != Source::kUnknown; }
  Source source() const { return source_; }
  // True if the sizes of the parts are stored, not only the source.
  bool has_parts() const { return sizes() != Sizes(); }
  Sizes sizes() const { return {cell_, namespace_, kind_, group_, container_}; }
  // Returns the workload of the job with this name; without parts, the workload's `name` is the whole text.
  // Returns an unknown workload if the parts do not fit the name.
  Workload In(std::string_view job_name) const;
  bool operator==(const WorkloadParts&) const = default;

 private:
  Source source_ = Source::kUnknown;
  uint8_t cell_ = 0, namespace_ = 0, kind_ = 0, group_ = 0, container_ = 0;
};

// Returns the Kubernetes workload of a job that an older version stored by its name alone. nullopt if the
// name is not [CELL/]NAMESPACE/KIND/NAME[/CONTAINER]. For stored data only.
std::optional<Workload> WorkloadOfStoredName(std::string_view job_name, std::string_view cell);
// Returns the workload with its group in Workload::group. An older version stored the group at the end of the
// name, such as "fluentd@large" for a DaemonSet "fluentd" with the group "large". For stored data only.
Workload WithGroupOfStoredName(Workload workload);

}  // namespace taut
