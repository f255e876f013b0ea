// Tests of the scaler's server with a client like KEDA.
#include "server/connectors/external_scaler.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>

#include "common/base/strings.h"
#include "common/rpc/silent_client.h"
#include "common/rpc/tls_fixture.h"
#include "external_scaler.grpc.pb.h"
#include "server/agents/wire_fixture.h"

namespace taut::server {
namespace {

namespace keda = externalscaler;
using testing::HasSubstr;

absl::StatusOr<std::string> JobOf(std::map<std::string, std::string> metadata) {
  return JobOfScaledObject({"web-scaler", "shop", std::move(metadata)});
}

TEST(JobOfScaledObject, IsTheJobGivenOrMadeFromItsParts) {
  EXPECT_EQ(*JobOf({{"job", "a/b/c/d"}, {"name", "x"}}), "a/b/c/d");
  EXPECT_EQ(*JobOf({}), "shop/deployment/web-scaler");
  EXPECT_EQ(*JobOf({{"name", "web"}}), "shop/deployment/web");
  EXPECT_EQ(*JobOf({{"cluster", "eu"}, {"namespace", "n"}, {"kind", "StatefulSet"}, {"name", "db"}}),
            "eu/n/statefulset/db");
}

TEST(JobOfScaledObject, NamesWhatIsWrong) {
  const auto error = [](std::map<std::string, std::string> metadata) {
    return std::string(JobOf(std::move(metadata)).status().message());
  };
  EXPECT_THAT(error({{"job", ""}}), HasSubstr("job is empty"));
  EXPECT_THAT(error({{"name", "a/b"}}), HasSubstr("name is 'a/b': expected a name without '/'"));
  EXPECT_THAT(error({{"kind", ""}}), HasSubstr("kind is ''"));
  EXPECT_THAT(error({{"cluster", ""}}), HasSubstr("cluster is ''"));
  EXPECT_THAT(error({{"namespace", ""}}), HasSubstr("namespace is ''"));
}

// Numbers of tasks that the server's threads read. A shared pointer keeps them until the last thread has ended,
// which may be after the test.
struct Ordered {
  std::atomic<int64_t> web{3};
};

class ExternalScalerTest : public testing::Test {
 protected:
  void Start(ScalerServerOptions options = {}) {
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    options.stream_period_ms = 5;
    auto server =
        ScalerServer::Start(options, [o = ordered_](const std::string& job) { return Answer(*o, job); });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
    Connect(grpc::InsecureChannelCredentials());
  }
  static absl::StatusOr<int64_t> Answer(const Ordered& ordered, const std::string& job) {
    if (job == "shop/deployment/web") return ordered.web.load();
    if (job == "shop/deployment/new") return absl::FailedPreconditionError(StrCat(job, " has no order"));
    return absl::NotFoundError(StrCat("no job ", job));
  }
  void Connect(const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = keda::ExternalScaler::NewStub(
        grpc::CreateCustomChannel(StrCat("127.0.0.1:", server_->port()), credentials, arguments));
  }
  static keda::ScaledObjectRef Ref(const std::string& name) {
    keda::ScaledObjectRef out;
    out.set_name("scaled");
    out.set_namespace_("shop");
    (*out.mutable_scalermetadata())["name"] = name;
    return out;
  }
  static void SetDeadline(grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }
  grpc::Status Metrics(const std::string& name, keda::GetMetricsResponse* out,
                       const std::string& metric = "tautline_replicas") {
    grpc::ClientContext context;
    SetDeadline(&context);
    keda::GetMetricsRequest request;
    *request.mutable_scaledobjectref() = Ref(name);
    request.set_metricname(metric);
    return stub_->GetMetrics(&context, request, out);
  }
  grpc::Status IsActive(const std::string& name, keda::IsActiveResponse* out) {
    grpc::ClientContext context;
    SetDeadline(&context);
    return stub_->IsActive(&context, Ref(name), out);
  }

  std::shared_ptr<Ordered> ordered_ = std::make_shared<Ordered>();
  std::unique_ptr<ScalerServer> server_;
  std::unique_ptr<keda::ExternalScaler::Stub> stub_;
};

TEST_F(ExternalScalerTest, SilentConnectionsKeepNoCallOut) {
  ScalerServerOptions options;
  options.max_connections = 10;
  Start(options);
  const SilentClients silent = ConnectPrefaces("127.0.0.1", server_->port(), 25);
  std::vector<std::unique_ptr<keda::ExternalScaler::Stub>> honest;
  for (int i = 0; i < 7; ++i) {  // one address may use three quarters of the connections
    Connect(grpc::InsecureChannelCredentials());
    keda::GetMetricsResponse response;
    const grpc::Status status = Metrics("web", &response);
    EXPECT_TRUE(status.ok()) << i << ": " << status.error_message();
    honest.push_back(std::move(stub_));
  }
}

TEST_F(ExternalScalerTest, TheValueIsTheNumberOfReplicas) {
  Start();
  grpc::ClientContext context;
  SetDeadline(&context);
  keda::GetMetricSpecResponse spec;
  ASSERT_TRUE(stub_->GetMetricSpec(&context, Ref("web"), &spec).ok());
  ASSERT_EQ(spec.metricspecs_size(), 1);
  EXPECT_EQ(spec.metricspecs(0).metricname(), "tautline_replicas");
  EXPECT_EQ(spec.metricspecs(0).targetsizefloat(), 1);
  EXPECT_EQ(spec.metricspecs(0).targetsize(), 1);

  keda::GetMetricsResponse metrics;
  ASSERT_TRUE(Metrics("web", &metrics).ok());
  ASSERT_EQ(metrics.metricvalues_size(), 1);
  EXPECT_EQ(metrics.metricvalues(0).metricname(), "tautline_replicas");
  EXPECT_EQ(metrics.metricvalues(0).metricvaluefloat(), 3);
  EXPECT_EQ(metrics.metricvalues(0).metricvalue(), 3);
  keda::IsActiveResponse active;
  ASSERT_TRUE(IsActive("web", &active).ok());
  EXPECT_TRUE(active.result());
  ordered_->web = 0;
  ASSERT_TRUE(IsActive("web", &active).ok());
  EXPECT_FALSE(active.result());
  EXPECT_EQ(server_->counts().answered, 4U);
}

TEST_F(ExternalScalerTest, WhatIsNotKnownIsAnErrorAndNotZero) {
  Start();
  keda::GetMetricsResponse metrics;
  grpc::Status status = Metrics("old", &metrics);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no job shop/deployment/old");
  status = Metrics("new", &metrics);
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(metrics.metricvalues_size(), 0);
  keda::IsActiveResponse active;
  EXPECT_EQ(IsActive("new", &active).error_code(), grpc::FAILED_PRECONDITION);
  status = Metrics("web", &metrics, "s0-want");
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "unknown metric 's0-want': expected tautline_replicas");
  EXPECT_EQ(Metrics("a/b", &metrics).error_code(), grpc::INVALID_ARGUMENT);
  const ScalerServerCounts counts = server_->counts();
  EXPECT_EQ(counts.answered, 0U);
  EXPECT_EQ(counts.unknown_job, 1U);
  EXPECT_EQ(counts.no_number, 2U);
  EXPECT_EQ(counts.failed, 2U);
}

TEST_F(ExternalScalerTest, AStreamTellsOfChangesUntilTheServerStops) {
  ScalerServerOptions options;
  options.max_streams = 1;
  Start(options);
  grpc::ClientContext context;
  SetDeadline(&context);
  const auto stream = stub_->StreamIsActive(&context, Ref("web"));
  keda::IsActiveResponse active;
  ASSERT_TRUE(stream->Read(&active));
  EXPECT_TRUE(active.result());
  ordered_->web = 0;
  ASSERT_TRUE(stream->Read(&active));
  EXPECT_FALSE(active.result());

  grpc::ClientContext second;
  SetDeadline(&second);
  const auto refused = stub_->StreamIsActive(&second, Ref("web"));
  EXPECT_FALSE(refused->Read(&active));
  EXPECT_EQ(refused->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(server_->counts().streams, 1U);

  server_->Stop();
  EXPECT_FALSE(stream->Read(&active));
  EXPECT_EQ(stream->Finish().error_code(), grpc::UNAVAILABLE);
}

TEST_F(ExternalScalerTest, AStreamThatTheClientLeavesIsForgotten) {
  Start();
  grpc::ClientContext context;
  const auto stream = stub_->StreamIsActive(&context, Ref("web"));
  keda::IsActiveResponse active;
  ASSERT_TRUE(stream->Read(&active));
  context.TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(Eventually([&] { return server_->counts().streams == 0; }));
}

TEST_F(ExternalScalerTest, WantsTheClientsCertificate) {
  const Certificates certificates;
  if (!certificates.made()) GTEST_SKIP() << "there is no openssl";
  ScalerServerOptions options;
  options.certificate_file = certificates.File("server.pem");
  options.key_file = certificates.File("server.key");
  options.client_ca_file = certificates.File("ca.pem");
  Start(options);
  const auto read = [&](const std::string& name) {
    std::ostringstream out;
    out << std::ifstream(certificates.File(name)).rdbuf();
    return out.str();
  };
  keda::GetMetricsResponse metrics;
  for (const std::string who : {"client", "stranger"}) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = read("ca.pem");
    ssl.pem_cert_chain = read(who + ".pem");
    ssl.pem_private_key = read(who + ".key");
    Connect(grpc::SslCredentials(ssl));
    EXPECT_EQ(Metrics("web", &metrics).ok(), who == "client") << who;
  }
}

TEST_F(ExternalScalerTest, RefusesToListenToTheWorldWithoutAClientCa) {
  const auto start = [](const std::string& listen) {
    ScalerServerOptions options;
    options.listen = {listen};
    return ScalerServer::Start(options, [](const std::string&) { return 1; }).status();
  };
  EXPECT_THAT(std::string(start("0.0.0.0:0").message()), HasSubstr("refusing to listen on 0.0.0.0"));
  EXPECT_THAT(std::string(start("localhost").message()), HasSubstr("localhost"));
}

}  // namespace
}  // namespace taut::server
