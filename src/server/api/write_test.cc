// Tests of the bodies that POST /api/v1/write accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/api_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

TEST(ApiWrite, AProtocolThatIsNotReadIsRefusedAsSuch) {
  NoStore store;
  DryRunActuator actuator;
  ControlPlane control{ControlOptions(),
                       *MappingRules::Compile(BuiltinRules()),
                       {&store, &store, &actuator, [] { return 0.0; }}};
  ASSERT_TRUE(control.Restore().ok());
  const TestApi api{control, {}, [] { return Timestamp::FromSeconds(1'700'000'000); }};
  const RemoteSeries up{{{"__name__", "up"}}, {{1, 1'700'000'000'000}}};
  const auto post = [&](std::string_view type) {
    HttpRequest request = ApiRequest("POST", "/api/v1/write");
    request.headers = {{"Content-Encoding", "snappy"}};
    if (!type.empty()) request.headers.push_back({"Content-Type", std::string(type)});
    request.body = EncodeWriteRequest(std::span(&up, 1));
    return api.Handle(request);
  };
  const HttpResponse second = post("application/x-protobuf;proto=io.prometheus.write.v2.Request");
  EXPECT_EQ(second.status, 415) << "Prometheus drops what gets a 4xx, and other senders fall back to 1.0";
  EXPECT_THAT(second.body, HasSubstr("remote write 1.0"));
  EXPECT_EQ(control.ingest().counts.samples().total(), 0U);
  for (const char* good :
       {"", "application/x-protobuf", "application/x-protobuf;proto=prometheus.WriteRequest",
        "application/x-www-form-urlencoded"})
    EXPECT_EQ(post(good).status, 204) << good;
  EXPECT_EQ(control.ingest().counts.samples().unmapped, 4U);
}

}  // namespace
}  // namespace taut::server
