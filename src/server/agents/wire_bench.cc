// Benchmarks of one stream over loopback, with server and agent in one process.
#include <benchmark/benchmark.h>

#include <atomic>

#include "node/agent/message_queue.h"
#include "server/agents/wire_fixture.h"

namespace taut::server {
namespace {

class Counter final : public AgentListener {
 public:
  void OnConnect(SessionId session, const v1::FromAgent&, const std::string&) override { session_ = session; }
  void OnMessage(SessionId session, const v1::FromAgent& message) override {
    const uint64_t count = ++count_;
    if (message.sequence() > 0 && count % 64 == 0) server_->Send(session, AckOf(message.sequence()));
  }
  void OnDisconnect(SessionId) override {}
  std::atomic<uint64_t> count_{0};
  std::atomic<SessionId> session_{0};
  AgentServer* server_ = nullptr;
};

v1::FromAgent WindowOfTasks(int64_t tasks) {
  v1::FromAgent out = Window(1);
  for (int64_t i = 0; i < tasks; ++i) {
    v1::TaskWindow* task = out.mutable_windows()->add_tasks();
    task->mutable_name()->set_job(StrCat("team/service-", i));
    task->mutable_name()->set_task(StrCat("service-", i, "-0"));
    task->set_cpu_mean_cores(1);
    task->set_memory_peak_bytes(1e9F);
    for (uint32_t bucket = 100; bucket < 120; ++bucket) {
      task->add_cpu_buckets(bucket);
      task->add_cpu_seconds(15);
    }
  }
  return out;
}

// Sends messages of range(0) tasks each. If range(1) is set, messages are kept on disk (in /dev/shm).
void BM_Stream(benchmark::State& state) {
  const node::Keep keep = state.range(1) != 0 ? node::Keep::kUntilAcknowledged : node::Keep::kNo;
  Counter counter;
  auto server = AgentServer::Start(AnyPort(), &counter);
  if (!server.ok()) return state.SkipWithError("no server");
  counter.server_ = server->get();
  const TempDir dir{TempDir::Where::kMemory};
  node::UplinkOptions options = To((*server)->port());
  options.queue_path = dir.File("queue");
  auto uplink = node::ConnectUplink(options);
  if (!uplink.ok() || !Eventually([&] { return (*uplink)->status().connected; })) {
    return state.SkipWithError("no uplink");
  }
  const v1::FromAgent message = WindowOfTasks(state.range(0));
  constexpr uint64_t kBatch = 256;
  uint64_t sent = 0;
  for (auto _ : state) {
    for (uint64_t i = 0; i < kBatch; ++i) (*uplink)->Send(message, keep);
    sent += kBatch;
    while (counter.count_.load() < sent) usleep(50);
  }
  state.SetItemsProcessed(static_cast<int64_t>(sent));
  state.SetBytesProcessed(static_cast<int64_t>(sent * message.ByteSizeLong()));
}
BENCHMARK(BM_Stream)->Args({1, 0})->Args({1, 1})->Args({100, 1})->ArgNames({"tasks", "kept"})->UseRealTime();

// Appends, reads and acknowledges one message in the queue. Each message has its own segment.
void BM_Queue(benchmark::State& state) {
  const TempDir dir{TempDir::Where::kMemory};
  node::MessageQueueOptions options;
  options.path = dir.File("queue");
  options.new_number = 1;
  const auto queue = node::MessageQueue::Open(options);
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    (*queue)->Append(bytes, 0);
    const auto message = (*queue)->Next((*queue)->last_sequence() - 1);
    benchmark::DoNotOptimize(message);
    (*queue)->Acknowledge((*queue)->last_sequence());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Queue)->Arg(200)->Arg(20'000);

}  // namespace
}  // namespace taut::server
