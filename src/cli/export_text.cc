#include "cli/export_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/strings.h"
#include "cli/decisions.h"
#include "cli/terminal.h"
#include "model/resource.h"

namespace taut {
namespace {

std::string Text(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return "";
  return Printable(object[key].get<std::string>());
}

std::optional<double> Amount(const Json& object, const char* resource, const char* key) {
  if (!object.is_object() || !object.contains(resource)) return std::nullopt;
  const Json& amounts = object[resource];
  if (!amounts.is_object() || !amounts.contains(key) || !amounts[key].is_number()) return std::nullopt;
  return amounts[key].get<double>();
}

// Millicores, rounded up: never less than recommended.
int64_t MilliCores(double cores) { return static_cast<int64_t>(std::ceil(cores * 1000 - 1e-6)); }
int64_t WholeBytes(double bytes) { return static_cast<int64_t>(std::ceil(bytes - 1e-6)); }

// One line: the recommenders' own sentences.
std::string Why(const ExportedJob& job) {
  std::string out;
  for (const char* resource : {"cpu", "memory"}) {
    if (!job.why.is_object() || !job.why.contains(resource) || !job.why[resource].is_object()) continue;
    const Json& reason = job.why[resource].contains("reason") ? job.why[resource]["reason"] : Json();
    const std::string sentence = Text(reason, "sentence");
    if (!sentence.empty()) StrAppend(&out, out.empty() ? "" : " ", resource, ": ", sentence);
  }
  return out;
}

// Docker's name for the container: the label that says so, or the last piece of the job's name.
std::string ContainerOf(const Json& job) {
  if (job.contains("labels")) {
    for (const char* label : {"container", "container_name", "name"}) {
      if (const std::string name = Text(job["labels"], label); !name.empty()) return name;
    }
  }
  const std::string name = Text(job, "name");
  return name.substr(name.rfind('/') + 1);
}

void AddDocker(const ExportedJob& job, std::string& out) {
  const std::optional<double> cpu = Amount(job.job, "cpu", "would_be");
  const std::optional<double> memory = Amount(job.job, "memory", "would_be");
  StrAppend(&out, "# ", Text(job.job, "name"), ": ", cpu || memory ? Why(job) : "no recommendation yet",
            "\n");
  if (!cpu && !memory) return;
  out += "docker update";
  if (cpu) StrAppend(&out, fmt::format(" --cpus {:.3f}", static_cast<double>(MilliCores(*cpu)) / 1000));
  if (memory)
    StrAppend(&out, " --memory ", WholeBytes(*memory), "b --memory-swap ", WholeBytes(*memory), "b");
  StrAppend(&out, " -- ", ShellWord(ContainerOf(job.job)), "\n");
}

void AddYaml(const ExportedJob& job, std::string& out) {
  const std::optional<double> cpu = Amount(job.job, "cpu", "would_be");
  const std::optional<double> memory = Amount(job.job, "memory", "would_be");
  StrAppend(&out, "# ", cpu || memory ? Why(job) : "no recommendation yet", "\n");
  const std::string key = Json(Text(job.job, "name")).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!cpu && !memory) {
    StrAppend(&out, "# ", key, "\n");
    return;
  }
  StrAppend(&out, key, ":\n  resources:\n    limits:\n");
  if (cpu) StrAppend(&out, "      cpu: ", MilliCores(*cpu), "m\n");
  if (memory) StrAppend(&out, "      memory: \"", WholeBytes(*memory), "\"\n");
}

std::string CsvNumber(const Json& job, const char* resource, const char* key) {
  const std::optional<double> amount = Amount(job, resource, key);
  if (!amount) return "";
  return std::string_view(resource) == "cpu"
             ? fmt::format("{}", static_cast<double>(MilliCores(*amount)) / 1000)
             : StrCat(WholeBytes(*amount));
}

void AddCsv(const ExportedJob& job, std::string& out) {
  StrAppend(&out, CsvField(Text(job.job, "name")), ",", CsvField(Text(job.job, "mode")), ",",
            job.job.contains("tasks") && job.job["tasks"].is_number() ? job.job["tasks"].dump() : "");
  for (const char* resource : {"cpu", "memory"}) {
    for (const char* key : {"owner_limit", "limit", "would_be"})
      StrAppend(&out, ",", CsvNumber(job.job, resource, key));
  }
  StrAppend(&out, ",", CsvField(Why(job)), "\r\n");
}

}  // namespace

std::string ShellWord(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '/';
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
        "memory_limit_bytes,memory_recommended_bytes,reason\r\n";
  }
  for (const ExportedJob& job : jobs) {
    if (form == ExportForm::kDocker) AddDocker(job, out);
    if (form == ExportForm::kYaml) AddYaml(job, out);
    if (form == ExportForm::kCsv) AddCsv(job, out);
  }
  return out;
}

}  // namespace taut
