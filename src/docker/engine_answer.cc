#include "docker/engine_answer.h"

#include <algorithm>

#include "base/strings.h"
#include "simdjson.h"

namespace taut {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

constexpr size_t kMaxMessageBytes = 300;

// Go writes null where a list or a map is empty.
error_code IsNull(ondemand::value& value, bool& out) {
  ondemand::json_type type{};
  if (const error_code e = value.type().get(type); e) return e;
  out = type == ondemand::json_type::null;
  return simdjson::SUCCESS;
}

// Calls on_field(key, value) for each field; stops at the first error.
template <typename F>
error_code ForEachField(ondemand::object object, const F& on_field) {
  for (auto field_result : object) {
    ondemand::field field;
    if (const error_code e = std::move(field_result).get(field); e) return e;
    std::string_view key;
    if (const error_code e = field.unescaped_key().get(key); e) return e;
    if (const error_code e = on_field(key, field.value()); e) return e;
  }
  return simdjson::SUCCESS;
}

template <typename F>
error_code ForEachField(ondemand::value value, const F& on_field) {
  bool is_null = false;
  if (const error_code e = IsNull(value, is_null); e || is_null) return e;
  ondemand::object object;
  if (const error_code e = value.get_object().get(object); e) return e;
  return ForEachField(object, on_field);
}

template <typename F>
error_code ForEachItem(ondemand::array array, const F& on_item) {
  for (auto item : array) {
    ondemand::value value;
    if (const error_code e = std::move(item).get(value); e) return e;
    if (const error_code e = on_item(value); e) return e;
  }
  return simdjson::SUCCESS;
}

error_code ReadText(ondemand::value value, std::string& out) {
  std::string_view text;
  const error_code e = value.get_string().get(text);
  if (!e) out = text;
  return e;
}

error_code ReadNumber(ondemand::value value, int64_t& out) {
  bool is_null = false;
  if (const error_code e = IsNull(value, is_null); e || is_null) return e;
  return value.get_int64().get(out);
}

// Reads the one object that `json` is.
template <typename F>
error_code ReadObject(std::string_view json, const F& on_field) {
  const simdjson::padded_string padded(json);
  ondemand::parser parser;
  ondemand::document document;
  if (const error_code e = parser.iterate(padded).get(document); e) return e;
  ondemand::object object;
  if (const error_code e = document.get_object().get(object); e) return e;
  return ForEachField(object, on_field);
}

absl::Status Damaged(std::string_view what, error_code e) {
  return absl::DataLossError(StrCat("the engine's response is not ", what, ": ",
                                    e ? simdjson::error_message(e) : "a field is missing"));
}

error_code ReadLabels(ondemand::value value, std::vector<std::pair<std::string, std::string>>& out) {
  const error_code e = ForEachField(value, [&out](std::string_view key, ondemand::value v) {
    std::pair<std::string, std::string> label(key, "");
    const error_code bad = ReadText(v, label.second);
    if (!bad) out.push_back(std::move(label));
    return bad;
  });
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return e;
}

// A container that others link to has names like "/other/alias" beside its own.
error_code ReadName(ondemand::value value, std::string& out) {
  bool is_null = false;
  if (const error_code e = IsNull(value, is_null); e || is_null) return e;
  ondemand::array names;
  if (const error_code e = value.get_array().get(names); e) return e;
  return ForEachItem(names, [&out](ondemand::value item) {
    std::string name;
    const error_code e = ReadText(item, name);
    if (name.starts_with('/')) name.erase(0, 1);
    if (out.empty() && name.find('/') == std::string::npos) out = std::move(name);
    return e;
  });
}

error_code ReadSummary(ondemand::value value, ContainerSummary& out) {
  return ForEachField(value, [&out](std::string_view key, ondemand::value v) -> error_code {
    if (key == "Id") return ReadText(v, out.id);
    if (key == "Names") return ReadName(v, out.name);
    if (key == "Image") return ReadText(v, out.image);
    if (key == "Labels") return ReadLabels(v, out.labels);
    return simdjson::SUCCESS;
  });
}

error_code ReadState(ondemand::value value, ContainerDetails& out) {
  return ForEachField(value, [&out](std::string_view key, ondemand::value v) -> error_code {
    if (key == "Running") return v.get_bool().get(out.is_running);
    if (key == "OOMKilled") return v.get_bool().get(out.was_oom_killed);
    if (key == "Pid") return ReadNumber(v, out.pid);
    if (key == "StartedAt") return ReadText(v, out.started_at);
    return simdjson::SUCCESS;
  });
}

error_code ReadLimits(ondemand::value value, ContainerLimits& out) {
  return ForEachField(value, [&out](std::string_view key, ondemand::value v) -> error_code {
    if (key == "Memory") return ReadNumber(v, out.memory_bytes);
    if (key == "MemorySwap") return ReadNumber(v, out.memory_swap_bytes);
    if (key == "NanoCpus") return ReadNumber(v, out.nano_cpus);
    if (key == "CpuQuota") return ReadNumber(v, out.cpu_quota_us);
    if (key == "CpuPeriod") return ReadNumber(v, out.cpu_period_us);
    if (key == "CpuShares") return ReadNumber(v, out.cpu_shares);
    return simdjson::SUCCESS;
  });
}

}  // namespace

absl::StatusOr<EngineVersion> ParseEngineVersion(std::string_view json) {
  EngineVersion out;
  const error_code e = ReadObject(json, [&out](std::string_view key, ondemand::value v) -> error_code {
    if (key == "Version") return ReadText(v, out.engine);
    if (key == "ApiVersion") return ReadText(v, out.api_version);
    if (key == "MinAPIVersion") return ReadText(v, out.min_api_version);
    return simdjson::SUCCESS;
  });
  if (e || out.api_version.empty()) return Damaged("a version", e);
  return out;
}

absl::StatusOr<std::vector<ContainerSummary>> ParseContainerList(std::string_view json) {
  std::vector<ContainerSummary> out;
  const simdjson::padded_string padded(json);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array containers;
  error_code e = parser.iterate(padded).get(document);
  if (!e) e = document.get_array().get(containers);
  if (!e) {
    e = ForEachItem(containers, [&out](ondemand::value item) {
      ContainerSummary container;
      const error_code bad = ReadSummary(item, container);
      if (bad) return bad;
      if (container.id.empty() || container.name.empty()) return simdjson::NO_SUCH_FIELD;
      out.push_back(std::move(container));
      return simdjson::SUCCESS;
    });
  }
  if (e) return Damaged("a list of containers", e);
  return out;
}

absl::StatusOr<ContainerDetails> ParseContainerDetails(std::string_view json) {
  ContainerDetails out;
  bool has_state = false, has_limits = false;
  const error_code e = ReadObject(json, [&](std::string_view key, ondemand::value v) -> error_code {
    if (key == "Id") return ReadText(v, out.id);
    if (key == "State") {
      has_state = true;
      return ReadState(v, out);
    }
    if (key == "HostConfig") {
      has_limits = true;
      return ReadLimits(v, out.limits);
    }
    return simdjson::SUCCESS;
  });
  if (e || out.id.empty() || !has_state || !has_limits) return Damaged("a container", e);
  return out;
}

absl::StatusOr<int64_t> ParseCores(std::string_view json) {
  int64_t cores = 0;
  const error_code e = ReadObject(json, [&cores](std::string_view key, ondemand::value v) -> error_code {
    return key == "NCPU" ? ReadNumber(v, cores) : simdjson::SUCCESS;
  });
  if (e || cores <= 0) return Damaged("the machine's description", e);
  return cores;
}

absl::StatusOr<EngineEvent> ParseEngineEvent(std::string_view json) {
  EngineEvent out;
  const error_code e = ReadObject(json, [&out](std::string_view key, ondemand::value v) -> error_code {
    if (key == "Action") return ReadText(v, out.action);
    if (key != "Actor") return simdjson::SUCCESS;
    return ForEachField(v, [&out](std::string_view name, ondemand::value field) -> error_code {
      return name == "ID" ? ReadText(field, out.id) : simdjson::SUCCESS;
    });
  });
  if (e || out.action.empty() || out.id.empty()) return Damaged("an event", e);
  return out;
}

std::string EngineMessage(std::string_view body) {
  std::string message;
  const error_code e = ReadObject(body, [&message](std::string_view key, ondemand::value v) -> error_code {
    return key == "message" ? ReadText(v, message) : simdjson::SUCCESS;
  });
  std::string_view text = StripSpace(e || message.empty() ? body : std::string_view(message));
  // The engine passes on what runc wrote, line ends and all.
  text = StripSpace(text.substr(0, text.find('\n')));
  return std::string(text.substr(0, kMaxMessageBytes));
}

}  // namespace taut
