#include "tools/cli/export_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/csv_field.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/resource.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/export_plan.h"
#include "tools/cli/export_values.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Returns the recommenders' sentences as one line.
std::string Why(const ExportedJob& job) {
  std::string out;
  for (const char* resource : {"cpu", "memory"}) {
    const std::string sentence = SentenceOf(job, resource);
    if (!sentence.empty()) StrAppend(&out, out.empty() ? "" : " ", resource, ": ", sentence);
  }
  return out;
}

// Returns Docker's name of the container, which is the value of the first of three labels that is set. Without
// such a label, the result is the container of the workload, or else the last part of the job's name. Rules of
// agents form the names of Docker's containers, so the API has no field for them.
std::string ContainerNameOf(const Json& job) {
  if (job.contains("labels")) {
    for (const char* label : {"container", "container_name", "name"}) {
      if (const std::string name = TextOf(job["labels"], label); !name.empty()) return name;
    }
  }
  if (std::string container = WorkloadOf(job).container; !container.empty()) return container;
  const std::string name = TextOf(job, "name");
  return name.substr(name.rfind('/') + 1);
}

void AddDocker(const ExportedJob& job, std::string& out) {
  const std::optional<double> cpu = AmountOf(job.job, "cpu", "would_be");
  const std::optional<double> memory = AmountOf(job.job, "memory", "would_be");
  // Do not add a limit that the owner has not set, because a container without a CPU limit may use idle cores.
  const bool sets_cpu =
      cpu && AmountOf(job.job, "cpu", "owner_limit").has_value() && !IsOfRequest(job.job, "cpu");
  const bool sets_memory =
      memory && AmountOf(job.job, "memory", "owner_limit").has_value() && !IsOfRequest(job.job, "memory");
  StrAppend(&out, "# ", TextOf(job.job, "name"), ": ", cpu || memory ? Why(job) : NoneYetText(job.job), "\n");
  if (cpu && !sets_cpu) out += "# its CPU has no limit, and gets none\n";
  if (memory && !sets_memory) out += "# its memory has no limit, and gets none\n";
  if (!sets_cpu && !sets_memory) return;
  out += "docker update";
  if (sets_cpu) StrAppend(&out, fmt::format(" --cpus {:.3f}", static_cast<double>(MilliCores(*cpu)) / 1000));
  if (sets_memory)
    StrAppend(&out, " --memory ", WholeBytes(*memory), "b --memory-swap ", WholeBytes(*memory), "b");
  StrAppend(&out, " -- ", ShellWord(ContainerNameOf(job.job)), "\n");
}

// Returns the plan of a job. The plan of a job that is not a known container is the recommendation.
ExportPlan YamlPlan(const Json& job, const std::optional<double>& cpu, const std::optional<double>& memory) {
  if (KnowsContainer(job)) return PlanExport({}, job);
  const ExportPlan plan = PlanExport({}, job);
  ExportPlan out;
  const auto fill = [&](std::string_view resource, const std::optional<double>& amount,
                        const ContainerResources& both, ContainerResources& to) {
    if (AmountOf(job, resource, "owner_request").has_value()) {
      to = both;
    } else {
      (IsOfRequest(job, resource) ? to.request : to.limit) = amount;
    }
  };
  fill("cpu", cpu, plan.cpu, out.cpu);
  fill("memory", memory, plan.memory, out.memory);
  return out;
}

void AddYaml(const ExportedJob& job, std::string& out) {
  const std::optional<double> cpu = AmountOf(job.job, "cpu", "would_be");
  const std::optional<double> memory = AmountOf(job.job, "memory", "would_be");
  StrAppend(&out, "# ", cpu || memory ? Why(job) : NoneYetText(job.job), "\n");
  const std::string key = Json(TextOf(job.job, "name")).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!cpu && !memory) {
    StrAppend(&out, "# ", key, "\n");
    return;
  }
  StrAppend(&out, key, ":\n  resources:\n");
  const auto add = [&](std::string_view field, const std::optional<double>& of_cpu,
                       const std::optional<double>& of_memory) {
    if (of_cpu || of_memory) StrAppend(&out, "    ", field, ":\n");
    if (of_cpu) StrAppend(&out, "      cpu: ", MilliCores(*of_cpu), "m\n");
    if (of_memory) StrAppend(&out, "      memory: \"", WholeBytes(*of_memory), "\"\n");
  };
  const ExportPlan plan = YamlPlan(job.job, cpu, memory);
  add("requests", plan.cpu.request, plan.memory.request);
  add("limits", plan.cpu.limit, plan.memory.limit);
}

std::string CsvNumber(const Json& job, const char* resource, const char* key) {
  const std::optional<double> amount = AmountOf(job, resource, key);
  if (!amount) return "";
  return std::string_view(resource) == "cpu"
             ? fmt::format("{}", static_cast<double>(MilliCores(*amount)) / 1000)
             : StrCat(WholeBytes(*amount));
}

// Keys of both parts of the risk, as in the Jobs page's export: the forecast and the past days, or the work above
// the limit.
constexpr const char* kRiskKeys[] = {"chance", "days", "days_over", "work_over", "work_ordered"};

// Returns a resource's column heads for the owner's request, the recommended request, and the parts of the risk.
std::string MoreColumns(std::string_view resource, std::string_view unit) {
  std::string out =
      StrCat(",", resource, "_owner_request_", unit, ",", resource, "_recommended_request_", unit);
  for (const char* key : kRiskKeys) StrAppend(&out, ",", resource, "_", key);
  return out;
}

void AddMoreColumns(const Json& job, const char* resource, std::string& out) {
  for (const char* key : {"owner_request", "would_be_request"})
    StrAppend(&out, ",", CsvNumber(job, resource, key));
  for (const char* key : kRiskKeys) {
    const std::optional<double> value = AmountOf(job, resource, key);
    StrAppend(&out, ",", value.has_value() ? fmt::format("{}", *value) : "");
  }
}

void AddCsv(const ExportedJob& job, std::string& out) {
  StrAppend(&out, CsvField(TextOf(job.job, "name")), ",", CsvField(TextOf(job.job, "mode")), ",",
            job.job.contains("tasks") && job.job["tasks"].is_number() ? job.job["tasks"].dump() : "");
  for (const char* resource : {"cpu", "memory"}) {
    for (const char* key : {"owner_limit", "limit", "would_be"})
      StrAppend(&out, ",", CsvNumber(job.job, resource, key));
  }
  for (const char* resource : {"cpu", "memory"}) AddMoreColumns(job.job, resource, out);
  StrAppend(&out, ",", CsvField(Why(job)), "\r\n");
}

}  // namespace

std::string TextOf(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return "";
  return Printable(object[key].get<std::string>());
}

std::optional<double> AmountOf(const Json& job, std::string_view resource, const char* key) {
  if (!job.is_object() || !job.contains(resource)) return std::nullopt;
  const Json& amounts = job[resource];
  if (!amounts.is_object() || !amounts.contains(key) || !amounts[key].is_number()) return std::nullopt;
  return amounts[key].get<double>();
}

bool IsOfRequest(const Json& job, std::string_view resource) {
  return job.is_object() && job.contains(resource) && TextOf(job[resource], "of") == "request";
}

ContainerResources AmountsNow(const Json& job, std::string_view resource) {
  const Json& container = At(job, "container");
  if (At(container, resource).is_object()) {
    return {AmountOf(container, resource, "request"), AmountOf(container, resource, "limit")};
  }
  const std::optional<double> owners = AmountOf(job, resource, "owner_limit");
  if (IsOfRequest(job, resource)) return {owners, std::nullopt};
  return {AmountOf(job, resource, "owner_request"), owners};
}

std::optional<double> PeakOf(const Json& usage) {
  const Json& buckets = ItemsAt(usage, "buckets");
  std::optional<double> peak;
  for (const Json& cell : ItemsAt(usage, "cells")) {
    if (!cell.is_array() || cell.size() < 2 || !cell[1].is_number_unsigned()) continue;
    const auto row = cell[1].get<size_t>();
    if (row >= buckets.size() || !buckets[row].is_number()) continue;
    peak = std::max(peak.value_or(0), buckets[row].get<double>());
  }
  return peak;
}

std::string NoneYetText(const Json& job) {
  std::optional<double> first;
  for (const char* resource : {"cpu", "memory"}) {
    const std::optional<double> at = AmountOf(job, resource, "first_recommendation_at");
    if (at.has_value() && (!first.has_value() || *at < *first)) first = at;
  }
  if (!first.has_value()) return "no recommendation yet";
  return StrCat("no recommendation yet; the first at ", FormatTime(Whole(*first)), " UTC");
}

bool IsInitContainer(const Json& job) {
  if (!job.is_object() || !job.contains("container") || !job["container"].is_object()) return false;
  return job["container"].contains("init") && job["container"]["init"] == true;
}

Workload WorkloadOf(const Json& job) {
  const Json& workload = At(job, "workload");
  const std::optional<Source> source = ParseSource(TextOf(workload, "source"));
  if (!source.has_value() || *source == Source::kUnknown) return {};
  return {.source = *source,
          .cell = TextOf(workload, "cluster"),
          .namespace_name = TextOf(workload, "namespace"),
          .kind = TextOf(workload, "kind"),
          .name = TextOf(workload, "name"),
          .group = TextOf(workload, "group"),
          .container = TextOf(workload, "container")};
}

std::string SentenceOf(const ExportedJob& job, const char* resource) {
  if (!job.why.is_object() || !job.why.contains(resource) || !job.why[resource].is_object()) return "";
  return TextOf(job.why[resource].contains("reason") ? job.why[resource]["reason"] : Json(), "sentence");
}

int64_t MilliCores(double cores) { return Whole(std::ceil(cores * 1000 - 1e-6)); }
int64_t WholeBytes(double bytes) { return Whole(std::ceil(bytes - 1e-6)); }

std::string ShellWord(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '/' || c == ',' || c == '=' || c == ':' || c == '%' || c == '+' ||
           c == '@';
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string ExportText(ExportForm form, const std::vector<ExportedJob>& jobs) {
  std::string out;
  if (form == ExportForm::kCsv) {
    out =
        "job,mode,tasks,cpu_owner_limit_cores,cpu_limit_cores,cpu_recommended_cores,memory_owner_limit_bytes,"
        "memory_limit_bytes,memory_recommended_bytes";
    StrAppend(&out, MoreColumns("cpu", "cores"), MoreColumns("memory", "bytes"), ",reason\r\n");
  }
  for (const ExportedJob& job : jobs) {
    if (form == ExportForm::kDocker) AddDocker(job, out);
    if (form == ExportForm::kYaml) AddYaml(job, out);
    if (form == ExportForm::kCsv) AddCsv(job, out);
  }
  return out;
}

}  // namespace taut::tools
