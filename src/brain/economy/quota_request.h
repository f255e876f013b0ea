// A request for quota and its states, as a value.
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
  kNone,        // the request has not ended
  kRefused,     // the request can never fit (a queued request: for refuse_after_s), or its group has no quota
  kWithdrawn,   // a user ended the request
  kFinished,    // its job is no longer measured
  kNotStarted,  // its job was not measured within start_within_s
  kTimeUp,      // its duration is over
};
std::string_view Name(RequestEnd end);  // "not_started"; "" for kNone
std::optional<RequestEnd> RequestEndNamed(std::string_view name);

// One request. Times are from the caller's clock.
struct QuotaRequest {
  uint64_t id = 0;         // from 1, ascending
  AdmissionRequest asked;  // `now`: time of the request
  // Name of the request's job, or a prefix of names that ends before a '/': all containers of a workload, all
  // workloads of a namespace. The request covers only jobs of its group and tier. "": no job; the requested amount
  // counts.
  std::string job;
  std::string who;  // user who last changed the request
  RequestState state = RequestState::kQueued;
  RequestEnd end = RequestEnd::kNone;
  Timestamp since = {};  // start of the state
  std::optional<Timestamp> admitted_at = std::nullopt;
  std::string reason;  // sentences

  // Returns true if the request holds quota.
  bool open() const { return state == RequestState::kAdmitted || state == RequestState::kRunning; }
};

}  // namespace taut::brain
