#include "node/docker/engine_answer.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/json/json_walk.h"

namespace taut::node {
namespace {

constexpr size_t kMaxMessageBytes = 300;

// Go writes null for an empty list, map or number.
absl::Status IsNull(JsonValue value, bool& out) {
  JsonKind kind{};
  absl::Status s = value.ReadKind(kind);
  out = kind == JsonKind::kNull;
  return s;
}

absl::Status ForEachField(JsonValue value, JsonValue::FieldFn on_field) {
  bool is_null = false;
  if (absl::Status s = IsNull(value, is_null); !s.ok() || is_null) return s;
  return value.ForEachField(on_field);
}

absl::Status ReadNumber(JsonValue value, int64_t& out) {
  bool is_null = false;
  if (absl::Status s = IsNull(value, is_null); !s.ok() || is_null) return s;
  return value.Read(out);
}

absl::Status ReadObject(std::string_view json, JsonValue::FieldFn on_field) {
  std::string text(json);
  return JsonReader().ReadObject(text, on_field);
}

absl::Status Damaged(std::string_view what, const absl::Status& read) {
  return absl::DataLossError(
      StrCat("the engine's response is not ", what, ": ", read.ok() ? "a field is missing" : Message(read)));
}

absl::Status ReadLabels(JsonValue value, std::vector<std::pair<std::string, std::string>>& out) {
  const absl::Status read = ForEachField(value, [&out](std::string_view key, JsonValue v) {
    std::pair<std::string, std::string> label(key, "");
    absl::Status s = v.Read(label.second);
    if (s.ok()) out.push_back(std::move(label));
    return s;
  });
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return read;
}

// A container to which other containers link also has names like "/other/alias".
absl::Status ReadName(JsonValue value, std::string& out) {
  bool is_null = false;
  if (absl::Status s = IsNull(value, is_null); !s.ok() || is_null) return s;
  return value.ForEachItem([&out](JsonValue item) {
    std::string name;
    absl::Status s = item.Read(name);
    if (name.starts_with('/')) name.erase(0, 1);
    if (out.empty() && name.find('/') == std::string::npos) out = std::move(name);
    return s;
  });
}

absl::Status ReadSummary(JsonValue value, ContainerSummary& out) {
  return ForEachField(value, [&out](std::string_view key, JsonValue v) {
    if (key == "Id") return v.Read(out.id);
    if (key == "Names") return ReadName(v, out.name);
    if (key == "Image") return v.Read(out.image);
    if (key == "Labels") return ReadLabels(v, out.labels);
    return absl::OkStatus();
  });
}

absl::Status ReadState(JsonValue value, ContainerDetails& out) {
  return ForEachField(value, [&out](std::string_view key, JsonValue v) {
    if (key == "Running") return v.Read(out.is_running);
    if (key == "OOMKilled") return v.Read(out.was_oom_killed);
    if (key == "Pid") return ReadNumber(v, out.pid);
    if (key == "StartedAt") return v.Read(out.started_at);
    return absl::OkStatus();
  });
}

absl::Status ReadLimits(JsonValue value, ContainerLimits& out) {
  return ForEachField(value, [&out](std::string_view key, JsonValue v) {
    if (key == "Memory") return ReadNumber(v, out.memory_bytes);
    if (key == "MemorySwap") return ReadNumber(v, out.memory_swap_bytes);
    if (key == "NanoCpus") return ReadNumber(v, out.nano_cpus);
    if (key == "CpuQuota") return ReadNumber(v, out.cpu_quota_us);
    if (key == "CpuPeriod") return ReadNumber(v, out.cpu_period_us);
    if (key == "CpuShares") return ReadNumber(v, out.cpu_shares);
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<EngineVersion> ParseEngineVersion(std::string_view json) {
  EngineVersion out;
  const absl::Status read = ReadObject(json, [&out](std::string_view key, JsonValue v) {
    if (key == "Version") return v.Read(out.engine);
    if (key == "ApiVersion") return v.Read(out.api_version);
    if (key == "MinAPIVersion") return v.Read(out.min_api_version);
    return absl::OkStatus();
  });
  if (!read.ok() || out.api_version.empty()) return Damaged("a version", read);
  return out;
}

absl::StatusOr<std::vector<ContainerSummary>> ParseContainerList(std::string_view json) {
  std::vector<ContainerSummary> out;
  std::string text(json);
  const absl::Status read = JsonReader().ReadArray(text, [&out](JsonValue item) {
    ContainerSummary container;
    if (absl::Status s = ReadSummary(item, container); !s.ok()) return s;
    if (container.id.empty() || container.name.empty()) return item.Error("a field is missing");
    out.push_back(std::move(container));
    return absl::OkStatus();
  });
  if (!read.ok()) return Damaged("a list of containers", read);
  return out;
}

absl::StatusOr<ContainerDetails> ParseContainerDetails(std::string_view json) {
  ContainerDetails out;
  bool has_state = false, has_limits = false;
  const absl::Status read = ReadObject(json, [&](std::string_view key, JsonValue v) {
    if (key == "Id") return v.Read(out.id);
    if (key == "State") {
      has_state = true;
      return ReadState(v, out);
    }
    if (key == "HostConfig") {
      has_limits = true;
      return ReadLimits(v, out.limits);
    }
    return absl::OkStatus();
  });
  if (!read.ok() || out.id.empty() || !has_state || !has_limits) return Damaged("a container", read);
  return out;
}

absl::StatusOr<int64_t> ParseCores(std::string_view json) {
  int64_t cores = 0;
  const absl::Status read = ReadObject(json, [&cores](std::string_view key, JsonValue v) {
    return key == "NCPU" ? ReadNumber(v, cores) : absl::OkStatus();
  });
  if (!read.ok() || cores <= 0) return Damaged("the machine's description", read);
  return cores;
}

absl::StatusOr<EngineEvent> ParseEngineEvent(std::string_view json) {
  EngineEvent out;
  const absl::Status read = ReadObject(json, [&out](std::string_view key, JsonValue v) {
    if (key == "Action") return v.Read(out.action);
    if (key != "Actor") return absl::OkStatus();
    return ForEachField(v, [&out](std::string_view name, JsonValue field) {
      return name == "ID" ? field.Read(out.id) : absl::OkStatus();
    });
  });
  if (!read.ok() || out.action.empty() || out.id.empty()) return Damaged("an event", read);
  return out;
}

std::string EngineMessage(std::string_view body) {
  std::string message;
  const absl::Status read = ReadObject(body, [&message](std::string_view key, JsonValue v) {
    return key == "message" ? v.Read(message) : absl::OkStatus();
  });
  std::string_view text = StripSpace(!read.ok() || message.empty() ? body : std::string_view(message));
  // The engine includes runc's output with line ends: use the first line.
  text = StripSpace(text.substr(0, text.find('\n')));
  return std::string(CutUtf8(text, kMaxMessageBytes));
}

}  // namespace taut::node
