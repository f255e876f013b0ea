// Tests the rules for listen addresses and authentication.
#include "common/net/server_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut {
namespace {

using testing::HasSubstr;

constexpr char kToken[] = "0123456789abcdef";

TEST(ServerOptions, ReadsAddresses) {
  for (const auto& [text, host, port] :
       {std::tuple("127.0.0.1:9190", "127.0.0.1", 9190), std::tuple("[::1]:80", "::1", 80),
        std::tuple("localhost:0", "127.0.0.1", 0), std::tuple("0.0.0.0:65535", "0.0.0.0", 65535)}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->host, host);
    EXPECT_EQ(address->port, port);
  }
  for (const char* text : {"", "127.0.0.1", ":9190", "9190", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                           "::1:80", "[127.0.0.1]:80", "example.org:80", "127.0.0.1:80x", "[]:80", "[::1]"}) {
    const auto address = ParseListenAddress(text);
    EXPECT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(Message(address.status())), HasSubstr("127.0.0.1:9190"));
  }
}

TEST(ServerOptions, WritesAnAddressAsItIsRead) {
  EXPECT_EQ(FormatAddress({"127.0.0.1", 80}), "127.0.0.1:80");
  EXPECT_EQ(FormatAddress({"::1", 0}), "[::1]:0");
}

TEST(ServerOptions, KnowsLoopback) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1"}) EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "example", "", "::ffff:127.0.0.1"}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(ServerOptions, RefusesToListenBeyondLoopbackWithoutAsking) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1"}) {
    ServerOptions options;
    options.listen.push_back({host, 0});
    const absl::Status status = options.Check();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(Message(status)),
                testing::AllOf(HasSubstr(host), HasSubstr("operator token"), HasSubstr("openssl rand"),
                               HasSubstr("127.0.0.1")));
    ServerOptions tokens = options;
    tokens.reader_tokens = {kToken};
    EXPECT_TRUE(tokens.Check().ok()) << tokens.Check();
    ServerOptions mutual = options;
    mutual.certificate_file = mutual.key_file = mutual.client_ca_file = "some.pem";
    EXPECT_TRUE(mutual.Check().ok()) << mutual.Check();
    ServerOptions tls_alone = options;
    tls_alone.certificate_file = tls_alone.key_file = "some.pem";
    EXPECT_FALSE(tls_alone.Check().ok());
  }
  EXPECT_TRUE(ServerOptions{}.Check().ok());
}

TEST(ServerOptions, RefusesWhatDoesNotFitTogether) {
  const auto refused = [](auto change, std::string_view why) {
    ServerOptions options;
    change(options);
    EXPECT_THAT(std::string(Message(options.Check())), HasSubstr(std::string(why)));
  };
  refused([](ServerOptions& o) { o.listen.clear(); }, "no address");
  refused([](ServerOptions& o) { o.threads = 0; }, "threads");
  refused([](ServerOptions& o) { o.certificate_file = "c.pem"; }, "key is missing");
  refused([](ServerOptions& o) { o.key_file = "k.pem"; }, "certificate is missing");
  refused([](ServerOptions& o) { o.client_ca_file = "ca.pem"; }, "requires TLS");
  refused([](ServerOptions& o) { o.operator_tokens = {"short"}; }, "at least 16");
  refused([](ServerOptions& o) { o.writer_tokens = {"short"}; }, "at least 16");
  refused([](ServerOptions& o) { o.writer_tokens = o.reader_tokens = {"0123456789abcdef"}; },
          "different tokens for each role");
  refused([](ServerOptions& o) { o.reader_tokens = {"0123456789abcdef\n"}; }, "blanks");
  refused([](ServerOptions& o) { o.listen = {{"example.org", 80}}; }, "IP address");
}

}  // namespace
}  // namespace taut
