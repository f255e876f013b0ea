#include "brain/economy/quota_request.h"

#include <utility>

namespace taut::brain {
namespace {

constexpr std::pair<RequestState, std::string_view> kStates[] = {{RequestState::kQueued, "queued"},
                                                                 {RequestState::kAdmitted, "admitted"},
                                                                 {RequestState::kRunning, "running"},
                                                                 {RequestState::kEnded, "ended"}};
constexpr std::pair<RequestEnd, std::string_view> kEnds[] = {{RequestEnd::kNone, ""},
                                                             {RequestEnd::kRefused, "refused"},
                                                             {RequestEnd::kWithdrawn, "withdrawn"},
                                                             {RequestEnd::kFinished, "finished"},
                                                             {RequestEnd::kNotStarted, "not_started"},
                                                             {RequestEnd::kTimeUp, "time_up"}};

}  // namespace

std::string_view Name(RequestState state) { return kStates[static_cast<size_t>(state)].second; }
std::optional<RequestState> RequestStateNamed(std::string_view name) {
  for (const auto& [state, its_name] : kStates) {
    if (its_name == name) return state;
  }
  return std::nullopt;
}
std::string_view Name(RequestEnd end) { return kEnds[static_cast<size_t>(end)].second; }
std::optional<RequestEnd> RequestEndNamed(std::string_view name) {
  for (const auto& [end, its_name] : kEnds) {
    if (its_name == name) return end;
  }
  return std::nullopt;
}

}  // namespace taut::brain
