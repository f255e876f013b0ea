// For tests: a server on a free port of loopback, and what it is asked with.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "common/base/strings.h"
#include "common/net/http_client.h"
#include "common/net/http_server.h"

namespace taut {

class ServerFixture : public testing::Test {
 protected:
  // Says what it was asked.
  static HttpResponse Echo(const HttpRequest& r) {
    std::string out = StrCat(r.method, " ", r.path, "\n");
    for (const std::string& s : r.segments) StrAppend(&out, "segment ", s, "\n");
    for (const QueryParameter& p : r.query) StrAppend(&out, "query ", p.name, "=", p.value, "\n");
    return TextResponse(200, out + r.body);
  }

  void Serve(const ServerOptions& options, HttpServer::Handler handler = Echo) {
    auto server = HttpServer::Start(options, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }
  uint16_t port() const { return server_->port(); }
  std::unique_ptr<HttpClient> Client(const ClientOptions& options = {}, std::string_view scheme = "http") {
    auto client = HttpClient::Create(StrCat(scheme, "://127.0.0.1:", port()), options);
    EXPECT_TRUE(client.ok()) << client.status();
    return std::move(*client);
  }
  // Waits, at most long enough to be sure that it never will be.
  template <typename Condition>
  static bool Eventually(const Condition& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::unique_ptr<HttpServer> server_;
};

}  // namespace taut
