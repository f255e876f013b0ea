// For tests: a server on a free loopback port, and clients for it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/base/strings.h"
#include "common/net/http_client.h"
#include "common/net/http_server.h"
#include "common/testing/eventually.h"

namespace taut {

class ServerFixture : public testing::Test {
 protected:
  // A handler that returns the parts of the request as text.
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

  std::unique_ptr<HttpServer> server_;
};

}  // namespace taut
