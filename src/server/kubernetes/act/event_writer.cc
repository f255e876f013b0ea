#include "server/kubernetes/act/event_writer.h"

#include <algorithm>
#include <utility>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/model/units.h"
#include "common/net/http.h"

namespace taut::server {
namespace {

constexpr size_t kMaxEventBytes = 1000;  // bound below the API server's limit of 1,024

std::string KeyOf(const std::string& kind, const OwnedObject& object) {
  return WorkloadKey(object.namespace_name, KindInNames(kind), object.name);
}

std::string_view ReasonOf(const Decision& decision) {
  const bool is_limit = decision.target.is_limit();
  if (decision.outcome == Outcome::kFailed) return is_limit ? "LimitNotSet" : "ReplicasNotSet";
  if (decision.outcome == Outcome::kDryRun)
    return is_limit ? RowOf(DecisionKind::kWouldSet).event : "ReplicasRecommended";
  if (decision.target.is_replicas())
    return decision.kind == DecisionKind::kRelease ? "ReplicasReleased" : "ReplicasSet";
  return RowOf(decision.kind).event;
}

std::string AmountText(Target target, const std::optional<double>& amount) {
  return amount.has_value() ? FormatAmount(target, *amount) : "the owner's";
}

}  // namespace

void WorkloadDirectory::Put(const std::string& kind, const std::string& api_version,
                            const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  identities_.insert_or_assign(KeyOf(kind, object), WorkloadIdentity{api_version, kind, object.uid});
}

void WorkloadDirectory::Remove(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  identities_.erase(KeyOf(kind, object));
}

void WorkloadDirectory::Replace(const std::string& kind, const std::string& api_version,
                                const std::vector<OwnedObject>& objects) {
  const std::lock_guard lock(mutex_);
  std::erase_if(identities_, [&kind](const auto& item) { return item.second.kind == kind; });
  for (const OwnedObject& object : objects)
    identities_.insert_or_assign(KeyOf(kind, object), WorkloadIdentity{api_version, kind, object.uid});
}

std::optional<WorkloadIdentity> WorkloadDirectory::Find(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  const auto it = identities_.find(WorkloadKey(workload.namespace_name, workload.kind, workload.name));
  return it == identities_.end() ? std::nullopt : std::optional(it->second);
}

WorkloadEvent EventOf(const Decision& decision, const WorkloadName& workload) {
  WorkloadEvent out;
  out.workload = workload;
  out.reason = ReasonOf(decision);
  const bool failed = decision.outcome == Outcome::kFailed;
  out.is_warning = failed || RowOf(decision.kind).is_warning;
  const bool is_limit = decision.target.is_limit();
  out.message =
      StrCat(workload.container.empty() || !is_limit ? "" : StrCat("container ", workload.container, ": "),
             workload.group.empty() ? "" : StrCat("pods of ", workload.group, ": "), Name(decision.target),
             is_limit ? " limit " : " ", AmountText(decision.target, decision.before), " -> ",
             AmountText(decision.target, decision.after), failed ? " failed: " : ": ",
             failed ? decision.outcome_text : decision.sentence);
  out.message.resize(CutUtf8(out.message, kMaxEventBytes).size());
  return out;
}

WorkloadEvent EvictionEvent(const WorkloadName& workload, const Pod& pod, std::string_view why) {
  WorkloadEvent out{workload, "PodEvicted",
                    StrCat("pod ", pod.name,
                           " is evicted, so that the one that replaces it starts with what is set: ", why),
                    true};
  out.message.resize(CutUtf8(out.message, kMaxEventBytes).size());
  return out;
}

WorkloadEvent LowLimitEvent(const WorkloadName& workload, std::string_view text) {
  WorkloadEvent out{workload, "PodLimitDiffers", StrCat(text, "; it is resized once more"), true};
  out.message.resize(CutUtf8(out.message, kMaxEventBytes).size());
  return out;
}

WorkloadEvent RefusalEvent(const WorkloadName& workload, std::string_view sentence) {
  return {workload, "SettingRefused", std::string(CutUtf8(sentence, kMaxEventBytes)), true};
}

std::string EventJson(const WorkloadEvent& event, const WorkloadIdentity& identity, std::string_view time) {
  JsonWriter out;
  out.BeginObject();
  out.Field("apiVersion", "v1");
  out.Field("kind", "Event");
  out.Key("metadata");
  out.BeginObject();
  out.Field("generateName", StrCat(event.workload.name, ".tautline-"));
  out.Field("namespace", event.workload.namespace_name);
  out.EndObject();
  out.Key("involvedObject");
  out.BeginObject();
  out.Field("apiVersion", identity.api_version);
  out.Field("kind", identity.kind);
  out.Field("namespace", event.workload.namespace_name);
  out.Field("name", event.workload.name);
  out.Field("uid", identity.uid);
  out.EndObject();
  out.Field("type", event.is_warning ? "Warning" : "Normal");
  out.Field("reason", event.reason);
  out.Field("message", event.message);
  out.Key("source");
  out.BeginObject();
  out.Field("component", "tautline");
  out.EndObject();
  out.Field("reportingComponent", "tautline");
  out.Field("firstTimestamp", time);
  out.Field("lastTimestamp", time);
  out.Field("count", int64_t{1});
  out.EndObject();
  return out.Take();
}

void EventWriter::Add(WorkloadEvent event) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= options_.max_waiting) {
    ++counts_.dropped;
  } else {
    waiting_.push_back(std::move(event));
  }
}

std::optional<WorkloadEvent> EventWriter::Next() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  WorkloadEvent out = std::move(waiting_.front());
  waiting_.pop_front();
  return out;
}

void EventWriter::Step(const std::function<bool()>& stopping) {
  const double now_s = options_.steady_s();
  const double passed_s = filled_at_s_ < 0 ? options_.burst / options_.per_second : now_s - filled_at_s_;
  filled_at_s_ = now_s;
  tokens_ = std::min(options_.burst, tokens_ + passed_s * options_.per_second);
  for (; tokens_ >= 1 && !stopping(); tokens_ -= 1) {
    const std::optional<WorkloadEvent> event = Next();
    if (!event.has_value()) return;
    const std::optional<WorkloadIdentity> identity = directory_->Find(event->workload);
    absl::Status status;
    if (identity.has_value()) {
      status = options_.send(
          StrCat("/api/v1/namespaces/", PercentEncode(event->workload.namespace_name), "/events"),
          EventJson(*event, *identity, options_.time()));
    }
    const std::lock_guard lock(mutex_);
    ++(!identity.has_value() ? counts_.dropped : status.ok() ? counts_.written : counts_.failed);
    last_error_ = std::string(Message(status));
  }
}

EventWriter::Counts EventWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string EventWriter::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace taut::server
