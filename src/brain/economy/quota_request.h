// A request for quota and its life, as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "brain/economy/admission.h"
#include "common/base/time.h"

namespace taut::brain {

enum class RequestState : uint8_t { kQueued, kAdmitted, kRunning, kEnded };
std::string_view Name(RequestState state);  // "queued"
std::optional<RequestState> RequestStateNamed(std::string_view name);

// Why a request ended.
enum class RequestEnd : uint8_t {
  kNone,        // it is open
  kRefused,     // it can never fit, or its group has no quota; of a queued one: for refuse_after_s
  kWithdrawn,   // a user ended it
  kFinished,    // its job is no longer measured
  kNotStarted,  // its job was not measured within start_within_s
  kTimeUp,      // its duration is over
};
std::string_view Name(RequestEnd end);  // "not_started"; "" for kNone
std::optional<RequestEnd> RequestEndNamed(std::string_view name);

struct QuotaRequest {
  uint64_t id = 0;         // from 1, ascending
  AdmissionRequest asked;  // `now`: when
  // The job that it is for: its name, or the part of its name before a '/' (all containers of a workload, all
  // workloads of a namespace), of those that count for its group and tier; "": none, it counts as asked.
  std::string job;
  std::string who;  // changed it last
  RequestState state = RequestState::kQueued;
  RequestEnd end = RequestEnd::kNone;
  Timestamp since = {};  // of the state
  std::optional<Timestamp> admitted_at = std::nullopt;
  std::string reason;  // sentences

  bool open() const { return state == RequestState::kAdmitted || state == RequestState::kRunning; }
};

}  // namespace taut::brain
