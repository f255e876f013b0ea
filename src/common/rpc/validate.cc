#include "common/rpc/validate.h"

#include <cmath>
#include <string>

#include "common/base/container_id.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/tier_act.h"

namespace taut {
namespace {

namespace v1 = taut::agent::v1;

constexpr size_t kMaxNameBytes = 512;
constexpr size_t kMaxTextBytes = 16 << 10;
constexpr int kMaxLabels = 256;

absl::Status Bad(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(field, " ", what));
}

absl::Status CheckText(std::string_view field, const std::string& text, size_t max_bytes) {
  if (text.size() > max_bytes) return Bad(field, StrCat("is longer than ", max_bytes, " bytes"));
  if (!IsPrintableUtf8(text)) return Bad(field, "is not UTF-8 without control characters");
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view field, const std::string& name) {
  if (name.empty()) return Bad(field, "is empty");
  return CheckText(field, name, kMaxNameBytes);
}

absl::Status CheckNumber(std::string_view field, double value) {
  if (!std::isfinite(value) || value < 0) return Bad(field, StrCat("is ", value, ", not a number from 0 on"));
  return absl::OkStatus();
}

#define TAUT_CHECK(expression) \
  if (absl::Status status = (expression); !status.ok()) return status
// Checks an optional number of a message.
#define TAUT_CHECK_NUMBER(message, field)                                    \
  if ((message).has_##field()) {                                             \
    TAUT_CHECK(CheckNumber(#field, static_cast<double>((message).field()))); \
  }

absl::Status CheckTask(const v1::TaskName& name) {
  TAUT_CHECK(CheckName("job", name.job()));
  if (ContainerIdIn(name.pod_container()) != name.pod_container())
    return Bad("pod_container", "is not 64 lower-case hex digits");
  return CheckName("task", name.task());
}

template <typename Labels>
absl::Status CheckLabels(const Labels& labels) {
  if (labels.size() > kMaxLabels) return Bad("labels", StrCat("are more than ", kMaxLabels));
  for (const auto& label : labels) {
    TAUT_CHECK(CheckName("label", label.first));
    TAUT_CHECK(CheckText("label's value", label.second, kMaxTextBytes));
  }
  return absl::OkStatus();
}

absl::Status Check(const v1::Hello& hello) {
  TAUT_CHECK(CheckName("agent", hello.agent()));
  TAUT_CHECK(CheckText("host", hello.host(), kMaxNameBytes));
  TAUT_CHECK(CheckText("version", hello.version(), kMaxNameBytes));
  TAUT_CHECK(CheckText("hands", hello.hands(), kMaxNameBytes));
  TAUT_CHECK(CheckText("machine", hello.machine(), kMaxNameBytes));
  TAUT_CHECK(CheckNumber("cores", hello.cores()));
  TAUT_CHECK(CheckNumber("memory_bytes", hello.memory_bytes()));
  return CheckNumber("speed", hello.speed());
}

absl::Status Check(const v1::Tasks& tasks) {
  for (const v1::Task& task : tasks.started()) {
    TAUT_CHECK(CheckTask(task.name()));
    TAUT_CHECK(CheckLabels(task.labels()));
    if (const std::string& id = task.container_id(); ContainerIdIn(id) != id)
      return Bad("container_id", "is not 64 lower-case hex digits");
    TAUT_CHECK_NUMBER(task, owner_cpu_cores);
    TAUT_CHECK_NUMBER(task, owner_memory_bytes);
    TAUT_CHECK_NUMBER(task, cpu_cores);
    TAUT_CHECK_NUMBER(task, memory_bytes);
  }
  for (const v1::TaskName& name : tasks.gone()) TAUT_CHECK(CheckTask(name));
  return absl::OkStatus();
}

absl::Status Check(const v1::TaskWindow& window, uint32_t cpu_buckets) {
  TAUT_CHECK(CheckTask(window.name()));
  TAUT_CHECK(CheckLabels(window.labels()));
  TAUT_CHECK_NUMBER(window, cpu_mean_cores);
  TAUT_CHECK_NUMBER(window, cpu_peak_cores);
  TAUT_CHECK_NUMBER(window, memory_mean_bytes);
  TAUT_CHECK_NUMBER(window, memory_peak_bytes);
  TAUT_CHECK_NUMBER(window, memory_kernel_peak_bytes);
  TAUT_CHECK_NUMBER(window, owner_cpu_cores);
  TAUT_CHECK_NUMBER(window, owner_memory_bytes);
  TAUT_CHECK_NUMBER(window, cpu_limit_cores);
  TAUT_CHECK_NUMBER(window, memory_limit_bytes);
  TAUT_CHECK_NUMBER(window, memory_needed_bytes);
  TAUT_CHECK_NUMBER(window, memory_needed_peak_bytes);
  if (window.cpu_throttled_periods() > window.cpu_periods()) {
    return Bad("cpu_throttled_periods",
               StrCat("is ", window.cpu_throttled_periods(), "; expected at most the ", window.cpu_periods(),
                      " of cpu_periods"));
  }
  if (window.cpu_buckets_size() != window.cpu_seconds_size()) {
    return Bad("cpu_buckets", StrCat("are ", window.cpu_buckets_size(), " and cpu_seconds are ",
                                     window.cpu_seconds_size(), "; expected equal numbers"));
  }
  for (int i = 0; i < window.cpu_buckets_size(); ++i) {
    if (window.cpu_buckets(i) >= cpu_buckets) {
      return Bad("cpu_buckets", StrCat("have ", window.cpu_buckets(i), "; the highest is ", cpu_buckets - 1));
    }
    if (i > 0 && window.cpu_buckets(i) <= window.cpu_buckets(i - 1))
      return Bad("cpu_buckets", "are not in ascending order");
    TAUT_CHECK(CheckNumber("cpu_seconds", static_cast<double>(window.cpu_seconds(i))));
  }
  return absl::OkStatus();
}

absl::Status Check(const v1::Windows& windows, uint32_t cpu_buckets) {
  if (windows.window() < 0) return Bad("window", "is before 1970");
  for (const v1::TaskWindow& window : windows.tasks()) TAUT_CHECK(Check(window, cpu_buckets));
  return absl::OkStatus();
}

absl::Status Check(const v1::Oom& oom) {
  TAUT_CHECK(CheckTask(oom.name()));
  TAUT_CHECK(CheckLabels(oom.labels()));
  if (oom.time_us() < 0) return Bad("time_us", "is before 1970");
  TAUT_CHECK_NUMBER(oom, limit_bytes);
  TAUT_CHECK_NUMBER(oom, raised_to_bytes);
  return absl::OkStatus();
}

absl::Status Check(const v1::TierAct& act) {
  TAUT_CHECK(CheckTask(act.name()));
  if (act.time_us() < 0) return Bad("time_us", "is before 1970");
  if (!v1::TierAct::Kind_IsValid(act.kind())) return Bad("kind", "is an unknown enum value");
  if (!ParseTier(act.tier()).has_value()) {
    return Bad("tier",
               StrCat("is \"", act.tier(), "\"; expected free, batch, mid, production or monitoring"));
  }
  TAUT_CHECK_NUMBER(act, usage_bytes);
  TAUT_CHECK_NUMBER(act, request_bytes);
  TAUT_CHECK_NUMBER(act, high_bytes);
  TAUT_CHECK_NUMBER(act, free_bytes);
  TAUT_CHECK_NUMBER(act, total_bytes);
  TAUT_CHECK_NUMBER(act, pressure_some);
  TAUT_CHECK_NUMBER(act, pressure_full);
  return CheckText("text", act.text(), kMaxTextBytes);
}

absl::Status Check(const v1::Outcomes& outcomes) {
  for (const v1::Outcome& outcome : outcomes.outcomes()) {
    TAUT_CHECK(CheckTask(outcome.name()));
    if (!v1::Resource_IsValid(outcome.resource())) return Bad("resource", "is an unknown enum value");
    if (!v1::Outcome::Result_IsValid(outcome.result())) return Bad("result", "is an unknown enum value");
    TAUT_CHECK(CheckText("text", outcome.text(), kMaxTextBytes));
    TAUT_CHECK_NUMBER(outcome, limit);
    TAUT_CHECK_NUMBER(outcome, minimum);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMessage(const v1::FromAgent& message, uint32_t cpu_buckets) {
  if (message.now_us() < 0) return Bad("now_us", "is before 1970");
  switch (message.body_case()) {
    case v1::FromAgent::kHello:
      return Check(message.hello());
    case v1::FromAgent::kTasks:
      return Check(message.tasks());
    case v1::FromAgent::kWindows:
      return Check(message.windows(), cpu_buckets);
    case v1::FromAgent::kOom:
      return Check(message.oom());
    case v1::FromAgent::kTierAct:
      return Check(message.tier_act());
    case v1::FromAgent::kOutcomes:
      return Check(message.outcomes());
    case v1::FromAgent::kHeartbeat:
      return CheckNumber("cpu_share", message.heartbeat().cpu_share());
    case v1::FromAgent::BODY_NOT_SET:
      break;
  }
  return Bad("body", "is an unsupported message type");
}

}  // namespace taut
