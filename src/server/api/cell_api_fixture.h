// A small cell behind the API, for tests: jobs of two groups, callers of each role, and a store in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/histogram/grid.h"
#include "common/json/json_tree.h"
#include "common/model/labels.h"
#include "server/api/api_fixture.h"
#include "server/control/component_fixture.h"
#include "server/pool/quota_service.h"
#include "server/store/in_memory_request_log.h"

namespace taut::server {

// A response with its parsed body. The root is none if the body is not JSON.
struct ApiAnswer {
  int status = 0;
  std::string body;
  std::shared_ptr<JsonTree> tree = std::make_shared<JsonTree>();

  JsonNode operator[](std::string_view key) const { return tree->root()[key]; }
};

inline ApiAnswer AnswerIn(const HttpResponse& response) {
  ApiAnswer out{.status = response.status, .body = std::string(response.text())};
  (void)out.tree->Parse(out.body);
  return out;
}

inline std::vector<JsonNode> ItemsIn(JsonNode array) {
  std::vector<JsonNode> out;
  array.ForEachItem([&out](JsonNode item) { out.push_back(item); });
  return out;
}

// Returns the text `key` of each item; the item itself if `key` is empty.
inline std::vector<std::string> TextsIn(JsonNode array, std::string_view key = "") {
  std::vector<std::string> out;
  for (const JsonNode item : ItemsIn(array))
    out.emplace_back((key.empty() ? item : item[key]).text().value_or("(no text)"));
  return out;
}

class CellApi : public ComponentTest {
 protected:
  struct Job {
    std::string name, team;
    float cores = 1, bytes = 1e9F;
    float cpu_limit = kAbsent, memory_limit = kAbsent;
    int tasks = 1;
  };
  // Returns a quota for CPU with two groups below a cohort.
  static brain::QuotaSpec Groups() {
    return {{{"pool"},
             {"shop", "pool", {{"production", "cpu", 10'000}}},
             {"media", "pool", {{"production", "cpu", 4000}}}}};
  }
  static std::vector<Job> TwoTeams() {
    return {{.name = "shop/web", .team = "shop", .cores = 2, .bytes = 4e9F, .cpu_limit = 4, .tasks = 3},
            {.name = "shop/db", .team = "shop", .cores = 0.5F, .memory_limit = 8e9F},
            {.name = "media/encode", .team = "media", .cores = 3, .cpu_limit = 4, .memory_limit = 2e9F}};
  }

  CellApi() {
    QuotaService::Options options;
    options.groups = {.group = "{team}", .tier = "", .default_tier = "production"};
    options.log = &requests_;
    options.now = [this] { return now(); };
    quota_ = *QuotaService::Open(Groups(), options);
    parts_.steady_s = [] { return 0.0; };
    Serve();
  }
  // Creates a new router with the routes that `add` adds, followed by all other routes.
  void Serve(const std::function<void(const FleetAccess&, RouteTable&)>& add = {}) {
    access_ = std::make_unique<FleetAccess>(
        context_, FleetAccess::Parts{.quota = quota_.get(), .prices = prices_, .machine = {.of = {8, 32e9}}});
    RouteTable table, all = RoutesOf(*access_, parts_);
    if (add) add(*access_, table);
    for (const Route& route : all.routes()) table.Add(route.method, route.path, route.act, route.handler);
    for (const RouteTable::OpenHandler& open : all.open()) table.AddOpen({}, open);
    router_ = std::make_unique<Router>(*access_, std::move(table), Router::Parts{});
  }
  // Reports and closes the next window with these jobs. Each task uses the cores and bytes of its job.
  void Close(const std::vector<Job>& jobs) {
    now_s_ += kWindowSeconds;
    for (const Job& job : jobs) {
      ReportedWindow report;
      report.window = WindowId{WindowId::Of(now()).index - 1};
      report.figures.cpu_mean_cores = report.figures.cpu_peak_cores = job.cores;
      report.figures.memory_mean_bytes = report.figures.memory_peak_bytes = job.bytes;
      report.cpu_buckets = {{Grid::Cpu().BucketOf(job.cores), static_cast<float>(kWindowSeconds)}};
      report.cpu_limit_cores = job.cpu_limit;
      report.memory_limit_bytes = job.memory_limit;
      const LabelView team{"team", job.team};
      for (int t = 0; t < job.tasks; ++t) {
        const std::string task = StrCat("t", t);
        EXPECT_TRUE(
            control_.agents()
                .TakeWindow({job.name, task, std::span(&team, job.team.empty() ? 0 : 1)}, report, now())
                .ok())
            << job.name;
      }
    }
    EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(now_s_ + 121)).ok());
    quota_->OnWindow(*control_.view());
  }
  JobId IdOf(std::string_view job) const {
    const std::optional<JobId> id = control_.Find(job);
    EXPECT_TRUE(id.has_value()) << job;
    return id.value_or(JobId{});
  }

  static HttpRequest Caller(Role role, std::string user = "anna") {
    HttpRequest out;
    out.role = role;
    out.user = std::move(user);
    return out;
  }
  static HttpRequest In(std::string group, GroupRole as) {
    HttpRequest out = Caller(Role::kGroup, "mia");
    out.bindings = std::make_shared<const GroupBindings>(GroupBindings{{std::move(group), as}});
    return out;
  }
  HttpResponse Handle(HttpRequest caller, std::string_view method, std::string_view target,
                      std::string body = "") const {
    auto parsed = ParseTarget(target);
    EXPECT_TRUE(parsed.has_value()) << target;
    if (!parsed.has_value()) return {};
    caller.method = method;
    caller.path = parsed->path;
    caller.segments = parsed->segments;
    caller.query = parsed->query;
    caller.body = std::move(body);
    return router_->Handle(caller);
  }
  ApiAnswer Ask(HttpRequest caller, std::string_view method, std::string_view target,
                std::string body = "") const {
    return AnswerIn(Handle(std::move(caller), method, target, std::move(body)));
  }
  ApiAnswer Get(std::string_view target, HttpRequest caller = Caller(Role::kOperator)) const {
    return Ask(std::move(caller), "GET", target);
  }
  // Expects that each target is refused with this status and an error.
  void ExpectRefused(int status, const std::vector<std::string>& targets,
                     const HttpRequest& caller = Caller(Role::kOperator)) const {
    for (const std::string& target : targets) {
      const ApiAnswer answer = Get(target, caller);
      EXPECT_EQ(answer.status, status) << target << answer.body;
      EXPECT_FALSE(answer["error"].text().value_or("").empty()) << target << answer.body;
    }
  }

  Prices prices_;
  ApiParts parts_;
  InMemoryRequestLog requests_;
  std::unique_ptr<QuotaService> quota_;
  std::unique_ptr<FleetAccess> access_;
  std::unique_ptr<Router> router_;
};

}  // namespace taut::server
