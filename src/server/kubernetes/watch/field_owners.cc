#include "server/kubernetes/watch/field_owners.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "server/ingest/owners.h"
#include "server/kubernetes/watch/vpa.h"

namespace taut::server {
namespace {

template <typename Object>
std::string KeyOf(const Object& object) {
  return StrCat(object.namespace_name, "/", object.name);
}

template <typename Object>
std::string TargetOf(const Object& object) {
  return WorkloadKey(object.namespace_name, KindInNames(object.target_kind), object.target_name);
}

std::string KeyOf(const WorkloadName& workload) {
  return WorkloadKey(workload.namespace_name, workload.kind, workload.name);
}

bool CountsOn(const Hpa& hpa, std::string_view container, Resource resource) {
  return std::ranges::any_of(hpa.metrics, [&](const UtilizationMetric& metric) {
    return metric.resource == resource &&
           (metric.container.empty() || container.empty() || metric.container == container);
  });
}

// Returns a text that names the VPA with its recommender and updateMode, even if the VPA sets neither, so that
// users see why the VPA counts.
std::string VpaText(const Vpa& vpa) {
  return StrCat("the VerticalPodAutoscaler ", KeyOf(vpa), " (recommender ",
                vpa.recommender.empty() ? "default" : vpa.recommender, ", updateMode ",
                vpa.update_mode.empty() ? "not set" : vpa.update_mode, ")");
}

}  // namespace

template <typename Object>
void FieldOwners::EraseLocked(const std::string& key, Known<Object>& known) {
  const auto it = known.objects.find(key);
  if (it == known.objects.end()) return;
  const std::string workload = TargetOf(it->second);
  changed_.insert(workload);
  const auto of = known.by_workload.find(workload);
  of->second.erase(key);
  if (of->second.empty()) known.by_workload.erase(of);
  known.objects.erase(it);
}

template <typename Object>
void FieldOwners::PutLocked(Object object, Known<Object>& known) {
  const std::string key = KeyOf(object), workload = TargetOf(object);
  // The status of these objects changes every few seconds. If all parsed fields are equal, the object counts as
  // unchanged.
  const auto it = known.objects.find(key);
  if (it != known.objects.end() && it->second == object) return;
  EraseLocked(key, known);  // the object may name another workload than before
  known.by_workload[workload].insert(key);
  known.objects.insert_or_assign(key, std::move(object));
  changed_.insert(workload);
}

template <typename Object>
void FieldOwners::Replace(std::vector<Object> all, Known<Object>& known) {
  const std::lock_guard lock(mutex_);
  known.listed = true;
  std::set<std::string> listed;
  for (Object& object : all) {
    listed.insert(KeyOf(object));
    PutLocked(std::move(object), known);
  }
  std::vector<std::string> gone;
  for (const auto& [key, object] : known.objects) {
    if (!listed.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) EraseLocked(key, known);
}

template <typename Object>
void FieldOwners::Put(Object object, Known<Object>& known) {
  const std::lock_guard lock(mutex_);
  PutLocked(std::move(object), known);
}

template <typename Object>
void FieldOwners::Remove(const Object& object, Known<Object>& known) {
  const std::lock_guard lock(mutex_);
  EraseLocked(KeyOf(object), known);
}

template void FieldOwners::Replace(std::vector<Hpa>, Known<Hpa>&);
template void FieldOwners::Put(Hpa, Known<Hpa>&);
template void FieldOwners::Remove(const Hpa&, Known<Hpa>&);
template void FieldOwners::Replace(std::vector<Vpa>, Known<Vpa>&);
template void FieldOwners::Put(Vpa, Known<Vpa>&);
template void FieldOwners::Remove(const Vpa&, Known<Vpa>&);
template void FieldOwners::Replace(std::vector<KedaScaledObject>, Known<KedaScaledObject>&);
template void FieldOwners::Put(KedaScaledObject, Known<KedaScaledObject>&);
template void FieldOwners::Remove(const KedaScaledObject&, Known<KedaScaledObject>&);

std::string FieldOwners::NotListed() const {
  const std::lock_guard lock(mutex_);
  std::string out = hpas_.listed ? "" : "HorizontalPodAutoscalers";
  if (!vpas_.listed) StrAppend(&out, out.empty() ? "" : " and ", "VerticalPodAutoscalers");
  return out;
}

bool FieldOwners::KnowsHpas() const {
  const std::lock_guard lock(mutex_);
  return hpas_.listed;
}

FieldClaims FieldOwners::On(const WorkloadName& workload, std::string_view container,
                            Resource resource) const {
  FieldClaims out;
  const std::string key = KeyOf(workload);
  const std::lock_guard lock(mutex_);
  if (const auto of = vpas_.by_workload.find(key); of != vpas_.by_workload.end()) {
    for (const std::string& name : of->second) {
      const Vpa& vpa = vpas_.objects.at(name);
      if (vpa.recommender != recommender_ && vpa.update_mode != "Off" && Controls(vpa, container, resource))
        out.set_by = VpaText(vpa);
    }
  }
  if (const auto of = hpas_.by_workload.find(key); of != hpas_.by_workload.end()) {
    for (const std::string& name : of->second) {
      if (CountsOn(hpas_.objects.at(name), container, resource))
        out.scaled_by = StrCat("the HorizontalPodAutoscaler ", name);
    }
  }
  return out;
}

bool FieldOwners::KnowsScaledObjects() const {
  const std::lock_guard lock(mutex_);
  return scaled_objects_.listed;
}

// Returns the ScaledObject of the workload. KEDA accepts only one ScaledObject per workload. If there are several,
// a paused ScaledObject has precedence.
const KedaScaledObject* FieldOwners::ScaledObjectLocked(const std::string& workload) const {
  const auto of = scaled_objects_.by_workload.find(workload);
  if (of == scaled_objects_.by_workload.end()) return nullptr;
  const KedaScaledObject* out = nullptr;
  for (const std::string& name : of->second) {
    const KedaScaledObject& object = scaled_objects_.objects.at(name);
    if (out == nullptr || (out->paused_by.empty() && !object.paused_by.empty())) out = &object;
  }
  return out;
}

std::string FieldOwners::PausedScaling(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  const KedaScaledObject* object = ScaledObjectLocked(KeyOf(workload));
  if (object == nullptr || object->paused_by.empty()) return "";
  return StrCat("the ScaledObject ", KeyOf(*object), ", which is paused (", object->paused_by, ")");
}

std::string FieldOwners::ReplicasOwner(const WorkloadName& workload) const {
  if (std::string paused = PausedScaling(workload); !paused.empty()) return paused;
  const std::string key = KeyOf(workload);
  const std::lock_guard lock(mutex_);
  if (const auto of = hpas_.by_workload.find(key); of != hpas_.by_workload.end())
    return StrCat("the HorizontalPodAutoscaler ", *of->second.begin());
  const KedaScaledObject* object = ScaledObjectLocked(key);
  return object == nullptr ? "" : StrCat("the ScaledObject ", KeyOf(*object));
}

std::vector<std::string> FieldOwners::TakeChanged() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out(changed_.begin(), changed_.end());
  changed_.clear();
  return out;
}

}  // namespace taut::server
