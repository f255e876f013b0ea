// For tests: an HTTP server that answers taut's requests with given responses, and records the requests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/net/http_server.h"
#include "tools/cli/json_text.h"
#include "tools/cli/run_taut.h"

namespace taut::tools {

class FakeTautd {
 public:
  FakeTautd() {
    ServerOptions options;
    options.threads = 1;
    auto server = HttpServer::Start(options, [this](const HttpRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.status();
    if (server.ok()) server_ = *std::move(server);
  }

  std::string url() const { return StrCat("http://127.0.0.1:", server_->port()); }
  // Sets the response to requests of a method and path, such as "GET /api/v1/status". Other requests result in 404.
  void Set(const std::string& request, HttpResponse response) {
    const std::lock_guard lock(mutex_);
    responses_[request] = std::move(response);
  }
  void Set(const std::string& request, const Json& json) { Set(request, JsonResponse(200, json.dump())); }
  // Sets a function that answers requests without a response of Set(); nullopt results in 404.
  void SetHandler(std::function<std::optional<HttpResponse>(const HttpRequest&)> handler) {
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
  }
  // Returns the requests so far, such as "GET /api/v1/jobs?limit=30", with the body after a blank.
  std::vector<std::string> Requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::string LastRequest() const {
    const std::vector<std::string> all = Requests();
    return all.empty() ? "" : all.back();
  }

  // Runs a command line that queries this server. A word may contain no blank.
  Ran Run(std::string_view line) const { return RunTaut(StrCat(line, " --server ", url())); }
  Ran Run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--server", url()});
    return RunTaut(std::move(words));
  }

 private:
  HttpResponse Answer(const HttpRequest& request) {
    const std::string name = StrCat(request.method, " ", request.path);
    const std::lock_guard lock(mutex_);
    requests_.push_back(
        StrCat(name, FormatQuery(request.query), request.body.empty() ? "" : " ", request.body));
    const auto it = responses_.find(name);
    if (it != responses_.end()) return it->second;
    if (handler_) {
      if (std::optional<HttpResponse> response = handler_(request)) return *std::move(response);
    }
    return ErrorResponse(404, StrCat("nothing at ", request.path));
  }

  mutable std::mutex mutex_;
  std::map<std::string, HttpResponse> responses_;
  std::function<std::optional<HttpResponse>(const HttpRequest&)> handler_;
  std::vector<std::string> requests_;
  std::unique_ptr<HttpServer> server_;  // the last member: it calls Answer() until it is destroyed
};

}  // namespace taut::tools
