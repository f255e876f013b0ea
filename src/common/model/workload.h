// The identity of a job, from the source that saw it to the actuator that acts. A source gives the parts, of which
// the job's name is made; no code takes a name apart again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taut {

// What says which workload a job is, and knows who runs it. The store has names.
enum class Source : uint8_t { kUnknown, kSeries, kAgents, kDocker, kKubernetes };
// "series", "kubernetes"; "" of kUnknown.
std::string_view Name(Source source);
std::optional<Source> ParseSource(std::string_view name);

struct Workload {
  Source source = Source::kUnknown;
  // "": it has none.
  std::string cell = {}, namespace_name = {};
  std::string kind = {};  // in lower case: "deployment"
  std::string name = {}, container = {};

  bool known() const { return source != Source::kUnknown; }
  // Returns the parts from the cell on that are not empty, with '/' between them: "shop/deployment/web/app".
  std::string JobName() const;
  bool operator==(const Workload&) const = default;
};

// A workload within the name of its job, in 4 bytes for tables with millions of jobs.
class WorkloadParts {
 public:
  WorkloadParts() = default;
  // The name is one part, and that of the workload.
  explicit WorkloadParts(Source source) : source_(static_cast<uint32_t>(source)) {}
  // Bytes of the parts, of which the name has the rest. A part that is too long (cell, namespace and container
  // 127, kind 63) leaves only the source: no actuator takes the job for its own.
  struct Sizes {
    size_t cell = 0, namespace_name = 0, kind = 0, container = 0;
    bool operator==(const Sizes&) const = default;
  };
  WorkloadParts(Source source, const Sizes& sizes);
  static WorkloadParts Of(const Workload& workload);

  bool known() const { return source_ != 0; }
  Source source() const { return static_cast<Source>(source_); }
  // Whether it says more than the source.
  bool has_parts() const { return (cell_ | namespace_ | kind_ | container_) != 0; }
  Sizes sizes() const { return {cell_, namespace_, kind_, container_}; }
  // Returns the workload of the job of this name, whose `name` is the whole text without parts. Not known: the
  // parts are not those of this name.
  Workload In(std::string_view job_name) const;
  bool operator==(const WorkloadParts&) const = default;

 private:
  uint32_t source_ : 5 = 0;
  uint32_t cell_ : 7 = 0;
  uint32_t namespace_ : 7 = 0;
  uint32_t kind_ : 6 = 0;
  uint32_t container_ : 7 = 0;
};

// Returns the workload in Kubernetes that a job is of which an older version stored with its name alone; nullopt:
// its name is not [CELL/]NAMESPACE/KIND/NAME[/CONTAINER]. For stored data only.
std::optional<Workload> WorkloadOfStoredName(std::string_view job_name, std::string_view cell);

}  // namespace taut
