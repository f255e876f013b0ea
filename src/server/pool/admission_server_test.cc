// The server for requests for quota as a client sees it. The fake API behind the server records its requests.
#include "server/pool/admission_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <mutex>

#include "admission.grpc.pb.h"
#include "common/base/strings.h"
#include "common/rpc/silent_client.h"
#include "common/rpc/tls_fixture.h"

namespace taut::server {
namespace {

namespace rpc = taut::admission::v1;
using testing::ElementsAre;
using testing::HasSubstr;

// Outlives the server of a test, because the server's threads share it.
struct NotedCalls {
  std::mutex mutex;
  HttpResponse response;
  HttpRequest request;
  std::optional<std::string> certificate_name;
};

class AdmissionServerTest : public testing::Test {
 protected:
  void Start(AdmissionServerOptions options = {}) {
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    auto server = AdmissionServer::Start(
        options, [calls = calls_](HttpRequest request, const std::optional<std::string>& name) {
          const std::lock_guard lock(calls->mutex);
          calls->request = std::move(request);
          calls->certificate_name = name;
          return calls->response;
        });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect(grpc::InsecureChannelCredentials());
  }
  void Connect(const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = rpc::Admission::NewStub(
        grpc::CreateCustomChannel(StrCat("127.0.0.1:", server_->port()), credentials, arguments));
  }
  void Answers(int status, std::string body) {
    const std::lock_guard lock(calls_->mutex);
    calls_->response = HttpResponse();
    calls_->response.status = status;
    calls_->response.body = std::move(body);
  }
  HttpRequest Asked() {
    const std::lock_guard lock(calls_->mutex);
    return calls_->request;
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

  std::shared_ptr<NotedCalls> calls_ = std::make_shared<NotedCalls>();
  std::unique_ptr<AdmissionServer> server_;
  std::unique_ptr<rpc::Admission::Stub> stub_;
};

TEST_F(AdmissionServerTest, ACheckIsThatOfTheApi) {
  Start();
  Answers(200, R"({"outcome": "queued", "explanation": "wait", "asked": {"cpu": 6, "memory": 4294967296},
    "borrowed": [], "reasons": [{"resource": "cpu", "level": "shop", "asked": 6, "available": 1.5,
    "never": false, "sentence": "too little"}], "fitting_tasks": 1, "fitting": {"cpu": 2}, "other_tiers": ["free"],
    "reclaimable": true, "probably_at": null, "new_in_a_later_version": [1]})");
  rpc::Verdict verdict;
  const grpc::Status status = stub_->Check(Call().get(), AskForTwoCores(), &verdict);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(verdict.outcome(), "queued");
  EXPECT_EQ(verdict.asked().at("memory"), 4294967296.0);
  EXPECT_EQ(verdict.reasons(0).available(), 1.5);
  EXPECT_EQ(verdict.fitting_tasks(), 1);
  EXPECT_FALSE(verdict.has_probably_at()) << "missing is absent";
  const HttpRequest asked = Asked();
  EXPECT_EQ(asked.method, "GET");
  EXPECT_EQ(asked.path, "/api/v1/admission");
  EXPECT_EQ(FormatQuery(asked.query), "?group=shop&tier=batch&cpu=2&memory=4GiB&tasks=3");
  EXPECT_EQ(*asked.header("Authorization"), "Bearer secret");
  EXPECT_THAT(asked.peer, HasSubstr("127.0.0.1"));
}

// Connections that sent only the preface of HTTP/2, and a connection whose calls are refused, do not keep a
// valid call out.
TEST_F(AdmissionServerTest, SilentConnectionsKeepNoCallOut) {
  AdmissionServerOptions options;
  options.max_connections = 25;
  Start(options);
  Answers(200, "{}");
  rpc::Verdict verdict;
  ASSERT_TRUE(stub_->Check(Call().get(), AskForTwoCores(), &verdict).ok());
  const auto kept = std::move(stub_);
  const SilentClients silent = ConnectPrefaces("127.0.0.1", server_->port(), 25);
  Answers(401, "{}");
  std::vector<std::unique_ptr<rpc::Admission::Stub>> refused;
  for (int i = 0; i < 25; ++i) {
    Connect(grpc::InsecureChannelCredentials());
    EXPECT_EQ(stub_->Check(Call().get(), AskForTwoCores(), &verdict).error_code(), grpc::UNAUTHENTICATED);
    refused.push_back(std::move(stub_));
  }
  Answers(200, "{}");
  for (int i = 0; i < 15; ++i) {  // three quarters are for one address
    Connect(grpc::InsecureChannelCredentials());
    const grpc::Status status = stub_->Check(Call().get(), AskForTwoCores(), &verdict);
    EXPECT_TRUE(status.ok()) << i << ": " << status.error_message();
    refused.push_back(std::move(stub_));  // its connection stays open
  }
  EXPECT_TRUE(kept->Check(Call().get(), AskForTwoCores(), &verdict).ok()) << "one that has called stays";
  EXPECT_GE(server_->counts().rejected_connections, 25U);
}

TEST_F(AdmissionServerTest, RequestsAreMadeReadAndEnded) {
  Start();
  Answers(
      200,
      R"({"id": 7, "state": "admitted", "end": "", "group": "shop", "tier": "batch", "job": "x", "tasks": 3,
    "per_task": {"cpu": 2}, "priority": -1, "duration": null, "asked": 1700000000, "since": 1700000001,
    "admitted": 1700000001, "who": "ann", "reason": "fits"})");
  rpc::Request request;
  rpc::Ask ask = AskForTwoCores();
  ask.set_job("x");
  ask.set_duration("2h");
  ask.set_priority(-1);
  ASSERT_TRUE(stub_->Make(Call().get(), ask, &request).ok());
  EXPECT_EQ(request.id(), 7);
  EXPECT_EQ(request.admitted(), 1700000001);
  EXPECT_FALSE(request.has_duration());
  EXPECT_EQ(Asked().method, "POST");
  EXPECT_EQ(
      Asked().body,
      R"({"group":"shop","tier":"batch","cpu":"2","memory":"4GiB","tasks":"3","job":"x","duration":"2h",)"
      R"("priority":"-1"})");
  rpc::RequestId id;
  id.set_id(7);
  ASSERT_TRUE(stub_->Get(Call().get(), id, &request).ok());
  EXPECT_EQ(Asked().path, "/api/v1/requests/7");
  ASSERT_TRUE(stub_->End(Call().get(), id, &request).ok());
  EXPECT_EQ(Asked().method, "DELETE");
  EXPECT_THAT(Asked().segments, ElementsAre("api", "v1", "requests", "7"));
  EXPECT_EQ(server_->counts().answered, 3U);
}

TEST_F(AdmissionServerTest, ErrorsHaveTheApisTextAndACode) {
  Start();
  rpc::Verdict verdict;
  const std::pair<int, grpc::StatusCode> cases[] = {
      {400, grpc::INVALID_ARGUMENT}, {401, grpc::UNAUTHENTICATED},     {403, grpc::PERMISSION_DENIED},
      {404, grpc::NOT_FOUND},        {409, grpc::FAILED_PRECONDITION}, {503, grpc::UNAVAILABLE},
      {500, grpc::INTERNAL}};
  for (const auto& [status, code] : cases) {
    Answers(status, R"({"error": "what is \"wrong\""})");
    const grpc::Status got = stub_->Check(Call().get(), AskForTwoCores(), &verdict);
    EXPECT_EQ(got.error_code(), code);
    EXPECT_EQ(got.error_message(), "what is \"wrong\"");
  }
  Answers(200, "<html>");
  EXPECT_EQ(stub_->Check(Call().get(), AskForTwoCores(), &verdict).error_code(), grpc::INTERNAL);
  rpc::Ask ask = AskForTwoCores();
  (*ask.mutable_per_task())["group"] = "media";
  const grpc::Status got = stub_->Check(Call().get(), ask, &verdict);
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
  Start(options);
  const auto file = [&](const std::string& name) {
    std::ifstream in(certificates.File(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  Answers(200, R"({"outcome": "admitted"})");
  Connect(grpc::SslCredentials({file("ca.pem"), file("client.key"), file("client.pem")}));
  rpc::Verdict verdict;
  const grpc::Status status = stub_->Check(Call().get(), AskForTwoCores(), &verdict);
  ASSERT_TRUE(status.ok()) << status.error_message();
  {
    const std::lock_guard lock(calls_->mutex);
    EXPECT_EQ(calls_->certificate_name, "client");
  }
  Connect(grpc::SslCredentials({file("ca.pem"), file("stranger.key"), file("stranger.pem")}));
  EXPECT_EQ(stub_->Check(Call().get(), AskForTwoCores(), &verdict).error_code(), grpc::UNAVAILABLE);
}

TEST_F(AdmissionServerTest, ListensElsewhereOnlyWithTokens) {
  AdmissionServerOptions options;
  options.listen = {"0.0.0.0:0"};
  const auto none = [](const HttpRequest&, const std::optional<std::string>&) { return HttpResponse(); };
  EXPECT_THAT(std::string(AdmissionServer::Start(options, none).status().message()),
              HasSubstr("refusing to listen"));
  options.listen = {"here"};
  EXPECT_THAT(std::string(AdmissionServer::Start(options, none).status().message()),
              HasSubstr("expected ADDRESS:PORT"));
}

}  // namespace
}  // namespace taut::server
