// Fuzzes the parsers of tautd's input from Kubernetes with arbitrary bytes: responses of the API server and the
// kubelet, kubeconfigs, output of credential plugins, and the state of standing orders.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/json/json_tree.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/act/standing_orders.h"
#include "server/kubernetes/admission/admission.h"
#include "server/kubernetes/client/exec_plugin.h"
#include "server/kubernetes/client/kubeconfig.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/client/quantity.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut {
namespace {

// Checks that the log of samples decodes each part and fact that the log encoded.
class Checked final : public server::WorkloadIntake {
 public:
  void Take(const server::WorkloadPart& part, server::SeriesKind kind,
            const server::RemoteSample& /*sample*/) override {
    const auto read = server::DecodePart(server::EncodePart(part, kind));
    if (!read.has_value() || read->first.job != part.job) std::abort();
  }
  void Take(const server::WorkloadFact& fact, int64_t /*timestamp_ms*/) override {
    if (!server::DecodeFact(server::EncodeFact(fact)).has_value()) std::abort();
  }
};

// Checks that the values of a pod belong to a job with a name. An allocation plan for the pod is rejected, or can
// be written.
void UsePod(server::Pod pod) {
  for (const server::ContainerState& container : pod.containers) {
    for (const Resource r : {Resource::kCpu, Resource::kMemory}) {
      for (const AppliesTo to : {AppliesTo::kLimit, AppliesTo::kRequest, AppliesTo::kRequestOnly}) {
        const auto plan = server::PlanResize(pod, container, {r, 1e6, {to, std::nullopt}}, std::nullopt);
        if (!plan.ok()) continue;
        if (!plan->limit.has_value() && !plan->request.has_value()) std::abort();
        if (server::ResizePatch(container, r, *plan).empty()) std::abort();
      }
    }
  }
  const server::PodPtr shared = std::make_shared<const server::Pod>(std::move(pod));
  server::Cluster cluster({});
  cluster.pods().Put(*shared);
  Checked reports;
  server::ReportPods(cluster, std::span(&shared, 1), Timestamp::FromSeconds(1), true, reports);
}

// Checks that the response to the review of a pod is valid JSON for arbitrary names in the pod.
void TryReview(std::string_view text) {
  const absl::StatusOr<server::PodReview> review = server::ParsePodReview(text);
  if (!review.ok()) return;
  std::vector<server::PodOrder> orders;
  for (const server::ContainerState& container : review->pod.containers) {
    orders.push_back({container.name, Resource::kCpu, 0.3, {}});
    orders.push_back({container.name, Resource::kMemory, 1e8, {AppliesTo::kRequest, 0.5}});
  }
  const server::PodAdmission admission = server::AdmitPod(*review, orders, {}, {});
  if (!JsonTree().Parse(admission.answer).ok()) std::abort();
}

void TryOrders(std::string_view text) {
  server::StandingOrders orders;
  ByteReader in(text);
  const auto of_old_name = [](std::string_view job) -> std::optional<server::WorkloadName> {
    return server::WorkloadName{"shop", "deployment", std::string(job), ""};
  };
  if (!orders.Load(in, of_old_name)) return;
  std::string saved;
  ByteWriter out(&saved);
  orders.Save(out);
  server::StandingOrders again;
  ByteReader back(saved);
  if (!again.Load(back, of_old_name) || again.entries().size() != orders.entries().size()) std::abort();
}

// Checks that a credential can be sent: the credential is not empty, and a token is one word of an HTTP header.
void TryCredential(std::string_view text) {
  const absl::StatusOr<server::Credential> credential = server::ParseExecCredential(text, server::kExecV1);
  if (!credential.ok()) return;
  if (credential->token.empty() && credential->certificate_pem.empty()) std::abort();
  if (credential->certificate_pem.empty() != credential->key_pem.empty()) std::abort();
  for (const char c : credential->token) {
    if (c <= ' ' || c > '~') std::abort();
  }
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  server::ObjectParser parser;
  server::WatchMeta meta;
  server::ListMeta list;
  server::Pod pod;
  server::OwnedObject object;
  server::Node node;
  server::NamespaceRule rule;
  switch (data[0] % 10) {
    case 0:
      if (parser.ParseWatch<server::Pod>(text, meta, pod).ok()) UsePod(std::move(pod));
      break;
    case 1:
      (void)parser.ParseWatch<server::OwnedObject>(text, meta, object);
      (void)parser.ParseWatch<server::Node>(text, meta, node);
      (void)parser.ParseWatch<server::NamespaceRule>(text, meta, rule);
      break;
    case 2:
      (void)parser.ParseList<server::Pod>(text, list, [](server::Pod&& p) { UsePod(std::move(p)); });
      break;
    case 3:
      (void)server::ParsePodTemplate(text);
      break;
    case 4: {
      Checked reports;
      (void)server::ReportUsage(text,
                                server::Cluster({.cluster = "c", .jobs = server::KubernetesJobs::kPods}),
                                "a*", Timestamp::FromSeconds(1), reports);
    } break;
    case 5:
      (void)server::ParseKubeconfig(text, "config", "/");
      break;
    case 6:
      (void)server::ParseQuantity(text);
      break;
    case 7:
      TryReview(text);
      break;
    case 8:
      TryOrders(text);
      break;
    default:
      TryCredential(text);
  }
  return 0;
}
