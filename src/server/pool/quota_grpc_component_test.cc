// Tests of the component of the gRPC port for quota: accepted callers, new tokens and certificates after a reload,
// and a stop.
#include "server/pool/quota_grpc_component.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "admission.grpc.pb.h"
#include "common/rpc/tls_fixture.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

namespace rpc = taut::admission::v1;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kToken = "token-of-operators-with-32-letters";
constexpr const char* kOtherToken = "another-token-of-operators-32-letters";

class QuotaGrpcComponentTest : public ComponentTest {
 protected:
  QuotaGrpcComponentTest() {
    config_.quota.file = dir_.File("quota.yaml");
    std::ofstream(config_.quota.file)
        << "groups: [{name: shop, quotas: [{tier: production, resource: cpu, nominal: 4}]}]\n";
    config_.quota_grpc.listen = {"127.0.0.1:0"};
    server_.operator_tokens = {kToken};
    CloseAWindow();
    EXPECT_TRUE(quota_.Start().ok());
  }
  std::unique_ptr<QuotaGrpcComponent> Make() {
    return std::make_unique<QuotaGrpcComponent>(
        config_.quota_grpc, [this] { return server_; }, quota_, context_);
  }
  QuotaComponent::Options QuotaOptions() const {
    QuotaComponent::Options options;
    options.config.file = dir_.File("quota.yaml");
    return options;
  }
  static grpc::Status Check(
      int port, const std::string& token, rpc::Verdict& verdict,
      const std::shared_ptr<grpc::ChannelCredentials>& credentials = grpc::InsecureChannelCredentials()) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto stub = rpc::Admission::NewStub(
        grpc::CreateCustomChannel(StrCat("127.0.0.1:", port), credentials, arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    context.AddMetadata("authorization", StrCat("Bearer ", token));
    rpc::Ask ask;
    ask.set_group("shop");
    ask.set_tier("production");
    (*ask.mutable_per_task())["cpu"] = "2";
    return stub->Check(&context, ask, &verdict);
  }
  static grpc::StatusCode CodeOf(
      int port, const std::string& token,
      const std::shared_ptr<grpc::ChannelCredentials>& credentials = grpc::InsecureChannelCredentials()) {
    rpc::Verdict verdict;
    return Check(port, token, verdict, credentials).error_code();
  }
  static std::shared_ptr<grpc::ChannelCredentials> TrustOf(const std::string& ca_file) {
    std::ifstream in(ca_file);
    return grpc::SslCredentials({std::string(std::istreambuf_iterator<char>(in), {}), "", ""});
  }

  ServerOptions server_;
  QuotaComponent quota_{QuotaOptions(), context_};
};

TEST_F(QuotaGrpcComponentTest, AnswersHoldersOfATokenUntilItStops) {
  const auto run = Make();
  EXPECT_THAT(std::vector(run->after().begin(), run->after().end()), ElementsAre("quota", "http"));
  ASSERT_EQ(run->Start(), absl::OkStatus());
  EXPECT_EQ(Logged("listening for requests for quota (gRPC) on port "), 1);
  EXPECT_EQ(LoggedPort(), run->port());
  rpc::Verdict verdict;
  const grpc::Status status = Check(run->port(), kToken, verdict);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(verdict.outcome(), "admitted");
  EXPECT_EQ(CodeOf(run->port(), "no token of this server, really"), grpc::UNAUTHENTICATED);
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_quota_grpc_requests_total{result=\"answered\"} 1\n"));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_quota_grpc_requests_total{result=\"rejected\"} 1\n"));
  run->Stop();
  EXPECT_EQ(CodeOf(run->port(), kToken), grpc::UNAVAILABLE);
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_quota_grpc_requests_total{result=\"answered\"} 1\n"));
  run->Stop();  // a second call
}

TEST_F(QuotaGrpcComponentTest, AnErrorNamesTheSection) {
  config_.quota_grpc.certificate_file = dir_.File("missing");
  config_.quota_grpc.key_file = dir_.File("missing too");
  const auto run = Make();
  EXPECT_THAT(Message(run->Start()), HasSubstr("quota.grpc: "));
  EXPECT_EQ(Logged("listening"), 0);
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_quota_grpc_connections_refused_total 0\n"));
  run->Stop();  // a call without an open port
}

TEST_F(QuotaGrpcComponentTest, APortForStrangersIsRefused) {
  server_.operator_tokens.clear();
  config_.quota_grpc.listen = {"0.0.0.0:0"};
  const auto run = Make();
  EXPECT_TRUE(absl::IsInvalidArgument(run->Start()));
  EXPECT_EQ(Logged("listening"), 0);
}

TEST_F(QuotaGrpcComponentTest, AReloadTakesOtherTokensAndKeepsThePort) {
  const auto run = Make();
  ASSERT_EQ(run->Start(), absl::OkStatus());
  const int port = run->port();
  server_.operator_tokens = {kOtherToken};
  EXPECT_EQ(CodeOf(port, kToken), grpc::OK) << "in force with the reload, and not before";
  DaemonConfig next = config_;
  next.quota_grpc.listen = {"127.0.0.1:1"};  // a change that needs a restart
  EXPECT_THAT(Reload(*run, next), ElementsAre("certificates of quota.grpc"));
  EXPECT_EQ(run->port(), port);
  EXPECT_EQ(Logged("quota_port_reopened"), 0) << "no certificate has changed";
  EXPECT_EQ(CodeOf(port, kToken), grpc::UNAUTHENTICATED);
  EXPECT_EQ(CodeOf(port, kOtherToken), grpc::OK);
  run->Stop();
}

TEST_F(QuotaGrpcComponentTest, AReloadWithOtherCertificatesOpensThePortAgain) {
  const Certificates of_start, renewed;
  if (!of_start.made() || !renewed.made()) GTEST_SKIP() << "there is no openssl";
  const std::string certificate = dir_.File("tls.pem"), key = dir_.File("tls.key");
  const auto install = [&](const Certificates& from) {
    using std::filesystem::copy_options;
    std::filesystem::copy_file(from.File("server.pem"), certificate, copy_options::overwrite_existing);
    std::filesystem::copy_file(from.File("server.key"), key, copy_options::overwrite_existing);
  };
  install(of_start);
  config_.quota_grpc.certificate_file = certificate;
  config_.quota_grpc.key_file = key;
  const auto run = Make();
  ASSERT_EQ(run->Start(), absl::OkStatus());
  const int port = run->port();
  EXPECT_EQ(CodeOf(port, kToken, TrustOf(of_start.File("ca.pem"))), grpc::OK);
  install(renewed);
  EXPECT_THAT(Reload(*run, config_), ElementsAre("certificates of quota.grpc"));
  EXPECT_EQ(Logged("quota_port_reopened"), 1);
  EXPECT_EQ(run->port(), port) << "clients know it";
  EXPECT_EQ(CodeOf(port, kToken, TrustOf(of_start.File("ca.pem"))), grpc::UNAVAILABLE);
  EXPECT_EQ(CodeOf(port, kToken, TrustOf(renewed.File("ca.pem"))), grpc::OK);
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_quota_grpc_requests_total{result=\"answered\"} 2\n"))
      << "those before it was opened again count";
  DaemonConfig next = config_;
  next.quota_grpc.key_file = dir_.File("missing");
  EXPECT_THAT(Reload(*run, next), IsEmpty());
  EXPECT_EQ(Logged("reload_failed what=\"certificates of quota.grpc\""), 1);
  EXPECT_EQ(CodeOf(port, kToken, TrustOf(renewed.File("ca.pem"))), grpc::OK) << "it stays as it is";
  run->Stop();
}

}  // namespace
}  // namespace taut::server
