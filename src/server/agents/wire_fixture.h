// A listener that records all events, and helpers for a server and its agents. For tests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/testing/eventually.h"
#include "common/testing/temp_dir.h"
#include "node/agent/uplink.h"
#include "server/agents/agent_server.h"

namespace taut::server {

namespace v1 = taut::agent::v1;

// Records all calls. `answer`, if set, is called for each message.
class Recorder final : public AgentListener {
 public:
  struct Seen {
    SessionId session = 0;
    v1::FromAgent message;
  };

  void OnConnect(SessionId session, const v1::FromAgent& hello, const std::string& who) override {
    const std::lock_guard lock(mutex_);
    hellos_.push_back({session, hello});
    who_ = who;
    living_.push_back(session);
  }
  void OnMessage(SessionId session, const v1::FromAgent& message) override {
    std::function<void(SessionId, const v1::FromAgent&)> answer;
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back({session, message});
      answer = answer_;
    }
    if (answer) answer(session, message);
  }
  void OnRefused(SessionId /*session*/, uint64_t sequence, const absl::Status& why) override {
    const std::lock_guard lock(mutex_);
    refused_.emplace_back(sequence, std::string(Message(why)));
  }
  void OnDisconnect(SessionId session) override {
    const std::lock_guard lock(mutex_);
    std::erase(living_, session);
    gone_.push_back(session);
  }

  void set_answer(std::function<void(SessionId, const v1::FromAgent&)> answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  std::vector<Seen> hellos() const { return Copy(hellos_); }
  std::vector<Seen> messages() const { return Copy(messages_); }
  std::vector<std::pair<uint64_t, std::string>> refused() const { return Copy(refused_); }
  std::vector<SessionId> living() const { return Copy(living_); }
  std::vector<SessionId> gone() const { return Copy(gone_); }
  std::string who() const { return Copy(who_); }
  std::vector<uint64_t> sequences() const {
    std::vector<uint64_t> out;
    for (const Seen& seen : messages()) out.push_back(seen.message.sequence());
    return out;
  }

 private:
  template <typename T>
  T Copy(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  mutable std::mutex mutex_;
  std::vector<Seen> hellos_, messages_;
  std::vector<std::pair<uint64_t, std::string>> refused_;
  std::vector<SessionId> living_, gone_;
  std::string who_;
  std::function<void(SessionId, const v1::FromAgent&)> answer_;
};

inline AgentServerOptions AnyPort(int port = 0) {
  AgentServerOptions out;
  out.listen = {StrCat("127.0.0.1:", port)};
  return out;
}

inline node::UplinkOptions To(int port, std::string_view name = "a") {
  node::UplinkOptions out;
  out.address = StrCat("127.0.0.1:", port);
  out.min_backoff_ms = 10;
  out.max_backoff_ms = 100;
  out.hello.set_agent(std::string(name));
  return out;
}

inline v1::FromAgent Window(int32_t window) {
  v1::FromAgent out;
  out.mutable_windows()->set_window(window);
  return out;
}
inline v1::FromAgent Beat(uint32_t tasks) {
  v1::FromAgent out;
  out.mutable_heartbeat()->set_tasks(tasks);
  return out;
}
inline v1::ToAgent AckOf(uint64_t sequence) {
  v1::ToAgent out;
  out.mutable_ack()->set_sequence(sequence);
  return out;
}
inline v1::ToAgent OrderMessage(uint64_t decision) {
  v1::ToAgent out;
  out.mutable_orders()->add_orders()->set_decision(decision);
  return out;
}

}  // namespace taut::server
