#include "server/control/component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/recorded_log.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Records the calls of its functions.
class Recorded final : public Component {
 public:
  Recorded(std::string name, std::vector<std::string_view> after, std::vector<std::string>& acts,
           absl::Status start = absl::OkStatus())
      : name_(std::move(name)), after_(std::move(after)), acts_(acts), start_(std::move(start)) {}

  std::string_view name() const override { return name_; }
  std::span<const std::string_view> after() const override { return after_; }
  absl::Status Start() override {
    acts_.push_back("start " + name_);
    return start_;
  }
  void Collect(MetricsText& out) const override { out.Gauge(name_, "Of a test.", 1); }
  void Warn(std::vector<std::string>& warnings) const override { warnings.push_back(name_ + " is wrong"); }
  void Stop() override { acts_.push_back("stop " + name_); }
  void Save() override { acts_.push_back("save " + name_); }

 private:
  const std::string name_;
  const std::vector<std::string_view> after_;
  std::vector<std::string>& acts_;
  const absl::Status start_;
};

class ComponentListTest : public testing::Test {
 protected:
  void Add(std::string name, std::vector<std::string_view> after, absl::Status start = absl::OkStatus()) {
    list_.Add(std::make_unique<Recorded>(std::move(name), std::move(after), acts_, std::move(start)));
  }
  std::vector<std::string> acts_;
  ComponentList list_;
};

TEST_F(ComponentListTest, EachStartsBehindThoseThatItNamesAndStopsBeforeThem) {
  Add("http", {"quota", "agents", "absent"});
  Add("quota", {});
  Add("agents", {"quota"});
  list_.Add(std::unique_ptr<Recorded>());
  ASSERT_TRUE(list_.Start().ok());
  list_.Stop();
  EXPECT_THAT(acts_, ElementsAre("start quota", "start agents", "start http", "stop http", "stop agents",
                                 "stop quota"));
}

TEST_F(ComponentListTest, TwoThatWaitForEachOtherAreAnError) {
  Add("a", {"b"});
  Add("b", {"a"});
  const absl::Status s = list_.Start();
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(s.message()), HasSubstr("a, b"));
  EXPECT_THAT(acts_, ElementsAre());
}

// A component that has not started saves nothing and writes no metrics.
TEST_F(ComponentListTest, AStartThatFailsEndsTheStartsAndNothingOfItIsShownOrSaved) {
  Add("store", {});
  Add("port", {}, absl::UnavailableError("the address is taken"));
  Add("late", {});
  EXPECT_EQ(list_.Start(), absl::UnavailableError("the address is taken"));
  MetricsText metrics;
  list_.Collect(metrics);
  EXPECT_EQ(metrics.Take(), "# HELP store Of a test.\n# TYPE store gauge\nstore 1\n");
  EXPECT_THAT(list_.Warnings(), ElementsAre("store is wrong"));
  list_.Stop();
  list_.Save();
  EXPECT_THAT(acts_,
              ElementsAre("start store", "start port", "stop late", "stop port", "stop store", "save store"));
}

TEST(Reloading, TakesTheKeysOfASectionThatReloadAndNamesThoseThatNeedARestart) {
  DaemonConfig running, next;
  next.quota.file = "quota.yaml";
  next.quota.default_tier = "batch";
  next.quota.start_within_s = 60;
  next.quota_grpc.key_file = "grpc.key";
  next.agents.tokens_file = "tokens";
  RecordedLog log;
  Reloading reload{.next = next, .running = running, .log = log};
  reload.Take("quota", {"quota"});
  reload.Keep("tokens of agents", {"agents"}, absl::NotFoundError("tokens: no such file"));
  reload.Finish();
  EXPECT_EQ(running.quota.file, "quota.yaml");
  EXPECT_EQ(running.quota.default_tier, "batch");
  EXPECT_EQ(running.quota.start_within_s, DaemonConfig().quota.start_within_s);
  EXPECT_EQ(running.quota_grpc.key_file, "") << "a section of its own";
  EXPECT_THAT(log.lines(),
              ElementsAre(HasSubstr("reload_failed what=\"tokens of agents\" error=\"tokens: no such file\""),
                          HasSubstr("configuration_reloaded taken=quota"),
                          HasSubstr("restart_needed key=quota.start_within"),
                          HasSubstr("restart_needed key=quota.grpc.tls.key")));
}

}  // namespace
}  // namespace taut::server
