// The autoscalers that set the same fields as Tautline, or whose decisions depend on these fields:
// HorizontalPodAutoscalers, VerticalPodAutoscalers and ScaledObjects.
//
// Source: Kubernetes, "Horizontal Pod Autoscaling" (utilization is a share of the requests), autoscaling/v2;
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

// Claims to one resource of a container, as text for users such as "the HorizontalPodAutoscaler shop/web"; "":
// none.
struct FieldClaims {
  std::string set_by;     // VerticalPodAutoscaler of another recommender that sets the resource
  std::string scaled_by;  // HorizontalPodAutoscaler that scales by the ratio of usage to request
};

// The autoscalers of a cluster, by the workload that each of them names. Thread-safe.
class FieldOwners {
 public:
  // VerticalPodAutoscalers with this recommender are Tautline's own and claim nothing.
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

  // Returns a text with the kinds that were never listed: HorizontalPodAutoscalers, VerticalPodAutoscalers, or
  // both. Returns "" if both kinds were listed.
  std::string NotListed() const;
  // Return true once the objects of the kind were listed.
  bool KnowsScaledObjects() const;
  bool KnowsHpas() const;
  // Returns the claims to a resource of a container, or of any container of the workload if `container` is "".
  FieldClaims On(const WorkloadName& workload, std::string_view container, Resource resource) const;
  // Returns the object that sets the number of replicas as text for users, such as "the HorizontalPodAutoscaler
  // shop/web"; "" if there is none. A paused ScaledObject has precedence, because it has no
  // HorizontalPodAutoscaler.
  std::string ReplicasOwner(const WorkloadName& workload) const;
  // Returns the paused ScaledObject of the workload and the annotation that pauses it, as text for users; "" if
  // none is paused.
  std::string PausedScaling(const WorkloadName& workload) const;
  // Returns the WorkloadKeys whose claims may have changed since the last call.
  std::vector<std::string> TakeChanged();

 private:
  template <typename Object>
  struct Known {
    bool listed = false;
    std::map<std::string, Object> objects;                     // key: "namespace/name"
    std::map<std::string, std::set<std::string>> by_workload;  // keys of `objects`, by WorkloadKey()
  };
  template <typename Object>
  void Replace(std::vector<Object> all, Known<Object>& known);
  template <typename Object>
  void Put(Object object, Known<Object>& known);
  template <typename Object>
  void Remove(const Object& object, Known<Object>& known);
  // REQUIRES (all functions below): mutex_ is locked.
  template <typename Object>
  void PutLocked(Object object, Known<Object>& known);
  template <typename Object>
  void EraseLocked(const std::string& key, Known<Object>& known);

  const std::string recommender_;
  mutable std::mutex mutex_;
  Known<Hpa> hpas_;
  Known<Vpa> vpas_;
  Known<KedaScaledObject> scaled_objects_;
  // REQUIRES: mutex_ is locked
  const KedaScaledObject* ScaledObjectLocked(const std::string& workload) const;
  std::set<std::string> changed_;  // WorkloadKeys for TakeChanged()
};

}  // namespace taut::server
