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
std::string_view Name(RequestState state);  // returns, for example, "queued"
std::optional<RequestState> RequestStateNamed(std::string_view name);

// Cause of a request's end.
enum class RequestEnd : uint8_t {
  kNone,        // the request has not ended
  kRefused,     // the request could not fit (a queued request: for refuse_after_s), or its group has no quota
  kWithdrawn,   // a user ended the request
  kFinished,    // the request's job is no longer measured
  kNotStarted,  // the request's job was not measured within start_within_s
  kTimeUp,      // the request's duration has ended
};
std::string_view Name(RequestEnd end);  // returns, for example, "not_started"; "" for kNone
std::optional<RequestEnd> RequestEndNamed(std::string_view name);

// A request for quota. Times are from the caller's clock.
struct QuotaRequest {
  uint64_t id = 0;         // number of the request, ascending from 1
  AdmissionRequest asked;  // `now` is the time of the request
  // Name of the request's job, or a prefix of names that ends before a '/'. A prefix covers all containers of a
  // workload, or all workloads of a namespace. The request covers only jobs of its group and tier. Without a job
  // (""), the requested amount counts.
  std::string job;
  std::string who;  // user who last changed the request
  RequestState state = RequestState::kQueued;
  RequestEnd end = RequestEnd::kNone;
  Timestamp since = {};  // time from which the request has its state
  std::optional<Timestamp> admitted_at = std::nullopt;
  std::string reason;  // explanation of the state, in sentences

  // Returns true if the request holds quota.
  bool open() const { return state == RequestState::kAdmitted || state == RequestState::kRunning; }
};

}  // namespace taut::brain
