// Tests of the contracts of node/docker against a real Docker engine. They are skipped with a message if no
// engine can run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <map>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/testing/eventually.h"
#include "node/cgroup/cgroup.h"
#include "node/docker/docker_finder.h"
#include "node/docker/real_engine.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr int kPatienceMs = 20'000;
constexpr std::optional<double> kNone;
// A command that ends by itself, in case the test does not remove the container.
constexpr char kSleep[] = "exec /bin/busybox sleep 120";
// Holds memory that the kernel cannot reclaim: files of a tmpfs, without swap.
std::string Hold(int mib) {
  return StrCat("/bin/busybox dd if=/dev/zero of=/dev/shm/x bs=1M count=", mib, "; ", kSleep);
}

class DockerEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::optional<std::string> why = RealEngine::WhyNot(); why.has_value()) GTEST_SKIP() << *why;
    engine_ = std::make_unique<RealEngine>();
    DockerFinderOptions options;
    options.engine.address = "unix://" + engine_->socket_path();
    options.engine.timeout = std::chrono::seconds(30);  // a slow response of a busy machine is not a failure
    options.host = "h1";
    TaskRule rule;
    rule.source = TaskSource::kDocker;
    rule.match = "*";
    options.rules = {rule};
    finder_ = *DockerFinder::Create(std::move(options));
    ASSERT_TRUE(WaitForEvents());
    (void)finder_->TakeEvents();
    mounts_ = *ReadCgroupMounts();
  }

  bool WaitForEvents() const {
    pollfd p{finder_->wakeup().fd, POLLIN, 0};
    return poll(&p, 1, kPatienceMs) > 0;
  }
  // Waits for an event of this kind and container. Adds all received events to seen_.
  bool WaitForEvent(TaskEvent::Kind kind, const std::string& id) {
    while (WaitForEvents()) {
      for (TaskEvent& e : finder_->TakeEvents()) {
        seen_.push_back(e);
        if (e.kind == kind && e.identity == DockerIdentity(id)) return true;
      }
    }
    return false;
  }
  std::unique_ptr<TaskGroup> Open(const std::string& id) {
    FoundTask found;
    found.identity = DockerIdentity(id);
    auto out = finder_->Open(found);
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? *std::move(out) : nullptr;
  }
  // Returns the kernel's limits, read without node/docker.
  TaskLimits KernelLimits(const std::string& id) const {
    const auto group = OpenCgroup(mounts_, engine_->CgroupOf(id));
    if (!group.ok()) ADD_FAILURE() << group.status();
    return group.ok() ? *(*group)->ReadLimits() : TaskLimits{};
  }
  // Waits until a container uses this much memory.
  static bool WaitForUse(TaskGroup& task, double bytes) {
    TaskReading reading;
    return Eventually([&] {
      return task.Read(ReadDepth::kAll, reading).ok() &&
             static_cast<double>(reading.memory_bytes.value_or(0)) >= bytes;
    });
  }

  std::unique_ptr<RealEngine> engine_;
  std::unique_ptr<DockerFinder> finder_;
  CgroupMounts mounts_;
  std::vector<TaskEvent> seen_;
};

TEST_F(DockerEngineTest, ContainersAreFoundAndMeasured) {
  const std::string web =
      engine_->Run("shop_web_1", Hold(20), "\"Memory\":67108864,\"NanoCpus\":500000000",
                   R"("com.docker.compose.project":"shop","com.docker.compose.service":"web")");
  const std::string plain = engine_->Run("plain", kSleep);
  const auto found = finder_->Find();
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2U);
  std::map<std::string, FoundTask> tasks;
  for (const FoundTask& f : *found) tasks[f.identity] = f;
  EXPECT_EQ(tasks.at(DockerIdentity(web)).job, "docker/shop/web");
  EXPECT_EQ(tasks.at(DockerIdentity(web)).task, "h1/shop_web_1");
  EXPECT_THAT(
      tasks.at(DockerIdentity(web)).labels,
      ElementsAre(Pair("compose_project", "shop"), Pair("compose_service", "web"), Pair("image", "bb:1")));
  EXPECT_EQ(tasks.at(DockerIdentity(plain)).job, "docker/plain");

  const auto task = Open(web);
  ASSERT_NE(task, nullptr);
  EXPECT_TRUE(WaitForUse(*task, 20 * kMiB));
  TaskReading reading;
  ASSERT_TRUE(task->Read(ReadDepth::kAll, reading).ok());
  EXPECT_LT(*reading.memory_bytes, uint64_t{64} << 20);
  EXPECT_GT(reading.cpu_usage_us.value_or(0), 0U);
  const auto limits = task->ReadLimits();
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(limits->memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(limits->cpu_max_cores, 0.5);
  const auto free = Open(plain)->ReadLimits();
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_FALSE(free->memory_max_bytes.has_value());
  EXPECT_FALSE(free->cpu_max_cores.has_value());
}

TEST_F(DockerEngineTest, LimitsGoUpAndDownAndAway) {
  const std::map<std::string, std::string> configs = {
      {"cpus", "\"Memory\":67108864,\"MemorySwap\":67108864,\"NanoCpus\":500000000"},
      {"quota", "\"Memory\":67108864,\"MemorySwap\":100663296,\"CpuQuota\":25000,\"CpuPeriod\":50000"},
      {"swapless", "\"Memory\":67108864,\"MemorySwap\":-1,\"CpuShares\":512"},
      {"free", ""}};
  std::chrono::steady_clock::duration spent{};
  int updates = 0;
  for (const auto& [name, config] : configs) {
    SCOPED_TRACE(name);
    const std::string id = engine_->Run(name, kSleep, config);
    const auto task = Open(id);
    ASSERT_NE(task, nullptr);
    const auto before = task->ReadLimits();
    ASSERT_TRUE(before.ok()) << before.status();
    const auto set = [&](LimitKind kind, std::optional<double> value, double rounding) {
      const auto start = std::chrono::steady_clock::now();
      const absl::Status status = task->SetLimit(kind, value);
      spent += std::chrono::steady_clock::now() - start;
      ++updates;
      EXPECT_TRUE(status.ok()) << Name(kind) << " " << value.value_or(-1) << ": " << status;
      const std::optional<double> read = task->ReadLimits()->of(kind);
      EXPECT_EQ(read.has_value(), value.has_value());
      if (!value.has_value() || !read.has_value()) return;
      EXPECT_NEAR(*read, *value, rounding);
      EXPECT_NEAR(KernelLimits(id).of(kind).value_or(-1), *value, rounding + 1);
    };
    for (const double mib : {128.0, 32.0, 96.5}) set(LimitKind::kMemoryMax, mib * kMiB, 4096);
    for (const double cores : {0.75, 0.1, 1.5}) set(LimitKind::kCpuMax, cores, 0.01);
    for (const double weight : {200.0, 1.0, 10'000.0}) set(LimitKind::kCpuWeight, weight, 1);
    set(LimitKind::kMemoryMax, kNone, 0);
    set(LimitKind::kCpuMax, kNone, 0);
    EXPECT_TRUE(task->SetLimit(LimitKind::kCpuWeight, kNone).ok());
    EXPECT_TRUE(absl::IsUnimplemented(task->SetLimit(LimitKind::kMemoryHigh, kMiB)));
    // Docker requires 6 MB.
    EXPECT_TRUE(absl::IsInvalidArgument(task->SetLimit(LimitKind::kMemoryMax, kMiB)));
    // Restores the owner's values.
    for (const LimitKind kind : {LimitKind::kMemoryMax, LimitKind::kCpuMax, LimitKind::kCpuWeight}) {
      const absl::Status status = task->SetLimit(kind, before->of(kind));
      EXPECT_TRUE(status.ok()) << status;
    }
    const auto after = task->ReadLimits();
    EXPECT_EQ(after->memory_max_bytes, before->memory_max_bytes);
    EXPECT_EQ(after->cpu_max_cores, before->cpu_max_cores);
    EXPECT_NEAR(*after->cpu_weight, *before->cpu_weight, 1);
    const std::string details = engine_->Ask("GET", StrCat("/containers/", id, "/json"));
    const std::string swap = name == "cpus" ? "67108864" : name == "quota" ? "100663296" : "-1";
    EXPECT_THAT(details, HasSubstr(StrCat("\"MemorySwap\":", swap)));
  }
  const double ms = std::chrono::duration<double, std::milli>(spent).count() / updates;
  RecordProperty("set_limit_ms", StrCat(ms));
}

TEST_F(DockerEngineTest, MemoryInUseIsNotTakenAway) {
  const std::string id = engine_->Run("holder", Hold(30), "\"Memory\":104857600");
  const auto task = Open(id);
  ASSERT_NE(task, nullptr);
  ASSERT_TRUE(WaitForUse(*task, 30 * kMiB));
  const absl::Status status = task->SetLimit(LimitKind::kMemoryMax, 20 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(task->ReadLimits()->memory_max_bytes, 100 * kMiB);
  EXPECT_TRUE(task->SetLimit(LimitKind::kMemoryMax, 50 * kMiB).ok());
}

TEST_F(DockerEngineTest, EventsTellOfOomKillsAndEnds) {
  // The container grows above its limit a second after its start.
  const std::string id = engine_->Run(
      "grower", "/bin/busybox sleep 1; exec /bin/busybox dd if=/dev/zero of=/dev/shm/x bs=1M count=40",
      "\"Memory\":20971520");
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kStarted, id));
  auto task = Open(id);
  ASSERT_NE(task, nullptr);
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kOomKill, id));
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kGone, id));
  TaskReading reading;
  EXPECT_TRUE(absl::IsNotFound(task->Read(ReadDepth::kUsage, reading)));
  EXPECT_TRUE(absl::IsNotFound(task->SetLimit(LimitKind::kMemoryMax, 60 * kMiB)));
  EXPECT_TRUE(finder_->Find()->empty());

  // A stopped container can get a higher memory limit. After a start it has a new cgroup and the same identity.
  const absl::Status raised = finder_->SetStoppedMemory(DockerIdentity(id), 60 * kMiB);
  EXPECT_TRUE(raised.ok()) << raised;
  engine_->Ask("POST", StrCat("/containers/", id, "/start"));
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kStarted, id));
  EXPECT_TRUE(absl::IsNotFound(task->Read(ReadDepth::kUsage, reading)));
  task = Open(id);
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(KernelLimits(id).memory_max_bytes, 60 * kMiB);
  seen_.clear();
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kGone, id));  // the container ends after it has written 40 MiB
  for (const TaskEvent& e : seen_) EXPECT_NE(e.kind, TaskEvent::Kind::kOomKill);
}

TEST_F(DockerEngineTest, AnEngineThatRestartsIsFoundAgain) {
  const std::string id = engine_->Run("stays", kSleep, "\"Memory\":67108864");
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kStarted, id));
  const auto task = Open(id);
  ASSERT_NE(task, nullptr);
  engine_->Stop();
  TaskReading reading;
  EXPECT_TRUE(task->Read(ReadDepth::kUsage, reading).ok()) << "usage does not need the engine";
  const absl::Status away = finder_->Find().status();
  EXPECT_TRUE(absl::IsUnavailable(away)) << away;
  EXPECT_THAT(std::string(Message(away)), HasSubstr(engine_->socket_path()));
  EXPECT_TRUE(absl::IsUnavailable(task->SetLimit(LimitKind::kMemoryMax, 80 * kMiB)));
  (void)finder_->TakeEvents();
  engine_->Start();
  EXPECT_TRUE(WaitForEvents()) << "the stream that begins anew must wake";
  (void)finder_->TakeEvents();
  const auto found = finder_->Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->size(), 1U);
  const absl::Status set = task->SetLimit(LimitKind::kMemoryMax, 80 * kMiB);
  EXPECT_TRUE(set.ok()) << set;
  engine_->Ask("POST", StrCat("/containers/", id, "/kill"));
  EXPECT_TRUE(WaitForEvent(TaskEvent::Kind::kGone, id));
}

}  // namespace
}  // namespace taut::node
