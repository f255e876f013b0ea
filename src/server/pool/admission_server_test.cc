// Tests of the server for requests for quota with a gRPC client, and with the service behind the server.
#include "server/pool/admission_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>

#include "admission.grpc.pb.h"
#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "common/rpc/silent_client.h"
#include "common/rpc/tls_fixture.h"
#include "common/testing/recorded_log.h"
#include "server/store/in_memory_request_log.h"

namespace taut::server {
namespace {

namespace rpc = taut::admission::v1;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kNowSeconds = 1'700'000'100;

// Objects that the server uses. They outlive the server of a test, because the server's threads share them.
struct Behind {
  Behind() {
    QuotaService::Options options;
    options.groups = {.group = "{team}", .tier = "{tier}", .default_tier = "batch"};
    options.log = &requests;
    options.now = [] { return Timestamp::FromSeconds(kNowSeconds); };
    service = *QuotaService::Open(
        {{{"all", ""},
          {"shop", "all", {{"batch", "cpu", 4000}, {"batch", "memory", int64_t{64} << 30}}},
          {"media", "all", {{"batch", "cpu", 1000}, {"free", "cpu", 8000}}}}},
        options);
  }
  void CloseAWindow() const {
    FleetView view;
    view.window = WindowId{5'666'666};
    service->OnWindow(view);
  }

  InMemoryRequestLog requests;
  std::unique_ptr<QuotaService> service;
  RecordedLog log;
  AuditLog audit{log, SteadySeconds};
  std::mutex mutex;  // lock for the members below
  absl::Status refusal;
  HttpRequest as;  // role, user and bindings of the next caller
  HttpRequest seen;
  std::optional<std::string> certificate_name;
};

class AdmissionServerTest : public testing::Test {
 protected:
  AdmissionServerTest() { Is(Role::kOperator, "ann"); }
  void Start(AdmissionServerOptions options = {}) {
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    const auto identify = [behind = behind_](HttpRequest& caller, const std::optional<std::string>& name) {
      const std::lock_guard lock(behind->mutex);
      behind->seen = caller;
      behind->certificate_name = name;
      caller.role = behind->as.role;
      caller.user = behind->as.user;
      caller.bindings = behind->as.bindings;
      return behind->refusal;
    };
    auto server = AdmissionServer::Start(options, {identify, behind_->service.get(), &behind_->audit});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect(grpc::InsecureChannelCredentials());
  }
  // Sets the caller of the next calls.
  void Is(Role role, std::string user, GroupBindings bindings = {}) {
    const std::lock_guard lock(behind_->mutex);
    behind_->as.role = role;
    behind_->as.user = std::move(user);
    behind_->as.bindings = std::make_shared<const GroupBindings>(std::move(bindings));
  }
  void Refuse(absl::Status refusal) {
    const std::lock_guard lock(behind_->mutex);
    behind_->refusal = std::move(refusal);
  }
  void Connect(const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = rpc::Admission::NewStub(
        grpc::CreateCustomChannel(StrCat("127.0.0.1:", server_->port()), credentials, arguments));
  }
  static std::unique_ptr<grpc::ClientContext> Call() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    context->AddMetadata("authorization", "Bearer secret");
    return context;
  }
  static rpc::Ask AskForTwoCores() {
    rpc::Ask ask;
    ask.set_group("shop");
    ask.set_tier("batch");
    (*ask.mutable_per_task())["cpu"] = "2";
    (*ask.mutable_per_task())["memory"] = "4GiB";
    ask.set_tasks(3);
    return ask;
  }

  grpc::Status Check(const rpc::Ask& ask, rpc::Verdict& verdict) {
    return stub_->Check(Call().get(), ask, &verdict);
  }

  std::shared_ptr<Behind> behind_ = std::make_shared<Behind>();
  std::unique_ptr<AdmissionServer> server_;
  std::unique_ptr<rpc::Admission::Stub> stub_;
};

TEST_F(AdmissionServerTest, ACheckIsTheVerdictOfTheService) {
  behind_->CloseAWindow();
  Start();
  rpc::Verdict verdict;
  grpc::Status status = Check(AskForTwoCores(), verdict);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(verdict.outcome(), "refused");
  EXPECT_EQ(verdict.asked().at("memory"), 3 * 4294967296.0);
  EXPECT_EQ(verdict.asked().at("cpu"), 6);
  ASSERT_EQ(verdict.reasons_size(), 1);
  EXPECT_EQ(verdict.reasons(0).available(), 5);
  EXPECT_TRUE(verdict.reasons(0).never());
  EXPECT_THAT(verdict.explanation(), HasSubstr("\"all\" could have 5 cores"));
  EXPECT_EQ(verdict.fitting_tasks(), 2);
  EXPECT_EQ(verdict.fitting().at("cpu"), 5);
  EXPECT_FALSE(verdict.has_probably_at()) << "missing is absent";
  rpc::Ask fits = AskForTwoCores();
  fits.set_group("media");
  fits.mutable_per_task()->erase("memory");
  fits.set_tasks(1);
  status = Check(fits, verdict);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(verdict.outcome(), "admitted");
  ASSERT_EQ(verdict.borrowed_size(), 1);
  EXPECT_EQ(verdict.borrowed(0).amount(), 1);
  EXPECT_EQ(verdict.borrowed(0).cohort(), "all");
  const std::lock_guard lock(behind_->mutex);
  EXPECT_EQ(behind_->seen.path, "/taut.admission.v1.Admission/Check");
  EXPECT_EQ(*behind_->seen.header("Authorization"), "Bearer secret");
  EXPECT_THAT(behind_->seen.peer, HasSubstr("127.0.0.1"));
  EXPECT_THAT(behind_->log.lines(), IsEmpty()) << "a check changes nothing";
}

// Connections that sent only the preface of HTTP/2, and a connection whose calls are refused, must not block a
// valid call.
TEST_F(AdmissionServerTest, SilentConnectionsKeepNoCallOut) {
  AdmissionServerOptions options;
  options.max_connections = 25;
  behind_->CloseAWindow();
  Start(options);
  rpc::Verdict verdict;
  ASSERT_TRUE(stub_->Check(Call().get(), AskForTwoCores(), &verdict).ok());
  const auto kept = std::move(stub_);
  const SilentClients silent = ConnectPrefaces("127.0.0.1", server_->port(), 25);
  Refuse(absl::UnauthenticatedError("who are you?"));
  std::vector<std::unique_ptr<rpc::Admission::Stub>> refused;
  for (int i = 0; i < 25; ++i) {
    Connect(grpc::InsecureChannelCredentials());
    EXPECT_EQ(stub_->Check(Call().get(), AskForTwoCores(), &verdict).error_code(), grpc::UNAUTHENTICATED);
    refused.push_back(std::move(stub_));
  }
  Refuse(absl::OkStatus());
  for (int i = 0; i < 15; ++i) {  // one address may use three quarters of the connections
    Connect(grpc::InsecureChannelCredentials());
    const grpc::Status status = stub_->Check(Call().get(), AskForTwoCores(), &verdict);
    EXPECT_TRUE(status.ok()) << i << ": " << status.error_message();
    refused.push_back(std::move(stub_));  // the stub keeps the connection open
  }
  EXPECT_TRUE(kept->Check(Call().get(), AskForTwoCores(), &verdict).ok()) << "one that has called stays";
  EXPECT_GE(server_->counts().rejected_connections, 25U);
}

TEST_F(AdmissionServerTest, RequestsAreMadeReadAndEnded) {
  behind_->CloseAWindow();
  Start();
  rpc::Request request;
  rpc::Ask ask = AskForTwoCores();
  ask.set_tasks(0);  // 0 means absent, which is one task
  ask.set_job("x");
  ask.set_duration("2h");
  ask.set_priority(-1);
  grpc::Status status = stub_->Make(Call().get(), ask, &request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(request.id(), 1);
  EXPECT_EQ(request.state(), "admitted");
  EXPECT_EQ(request.group(), "shop");
  EXPECT_EQ(request.job(), "x");
  EXPECT_EQ(request.tasks(), 1);
  EXPECT_EQ(request.per_task().at("cpu"), 2);
  EXPECT_EQ(request.priority(), -1);
  EXPECT_EQ(request.duration(), 7200);
  EXPECT_EQ(request.admitted(), kNowSeconds);
  EXPECT_EQ(request.who(), "ann");
  EXPECT_EQ(behind_->service->Find(1)->job, "x") << "it is a request of the service";
  rpc::RequestId id;
  id.set_id(1);
  ASSERT_TRUE(stub_->Get(Call().get(), id, &request).ok());
  EXPECT_EQ(request.end(), "");
  ASSERT_TRUE(stub_->End(Call().get(), id, &request).ok());
  EXPECT_EQ(request.end(), "withdrawn");
  EXPECT_EQ(server_->counts().answered, 3U);
  EXPECT_THAT(behind_->log.lines(),
              ElementsAre(HasSubstr("request_done who=ann roles=operator method=POST "
                                    "path=/taut.admission.v1.Admission/Make status=200"),
                          HasSubstr("path=/taut.admission.v1.Admission/End status=200")));
}

TEST_F(AdmissionServerTest, RolesAreThoseOfTheApi) {
  behind_->CloseAWindow();
  Start();
  rpc::Request request;
  rpc::Verdict verdict;
  rpc::Ask of_media = AskForTwoCores(), of_shop = AskForTwoCores();
  of_media.set_group("media");
  of_shop.set_tasks(1);
  Is(Role::kReader, "rob");
  EXPECT_EQ(stub_->Make(Call().get(), of_shop, &request).error_code(), grpc::PERMISSION_DENIED);
  EXPECT_THAT(behind_->log.lines(), Contains(HasSubstr("request_refused who=rob")));
  Is(Role::kGroup, "mia", {{"shop", GroupRole::kMember}});
  const grpc::Status other = Check(of_media, verdict);
  EXPECT_EQ(other.error_code(), grpc::NOT_FOUND) << "as a group that does not exist";
  EXPECT_EQ(other.error_message(), "no group \"media\" of yours: expected shop or one below");
  EXPECT_TRUE(stub_->Make(Call().get(), of_shop, &request).ok());
  Is(Role::kGroup, "max", {{"shop", GroupRole::kMember}});
  rpc::RequestId id;
  id.set_id(request.id());
  EXPECT_TRUE(stub_->Get(Call().get(), id, &request).ok());
  const grpc::Status foreign = stub_->End(Call().get(), id, &request);
  EXPECT_EQ(foreign.error_code(), grpc::PERMISSION_DENIED);
  EXPECT_THAT(foreign.error_message(), HasSubstr("request 1 is of mia"));
  Is(Role::kGroup, "mae", {{"media", GroupRole::kOwner}});
  EXPECT_EQ(stub_->End(Call().get(), id, &request).error_code(), grpc::NOT_FOUND);
  EXPECT_TRUE(behind_->service->Find(1)->open());
}

TEST_F(AdmissionServerTest, ErrorsHaveACodeAndAText) {
  Start();
  rpc::Verdict verdict;
  const std::pair<absl::StatusCode, grpc::StatusCode> cases[] = {
      {absl::StatusCode::kInvalidArgument, grpc::INVALID_ARGUMENT},
      {absl::StatusCode::kUnauthenticated, grpc::UNAUTHENTICATED},
      {absl::StatusCode::kPermissionDenied, grpc::PERMISSION_DENIED},
      {absl::StatusCode::kNotFound, grpc::NOT_FOUND},
      {absl::StatusCode::kAlreadyExists, grpc::FAILED_PRECONDITION},
      {absl::StatusCode::kUnavailable, grpc::UNAVAILABLE},
      {absl::StatusCode::kInternal, grpc::INTERNAL}};
  for (const auto& [error, code] : cases) {
    Refuse(absl::Status(error, "what is \"wrong\""));
    const grpc::Status got = Check(AskForTwoCores(), verdict);
    EXPECT_EQ(got.error_code(), code);
    EXPECT_EQ(got.error_message(), "what is \"wrong\"");
  }
  Refuse(absl::OkStatus());
  EXPECT_EQ(Check(AskForTwoCores(), verdict).error_code(), grpc::UNAVAILABLE) << "no window has closed";
  rpc::Ask ask = AskForTwoCores();
  (*ask.mutable_per_task())["group"] = "media";
  const grpc::Status got = Check(ask, verdict);
  EXPECT_EQ(got.error_code(), grpc::INVALID_ARGUMENT) << "a resource is no way to another group";
  EXPECT_THAT(got.error_message(), HasSubstr("\"group\" is not a resource"));
  const AdmissionServerCounts counts = server_->counts();
  EXPECT_EQ(counts.answered, 0U);
  EXPECT_EQ(counts.rejected, 6U);
  EXPECT_EQ(counts.failed, 3U);
}

TEST_F(AdmissionServerTest, AClientsCertificateIsNamed) {
  const Certificates certificates;
  if (!certificates.made()) GTEST_SKIP() << "there is no openssl";
  AdmissionServerOptions options;
  options.access.certificate_file = certificates.File("server.pem");
  options.access.key_file = certificates.File("server.key");
  options.access.client_ca_file = certificates.File("ca.pem");
  behind_->CloseAWindow();
  Start(options);
  const auto file = [&](const std::string& name) {
    std::ifstream in(certificates.File(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  Connect(grpc::SslCredentials({file("ca.pem"), file("client.key"), file("client.pem")}));
  rpc::Verdict verdict;
  const grpc::Status status = stub_->Check(Call().get(), AskForTwoCores(), &verdict);
  ASSERT_TRUE(status.ok()) << status.error_message();
  {
    const std::lock_guard lock(behind_->mutex);
    EXPECT_EQ(behind_->certificate_name, "client");
  }
  Connect(grpc::SslCredentials({file("ca.pem"), file("stranger.key"), file("stranger.pem")}));
  EXPECT_EQ(stub_->Check(Call().get(), AskForTwoCores(), &verdict).error_code(), grpc::UNAVAILABLE);
}

TEST_F(AdmissionServerTest, ListensElsewhereOnlyWithTokens) {
  AdmissionServerOptions options;
  options.listen = {"0.0.0.0:0"};
  EXPECT_THAT(std::string(AdmissionServer::Start(options, {}).status().message()),
              HasSubstr("refusing to listen"));
  options.listen = {"here"};
  EXPECT_THAT(std::string(AdmissionServer::Start(options, {}).status().message()),
              HasSubstr("expected ADDRESS:PORT"));
}

}  // namespace
}  // namespace taut::server
