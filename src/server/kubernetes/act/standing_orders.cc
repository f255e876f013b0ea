#include "server/kubernetes/act/standing_orders.h"

#include <array>
#include <set>

namespace taut::server {
namespace {

// First byte of the saved state, which identifies its format.
constexpr uint8_t kNamesAlone = 1, kWithWorkloads = 2;

constexpr std::array<std::string WorkloadName::*, 5> kWorkloadParts = {
    &WorkloadName::namespace_name, &WorkloadName::kind, &WorkloadName::name, &WorkloadName::container,
    &WorkloadName::group};

void SaveOrder(const StandingOrder& order, ByteWriter& out) {
  out.PutVarint(order.decision);
  out.Put<uint8_t>(order.value.has_value() ? 1 : 0);
  out.Put(order.value.value_or(0));
}

StandingOrder LoadOrder(ByteReader& in) {
  StandingOrder order;
  order.decision = in.GetVarint();
  const bool has_value = in.Get<uint8_t>() != 0;
  const auto value = in.Get<double>();
  if (has_value) order.value = value;
  return order;
}

OutcomeUpdate Superseded(uint64_t decision, int64_t now_s) {
  return {.id = decision,
          .outcome = Outcome::kSuperseded,
          .text = "replaced by a later decision",
          .time_s = now_s};
}

}  // namespace

const StandingOrder* StandingOrders::Entry::Of(const std::string& pod) const {
  const auto it = some.find(pod);
  if (it != some.end()) return &it->second;
  return all.has_value() ? &*all : nullptr;
}

void StandingOrders::Take(const TargetOrder& order, const WorkloadName& workload, int64_t now_s,
                          std::vector<OutcomeUpdate>& outcomes) {
  Entry& entry = entries_[{order.job, order.target}];
  entry.workload = workload;
  // A newer order for all pods has ended the trial of this older decision.
  if (entry.all.has_value() && entry.all->decision > order.decision) {
    if (!IsFinal(order.known)) outcomes.push_back(Superseded(order.decision, now_s));
    return;
  }
  const StandingOrder standing{order.decision, order.value};
  if (order.tasks.has_value()) {
    for (const std::string& task : *order.tasks) entry.some.insert_or_assign(task, standing);
  } else {
    entry.all = standing;
    entry.some.clear();
  }
  entry.reported.try_emplace(order.decision, order.known, "");
  std::set<uint64_t> left = {order.decision};
  if (entry.all.has_value()) left.insert(entry.all->decision);
  for (const auto& [pod, some] : entry.some) left.insert(some.decision);
  std::erase_if(entry.reported, [&](const auto& item) {
    if (left.contains(item.first)) return false;
    if (!IsFinal(item.second.first)) outcomes.push_back(Superseded(item.first, now_s));
    return true;
  });
}

bool StandingOrders::Adopt(const Key& key, const WorkloadName& workload) {
  const auto [it, is_new] = entries_.try_emplace(key);
  if (!is_new) return false;
  it->second.workload = workload;
  it->second.all = StandingOrder();
  return is_new;
}

void StandingOrders::Report(const Key& key, uint64_t decision, Outcome outcome, std::string text,
                            int64_t now_s, std::vector<OutcomeUpdate>& outcomes) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  const auto found = it->second.reported.find(decision);
  if (found == it->second.reported.end()) return;
  auto& [last_outcome, last_text] = found->second;
  if (last_outcome == outcome && last_text == text) return;
  last_outcome = outcome;
  last_text = text;
  outcomes.push_back({.id = decision, .outcome = outcome, .text = std::move(text), .time_s = now_s});
}

void StandingOrders::NotePods(const Key& key, bool has_pods, int64_t now_s) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  int64_t& since_s = it->second.without_pods_s;
  since_s = has_pods ? 0 : since_s == 0 ? now_s : since_s;
}

std::vector<StandingOrders::Key> StandingOrders::WithoutPodsSince(int64_t time_s) const {
  std::vector<Key> out;
  for (const auto& [key, entry] : entries_) {
    if (entry.without_pods_s != 0 && entry.without_pods_s < time_s) out.push_back(key);
  }
  return out;
}

const StandingOrders::Entry* StandingOrders::Find(const Key& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

void StandingOrders::Save(ByteWriter& out) const {
  out.Put(kWithWorkloads);
  out.PutVarint(entries_.size());
  for (const auto& [key, entry] : entries_) {
    out.PutString(key.first);
    for (const auto part : kWorkloadParts) out.PutString(entry.workload.*part);
    out.Put<uint8_t>(key.second.code());
    out.Put<uint8_t>(entry.all.has_value() ? 1 : 0);
    if (entry.all.has_value()) SaveOrder(*entry.all, out);
    out.Put(entry.without_pods_s);
    out.PutVarint(entry.some.size());
    for (const auto& [pod, order] : entry.some) {
      out.PutString(pod);
      SaveOrder(order, out);
    }
    out.PutVarint(entry.reported.size());
    for (const auto& [decision, report] : entry.reported) {
      out.PutVarint(decision);
      out.Put<uint8_t>(static_cast<uint8_t>(report.first));
      out.PutString(report.second);
    }
  }
}

bool StandingOrders::Load(ByteReader& in, OfOldName workload_of) {
  entries_.clear();
  const auto version = in.Get<uint8_t>();
  if (version != kNamesAlone && version != kWithWorkloads) return false;
  const uint64_t size = in.GetVarint();
  for (uint64_t i = 0; i < size && !in.failed(); ++i) {
    const std::string job(in.GetString());
    Entry entry;
    const std::optional<WorkloadName> old = version == kNamesAlone ? workload_of(job) : std::nullopt;
    if (version == kWithWorkloads) {
      for (const auto part : kWorkloadParts) entry.workload.*part = in.GetString();
    } else if (old.has_value()) {
      entry.workload = *old;
    }
    const std::optional<Target> target = Target::FromCode(in.Get<uint8_t>());
    if (in.Get<uint8_t>() != 0) entry.all = LoadOrder(in);
    entry.without_pods_s = in.Get<int64_t>();
    const uint64_t some = in.GetVarint();
    for (uint64_t j = 0; j < some && !in.failed(); ++j) {
      const std::string pod(in.GetString());
      entry.some.insert_or_assign(pod, LoadOrder(in));
    }
    const uint64_t reported = in.GetVarint();
    for (uint64_t j = 0; j < reported && !in.failed(); ++j) {
      const uint64_t decision = in.GetVarint();
      const auto outcome = in.Get<uint8_t>();
      const std::string text(in.GetString());
      if (outcome >= kNumOutcomes) break;
      entry.reported.insert_or_assign(decision, std::pair(static_cast<Outcome>(outcome), text));
    }
    if (!target.has_value()) break;
    entries_.insert_or_assign({job, *target}, std::move(entry));
  }
  if (!in.failed() && entries_.size() == size) return true;
  entries_.clear();
  return false;
}

}  // namespace taut::server
