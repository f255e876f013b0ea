#include "server/kubernetes/run/usage_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "common/net/http_server.h"
#include "common/testing/recorded_log.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// An API server that forwards requests to two kubelets, node-1 and node-2.
class Usage : public testing::Test {
 protected:
  void SetUp() override {
    auto server = HttpServer::Start({}, [this](const HttpRequest& request) {
      const std::string path(request.path);
      if (path.find("/node-1/") != std::string::npos)
        return TextResponse(
            200, R"(container_memory_working_set_bytes{container="app",namespace="shop",pod="web-0"} 7
)");
      return failing_ ? ErrorResponse(500, "the kubelet is away") : TextResponse(200, "");
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    cluster_.nodes().Replace({{"node-1", {}, true}, {"node-2", {}, true}, {"node-3", {}, false}});
    cluster_.pods().Replace({TestPod("web-0")});
  }
  std::unique_ptr<UsageReader> Reader(KubeletUsage usage = KubeletUsage::kCadvisor) {
    std::vector<std::unique_ptr<ApiClient>> clients;
    ClusterAccess access;
    access.server = StrCat("http://127.0.0.1:", server_->port());
    for (int i = 0; i < 2; ++i) clients.push_back(*ApiClient::Create(access, {}));
    return std::make_unique<UsageReader>(UsageReader::Options{.usage = usage,
                                                              .namespaces = "",
                                                              .now = [] { return Timestamp::FromSeconds(5); },
                                                              .steady_s = [] { return 100.0; },
                                                              .log = &log_},
                                         cluster_, kernel_limits_, std::move(clients));
  }

  std::atomic<bool> failing_{true};
  std::unique_ptr<HttpServer> server_;
  Cluster cluster_{{}};
  KernelLimits kernel_limits_;
  RecordedLog log_;
  HeardReports heard_;
};

TEST_F(Usage, NodesThatAreReadyAreReadAndAFailureIsLoggedOnce) {
  const std::unique_ptr<UsageReader> reader = Reader();
  reader->Read(heard_);
  EXPECT_THAT(heard_.said, ElementsAre("shop/deployment/web web-0[app] memory_bytes 7"));
  EXPECT_THAT(heard_.times_ms, ElementsAre(5000));
  EXPECT_EQ(reader->counts().read, 1U);
  EXPECT_EQ(reader->counts().failed, 1U);
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("the usage of 1 of 2 nodes cannot be read; node-2: ")));
  reader->Read(heard_);
  EXPECT_EQ(log_.lines().size(), 1U);
  failing_ = false;
  reader->Read(heard_);
  ASSERT_EQ(log_.lines().size(), 2U);
  EXPECT_EQ(log_.lines().back(), "kubernetes: usage is read again");
}

TEST_F(Usage, AReaderThatIsInterruptedLogsNoFailure) {
  const std::unique_ptr<UsageReader> reader = Reader();
  reader->Interrupt();
  reader->Read(heard_);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(Usage, TheMetricsApiIsOneRequest) {
  const std::unique_ptr<UsageReader> reader = Reader(KubeletUsage::kMetricsApi);
  reader->Read(heard_);
  EXPECT_EQ(reader->counts().failed, 1U);
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("usage cannot be read of metrics.k8s.io: ")));
}

}  // namespace
}  // namespace taut::server
