// Tests of the scaler as a component: its port, its responses to KEDA, and a stop.
#include "server/connectors/scaler_component.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include "external_scaler.grpc.pb.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

class ScalerComponentTest : public ComponentTest {
 protected:
  ScalerComponentTest() { scaler_.listen = {"127.0.0.1:0"}; }
  // Requests the number of tasks of an unknown job.
  grpc::Status Ask() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto stub = externalscaler::ExternalScaler::NewStub(grpc::CreateCustomChannel(
        StrCat("127.0.0.1:", LoggedPort()), grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    externalscaler::ScaledObjectRef object;
    object.set_name("web");
    object.set_namespace_("shop");
    externalscaler::IsActiveResponse response;
    return stub->IsActive(&context, object, &response);
  }

  ExternalScalerConfig scaler_;
};

TEST_F(ScalerComponentTest, AnswersFromTheDaemonsJobsUntilItStops) {
  ScalerComponent run(scaler_, context_);
  ASSERT_EQ(run.Start(), absl::OkStatus());
  EXPECT_EQ(Logged("listening for KEDA on port "), 1);
  EXPECT_EQ(Ask().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(MetricsOf(run), HasSubstr("tautd_external_scaler_requests_total{result=\"unknown_job\"} 1\n"));
  run.Stop();
  EXPECT_EQ(Ask().error_code(), grpc::StatusCode::UNAVAILABLE);
  run.Stop();  // a second call
}

TEST_F(ScalerComponentTest, AnErrorNamesTheSection) {
  scaler_.certificate_file = dir_.File("missing");
  scaler_.key_file = dir_.File("missing too");
  ScalerComponent run(scaler_, context_);
  EXPECT_THAT(Message(run.Start()), HasSubstr("external_scaler: "));
  EXPECT_EQ(Logged("listening"), 0);
  run.Stop();  // a call without Start()
}

}  // namespace
}  // namespace taut::server
