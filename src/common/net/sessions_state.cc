#include "common/net/sessions_state.h"

namespace taut {

SessionsState::StreamRoom SessionsState::EnterStream(const std::string& caller) {
  const size_t all = streams.fetch_add(1, std::memory_order_relaxed) + 1;
  StreamRoom room = all <= options.max_streams && !stopping ? StreamRoom::kEntered : StreamRoom::kNone;
  if (room == StreamRoom::kEntered) {
    const std::lock_guard lock(streams_mutex_);
    size_t& of_caller = streams_of_.try_emplace(caller, 0).first->second;
    if (of_caller < options.max_streams_per_caller) {
      ++of_caller;
      return room;
    }
    if (of_caller == 0) streams_of_.erase(caller);
    room = StreamRoom::kNoneForCaller;
  }
  streams.fetch_sub(1, std::memory_order_relaxed);
  return room;
}

void SessionsState::LeaveStream(const std::string& caller) {
  streams.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(streams_mutex_);
  const auto found = streams_of_.find(caller);
  if (--found->second == 0) streams_of_.erase(found);
}

}  // namespace taut
