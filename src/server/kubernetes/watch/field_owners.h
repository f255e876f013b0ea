// The autoscalers that set the same fields as Tautline, or whose decisions depend on those fields: the
// HorizontalPodAutoscaler, VerticalPodAutoscaler and ScaledObject of a workload.
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

// The claims on one resource of a container, as text for people, such as "the HorizontalPodAutoscaler
// shop/web". "": there is no claim.
struct FieldClaims {
  std::string set_by;     // a VerticalPodAutoscaler of another recommender that sets the resource
  std::string scaled_by;  // a HorizontalPodAutoscaler that scales by use ÷ request of the resource
};

// The autoscalers of a cluster as last seen, each stored under the workload that it names. Thread-safe.
class FieldOwners {
 public:
  // `recommender`: VerticalPodAutoscalers with this recommender are Tautline's own and claim nothing.
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

  // Returns a text with those of the kinds HorizontalPodAutoscaler and VerticalPodAutoscaler that were never
  // listed, in the plural; "" if both were listed.
  std::string NotListed() const;
  // Returns true once the objects of the kind were listed; so does the function below.
  bool KnowsScaledObjects() const;
  bool KnowsHpas() const;
  // Returns the claims on a resource of a container. If `container` is "", returns the claims on any
  // container of the workload.
  FieldClaims On(const WorkloadName& workload, std::string_view container, Resource resource) const;
  // Returns a text for people that names the object which sets the number of replicas, such as "the
  // HorizontalPodAutoscaler shop/web"; "" if no object does. A paused ScaledObject has precedence, because it
  // has no HorizontalPodAutoscaler while it is paused.
  std::string ReplicasOwner(const WorkloadName& workload) const;
  // Returns a text for people with the paused ScaledObject of the workload and the annotation that pauses it;
  // "" if none is paused.
  std::string PausedScaling(const WorkloadName& workload) const;
  // Returns the workloads, as WorkloadKey, whose claims may have changed since the last call.
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
  // All functions from here to the members require mutex_.
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
  std::set<std::string> changed_;  // WorkloadKeys for TakeChanged
};

}  // namespace taut::server
