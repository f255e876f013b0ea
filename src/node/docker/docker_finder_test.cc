#include "node/docker/docker_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "node/docker/fake_engine.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TaskRule Rule(std::string match, std::string job = "", std::string task = "") {
  TaskRule out;
  out.source = TaskSource::kDocker;
  out.match = std::move(match);
  out.job = std::move(job);
  out.task = std::move(task);
  return out;
}

const ContainerSummary kWeb{
    .id = "4f5e00000000000000",
    .name = "shop-web-1",
    .image = "nginx:1.25",
    .labels = {
        {"com.docker.compose.project", "shop"}, {"com.docker.compose.service", "web"}, {"team", "blue"}}};
const ContainerSummary kCron{.id = "77", .name = "cron", .image = "bb:1", .labels = {}};

std::string NameOf(const std::vector<TaskRule>& rules, const ContainerSummary& container) {
  const auto found = ContainerNamer::Create(rules, "h1")->Name(container);
  return found.has_value() ? StrCat(found->job, " ", found->task, " ", found->rule) : "";
}

TEST(ContainerNamer, NamesByTemplates) {
  EXPECT_EQ(NameOf({Rule("*")}, kWeb), "docker/shop/web h1/shop-web-1 0");
  EXPECT_EQ(NameOf({Rule("*")}, kCron), "docker/cron h1/cron 0");
  EXPECT_EQ(NameOf({Rule("*", "{label.team}/{image}", "{host}:{id}")}, kWeb),
            "blue/nginx:1.25 h1:4f5e00000000 0");
  EXPECT_EQ(NameOf({Rule("*", "{label.com.docker.compose.service|name}", "{name}")}, kCron), "cron cron 0");
  // If a rule yields no name for a container, the next rule applies.
  EXPECT_EQ(NameOf({Rule("*", "{label.team}"), Rule("cr*", "jobs/{name}")}, kCron), "jobs/cron h1/cron 1");
  EXPECT_EQ(NameOf({Rule("web")}, kCron), "");
  // FoundTask::rule also counts the rules of other sources.
  EXPECT_EQ(NameOf({TaskRule{}, Rule("shop-*|cron")}, kCron), "docker/cron h1/cron 1");
}

TEST(ContainerNamer, LabelsSayWhereItComesFrom) {
  const auto namer = ContainerNamer::Create({Rule("*")}, "h1");
  EXPECT_THAT(namer->Name(kWeb)->labels,
              ElementsAre(Pair("compose_project", "shop"), Pair("compose_service", "web"),
                          Pair("image", "nginx:1.25")));
  EXPECT_THAT(namer->Name(kCron)->labels, ElementsAre(Pair("image", "bb:1")));
  EXPECT_EQ(namer->Name(kWeb)->identity, "docker:4f5e00000000000000");
}

TEST(ContainerNamer, SaysWhichTemplateIsWrong) {
  TaskRule bad = Rule("*", "docker/{name");
  const auto status = ContainerNamer::Create({Rule("*"), bad}, "h1").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("rule 2: job 'docker/{name'"));
  EXPECT_TRUE(absl::IsInvalidArgument(ContainerNamer::Create({Rule("*")}, "").status()));
}

// Simulates the kernel: a cgroup that the engine's updates change.
struct FakeKernel {
  TaskLimits limits;
  TaskReading reading;
};

class FakeCgroup final : public TaskGroup {
 public:
  FakeCgroup(FakeEngine* engine, std::shared_ptr<FakeKernel> kernel)
      : engine_(engine), kernel_(std::move(kernel)) {}
  absl::Status Read(ReadDepth, TaskReading& out) override {
    out = engine_->Locked([this] { return kernel_->reading; });
    return absl::OkStatus();
  }
  absl::StatusOr<TaskLimits> ReadLimits() override {
    return engine_->Locked([this] { return kernel_->limits; });
  }
  absl::Status SetLimit(LimitKind, std::optional<double>) override {
    ADD_FAILURE() << "a limit was written behind the engine's back";
    return absl::OkStatus();
  }

 private:
  FakeEngine* const engine_;  // changes the kernel in its own thread
  const std::shared_ptr<FakeKernel> kernel_;
};

// One container of an engine, and a finder that reads it.
class DockerTaskTest : public ::testing::Test {
 protected:
  DockerTaskTest() : engine_([this](const FakeRequest& r) { return Answer(r); }) {
    std::filesystem::create_directories(engine_.dir() / "proc/42");
    std::ofstream(engine_.dir() / "proc/42/cgroup") << "4:memory:/docker/c8a8\n0::/docker/c8a8\n";
    DockerFinderOptions options;
    options.engine.address = engine_.socket_path();
    options.host = "h1";
    options.rules = {Rule("*")};
    options.proc_dir = (engine_.dir() / "proc").string();
    options.open_cgroup = [this](std::string_view path) -> absl::StatusOr<std::unique_ptr<TaskGroup>> {
      EXPECT_EQ(path, "/docker/c8a8");
      return std::make_unique<FakeCgroup>(&engine_, kernel_);
    };
    finder_ = *DockerFinder::Create(std::move(options));
  }

  FakeAnswer Answer(const FakeRequest& r) {
    if (r.path == "/version") return {.body = R"({"ApiVersion":"1.41"})"};
    if (r.path.starts_with("/events")) return {.stays_open = true};
    if (r.path == "/v1.41/info") return {.body = R"({"NCPU":4})"};
    if (r.path == "/v1.41/containers/json") {
      return {
          .body =
              R"([{"Id":"c8a8","Names":["/web"],"Image":"bb:1"},{"Id":"0011","Names":["/db"],"Image":"bb:1"}])"};
    }
    if (r.path == "/v1.41/containers/c8a8/json") {
      return {.body = StrCat(R"({"Id":"c8a8","State":{"Running":)", is_running_, R"(,"Pid":42,"StartedAt":")",
                             started_at_, R"("},"HostConfig":{)", host_config_, "}}")};
    }
    if (r.path == "/v1.41/containers/c8a8/update") {
      updates_.push_back(r.body);
      if (update_status_ != 200) is_running_ = is_running_after_failure_;
      if (on_update_) on_update_();
      return {.status = update_status_, .body = update_answer_};
    }
    return {.status = 404, .body = R"({"message":"No such container"})"};
  }

  absl::StatusOr<std::unique_ptr<TaskGroup>> OpenIt(std::string identity) {
    FoundTask found;
    found.identity = std::move(identity);
    return finder_->Open(found);
  }
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open() { return OpenIt("docker:c8a8"); }

  template <typename F>
  void Change(const F& fn) {
    engine_.Locked(fn);
  }
  std::vector<std::string> Updates() {
    return engine_.Locked([this] { return updates_; });
  }

  // The engine's thread reads the following members, so tests access them under the engine's lock.
  bool is_running_ = true, is_running_after_failure_ = true;
  std::string started_at_ = "then", host_config_ = R"("Memory":1000000,"MemorySwap":1000000)";
  int update_status_ = 200;
  std::string update_answer_ = R"({"Warnings":null})";
  std::function<void()> on_update_;
  std::vector<std::string> updates_;
  std::shared_ptr<FakeKernel> kernel_ = std::make_shared<FakeKernel>();
  FakeEngine engine_;
  std::unique_ptr<DockerFinder> finder_;
};

TEST_F(DockerTaskTest, IsFoundInOrder) {
  const auto found = finder_->Find();
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].identity, "docker:0011");
  EXPECT_EQ((*found)[1].identity, "docker:c8a8");
  EXPECT_EQ((*found)[1].task, "h1/web");
}

TEST_F(DockerTaskTest, IsMeasuredThroughItsCgroup) {
  Change([&] { kernel_->reading.memory_bytes = 77; });
  const auto task = Open();
  ASSERT_TRUE(task.ok()) << task.status();
  TaskReading reading;
  ASSERT_TRUE((*task)->Read(ReadDepth::kUsage, reading).ok());
  EXPECT_EQ(reading.memory_bytes, 77U);
  // Readings work even while the engine does not answer.
  engine_.Stop();
  EXPECT_TRUE((*task)->Read(ReadDepth::kUsage, reading).ok());
  EXPECT_TRUE(absl::IsUnavailable((*task)->SetLimit(LimitKind::kCpuMax, 1)));
}

TEST_F(DockerTaskTest, OnlyWhatRunsIsOpened) {
  EXPECT_TRUE(absl::IsNotFound(OpenIt("docker:ffff").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(OpenIt("cgroup:/x#1").status()));
  Change([&] { is_running_ = false; });
  EXPECT_TRUE(absl::IsNotFound(Open().status()));
}

TEST_F(DockerTaskTest, LimitsAreTheOwnersWhereTheKernelAgrees) {
  Change([&] { host_config_ = R"("Memory":100000001,"MemorySwap":-1,"NanoCpus":500000000)"; });
  Change([&] { kernel_->limits.memory_max_bytes = 99'999'744; });
  Change([&] { kernel_->limits.cpu_max_cores = 0.5; });
  Change([&] { kernel_->limits.cpu_weight = 39; });
  const auto task = Open();
  const auto limits = (*task)->ReadLimits();
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(limits->memory_max_bytes, 100'000'001);
  EXPECT_EQ(limits->cpu_max_cores, 0.5);
  EXPECT_EQ(limits->cpu_weight, 39);
  // Another program sets this limit without the engine.
  Change([&] { kernel_->limits.memory_max_bytes = 5e6; });
  EXPECT_EQ((*task)->ReadLimits()->memory_max_bytes, 5e6);
}

TEST_F(DockerTaskTest, ALimitIsSetByTheEngineAndSeenInBoth) {
  const auto task = Open();
  Change([this] {
    on_update_ = [this] {
      host_config_ = R"("Memory":8000000,"MemorySwap":8000000)";
      kernel_->limits.memory_max_bytes = 8'000'000 / 4096 * 4096;
    };
  });
  const absl::Status status = (*task)->SetLimit(LimitKind::kMemoryMax, 8e6);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(Updates(), ElementsAre(R"({"Memory":8000000,"MemorySwap":8000000})"));
}

TEST_F(DockerTaskTest, ALimitThatIsNotThereAfterwardsIsAnError) {
  const auto task = Open();
  Change([&] { kernel_->limits.memory_max_bytes = 999'424; });
  absl::Status status = (*task)->SetLimit(LimitKind::kMemoryMax, 8e6);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  Change([this] { on_update_ = [this] { host_config_ = R"("Memory":8000000,"MemorySwap":8000000)"; }; });
  status = (*task)->SetLimit(LimitKind::kMemoryMax, 8e6);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("the kernel 999424"));
}

TEST_F(DockerTaskTest, WhatTheEngineRefusesIsPassedOn) {
  const auto task = Open();
  Change([&] { update_status_ = 500; });
  Change([&] { update_answer_ = R"x({"message":"unable to set memory limit to 1 (current usage: 2)"})x"; });
  EXPECT_TRUE(absl::IsResourceExhausted((*task)->SetLimit(LimitKind::kMemoryMax, 8e6)));
  EXPECT_TRUE(absl::IsUnimplemented((*task)->SetLimit(LimitKind::kMemoryHigh, 8e6)));
  // For a container that has just ended, every error of the engine becomes NotFound.
  Change([&] { is_running_after_failure_ = false; });
  EXPECT_TRUE(absl::IsNotFound((*task)->SetLimit(LimitKind::kMemoryMax, 8e6)));
}

TEST_F(DockerTaskTest, OnCgroupV2NothingIsKilledToShrink) {
  std::ofstream(engine_.dir() / "proc/42/cgroup") << "0::/docker/c8a8\n";
  Change([&] { kernel_->reading.memory_bytes = 9'000'000; });
  Change([&] { kernel_->reading.memory_working_set_bytes = 7'000'000; });
  const auto task = Open();
  const absl::Status status = (*task)->SetLimit(LimitKind::kMemoryMax, 6'999'999);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(Updates().empty());
}

TEST_F(DockerTaskTest, AnotherLifeOfTheContainerIsAnotherGroup) {
  const auto task = Open();
  Change([&] { started_at_ = "later"; });
  EXPECT_TRUE(absl::IsNotFound((*task)->SetLimit(LimitKind::kMemoryMax, 8e6)));
  Change([&] { started_at_ = "then"; });  // a DockerTask that detected the restart stays unusable
  EXPECT_TRUE(absl::IsNotFound((*task)->ReadLimits().status()));
  EXPECT_TRUE(Updates().empty());
  EXPECT_TRUE(Open().ok());
}

TEST_F(DockerTaskTest, AStoppedContainerGetsItsNextLimit) {
  EXPECT_TRUE(absl::IsFailedPrecondition(finder_->SetStoppedMemory("docker:c8a8", 8e6)));
  Change([&] { is_running_ = false; });
  Change([this] { on_update_ = [this] { host_config_ = R"("Memory":8000000,"MemorySwap":8000000)"; }; });
  const absl::Status status = finder_->SetStoppedMemory("docker:c8a8", 8e6);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(Updates(), ElementsAre(R"({"Memory":8000000,"MemorySwap":8000000})"));
}

}  // namespace
}  // namespace taut::node
