#include "node/agent/daemon_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

TEST(DaemonAddress, IsAHostAndAPort) {
  for (const char* good : {"127.0.0.1:7071", "[::1]:7071", "localhost:7071"}) {
    EXPECT_TRUE(CheckDaemonAddress(good).ok()) << good;
    EXPECT_TRUE(ResolveDaemonAddress(good).ok()) << good << ": " << ResolveDaemonAddress(good);
  }
  for (const char* bad : {"", "tautd", ":7071", "tautd:"}) {
    EXPECT_EQ(CheckDaemonAddress(bad), ResolveDaemonAddress(bad));
    EXPECT_EQ(Message(CheckDaemonAddress(bad)),
              StrCat("invalid daemon address \"", bad, "\": expected HOST:PORT, such as 127.0.0.1:7071"));
  }
}

TEST(DaemonAddress, AHostWithoutAnAddressIsNamed) {
  EXPECT_THAT(Message(ResolveDaemonAddress("127.0.0.1:no-such-port")),
              HasSubstr("cannot resolve \"127.0.0.1:no-such-port\": "));
  EXPECT_TRUE(CheckDaemonAddress("no-such-host.invalid:7071").ok()) << "the form is right";
}

}  // namespace
}  // namespace taut::node
