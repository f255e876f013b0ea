// Who else sets what Tautline would set on the containers of a workload or its number of pods, or counts on it:
// its HorizontalPodAutoscaler, its VerticalPodAutoscaler and its ScaledObject.
//
// Source: Kubernetes, "Horizontal Pod Autoscaling" (a utilization is a share of the requests), autoscaling/v2; the
// Vertical Pod Autoscaler 1.6, autoscaling.k8s.io/v1; KEDA, keda.sh/v1alpha1.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Of one resource of a container, for people: "the HorizontalPodAutoscaler shop/web"; "": none.
struct FieldClaims {
  std::string set_by;     // a VerticalPodAutoscaler that sets it, by another recommender
  std::string scaled_by;  // a HorizontalPodAutoscaler that scales by its use as a share of the request
};

// Those of a cluster as last seen. Thread-safe.
class FieldOwners {
 public:
  // VPAs whose recommender is this one are Tautline's own.
  explicit FieldOwners(std::string recommender = "tautline") : recommender_(std::move(recommender)) {}

  void ReplaceHpas(std::vector<Hpa> all) { Replace(std::move(all), hpas_); }
  void PutHpa(Hpa object) { Put(std::move(object), hpas_); }
  void RemoveHpa(const Hpa& object) { Remove(object, hpas_); }
  void ReplaceVpas(std::vector<Vpa> all) { Replace(std::move(all), vpas_); }
  void PutVpa(Vpa object) { Put(std::move(object), vpas_); }
  void RemoveVpa(const Vpa& object) { Remove(object, vpas_); }

  void ReplaceScaledObjects(std::vector<KedaScaledObject> all) { Replace(std::move(all), scaled_objects_); }
  void PutScaledObject(KedaScaledObject object) { Put(std::move(object), scaled_objects_); }
  void RemoveScaledObject(const KedaScaledObject& object) { Remove(object, scaled_objects_); }

  // HorizontalPodAutoscalers and VerticalPodAutoscalers that were never listed, for people; "": all were.
  std::string NotListed() const;
  bool KnowsScaledObjects() const;  // they were listed
  bool KnowsHpas() const;           // HorizontalPodAutoscalers were listed
  // `container`: "" for any of the workload's.
  FieldClaims On(const WorkloadName& workload, std::string_view container, Resource resource) const;
  // Who sets the replicas, for people: "the HorizontalPodAutoscaler shop/web"; "": none does. A paused
  // ScaledObject
  // first, which has no HorizontalPodAutoscaler then.
  std::string ReplicasOwner(const WorkloadName& workload) const;
  // The ScaledObject of the workload that is paused, and by what; "": none is.
  std::string PausedScaling(const WorkloadName& workload) const;
  // Workloads whose claims may be others since the last call, as WorkloadKey.
  std::vector<std::string> TakeChanged();

 private:
  template <typename Object>
  struct Known {
    bool listed = false;
    std::map<std::string, Object> objects;                     // by "namespace/name"
    std::map<std::string, std::set<std::string>> by_workload;  // keys of `objects`
  };
  template <typename Object>
  void Replace(std::vector<Object> all, Known<Object>& known);
  template <typename Object>
  void Put(Object object, Known<Object>& known);
  template <typename Object>
  void Remove(const Object& object, Known<Object>& known);
  // All REQUIRE mutex_.
  template <typename Object>
  void PutLocked(Object object, Known<Object>& known);
  template <typename Object>
  void EraseLocked(const std::string& key, Known<Object>& known);

  const std::string recommender_;
  mutable std::mutex mutex_;
  Known<Hpa> hpas_;
  Known<Vpa> vpas_;
  Known<KedaScaledObject> scaled_objects_;
  const KedaScaledObject* ScaledObjectLocked(const std::string& workload) const;  // REQUIRES: mutex_
  std::set<std::string> changed_;                                                 // workloads
};

}  // namespace taut::server
