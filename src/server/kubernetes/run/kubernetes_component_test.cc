// Tests of the cluster as a component: configuration, an unreachable API server, and a stop.
#include "server/kubernetes/run/kubernetes_component.h"

#include <gmock/gmock.h>

#include "common/net/http_server.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

class KubernetesComponentTest : public ComponentTest {
 protected:
  void UseServer(int port) {
    config_.kubernetes.kubeconfig =
        dir_.Write("kubeconfig", StrCat("current-context: test\n"
                                        "contexts: [{name: test, context: {cluster: c, user: u}}]\n"
                                        "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:",
                                        port,
                                        "\"}}]\n"
                                        "users: [{name: u, user: {token: secret}}]\n"));
  }
  std::unique_ptr<KubernetesComponent> Open() {
    absl::StatusOr<std::unique_ptr<KubernetesComponent>> run =
        KubernetesComponent::Open(config_, {}, context_);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *std::move(run) : nullptr;
  }
};

TEST_F(KubernetesComponentTest, TheConfigurationSaysWhetherThereIsOne) {
  EXPECT_EQ(Open(), nullptr);
  config_.actuators = {ActuatorKind::kKubernetes};
  EXPECT_THAT(Message(KubernetesComponent::Open(config_, {}, context_).status()),
              HasSubstr("kubernetes.kubeconfig names no cluster"));
  config_.kubernetes.kubeconfig = dir_.File("missing");
  EXPECT_THAT(Message(KubernetesComponent::Open(config_, {}, context_).status()),
              HasSubstr("kubernetes.kubeconfig: "));
}

TEST_F(KubernetesComponentTest, LimitsAreSetOnlyWhereTheActuatorIsKubernetes) {
  UseServer(1);
  const std::unique_ptr<KubernetesComponent> watches = Open();
  ASSERT_NE(watches, nullptr);
  EXPECT_EQ(*watches->MakeActuator(), nullptr);
  watches->Stop();  // a call without Start()
  config_.actuators = {ActuatorKind::kKubernetes};
  const std::unique_ptr<KubernetesComponent> acts = Open();
  ASSERT_NE(acts, nullptr);
  const absl::StatusOr<std::unique_ptr<Actuator>> actuator = acts->MakeActuator();
  ASSERT_TRUE(actuator.ok()) << actuator.status();
  EXPECT_EQ((*actuator)->name(), "kubernetes");
  acts->Stop();
}

TEST_F(KubernetesComponentTest, AnApiServerThatIsAwayIsLoggedAndCounted) {
  UseServer(1);
  const std::unique_ptr<KubernetesComponent> run = Open();
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(run->Start(), absl::OkStatus());
  EXPECT_TRUE(Eventually([&] { return run->facts().watch_failures > 0 && Logged("kubernetes: ") > 0; }));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_kubernetes_synced 0\n"));
  EXPECT_FALSE(run->cluster().synced());
  run->Stop();
  run->Stop();  // a second call does nothing
}

TEST_F(KubernetesComponentTest, AnEmptyClusterIsInStepOnceItsListsAreRead) {
  // An API server whose lists are empty, and whose watches end at once.
  const auto server = HttpServer::Start({}, [](const HttpRequest& request) {
    if (request.parameter("watch") != nullptr) return JsonResponse(200, "");
    return JsonResponse(200, R"({"kind":"List","metadata":{"resourceVersion":"7"},"items":[]})");
  });
  ASSERT_TRUE(server.ok()) << server.status();
  UseServer((*server)->port());
  const std::unique_ptr<KubernetesComponent> run = Open();
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(run->Start(), absl::OkStatus());
  EXPECT_TRUE(Eventually([&] { return run->cluster().synced(); }));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_kubernetes_synced 1\n"));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_kubernetes_pods 0\n"));
  run->Stop();
}

}  // namespace
}  // namespace taut::server
