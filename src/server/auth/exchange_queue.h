// Queue of code exchanges for sign-ins. The queue is fair between addresses: failures of one address do not delay
// sign-ins from other addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"

namespace taut::server {

struct ExchangeLimits {
  size_t waiting = 64;             // maximum number of waiting jobs of all addresses
  size_t of_address = 16;          // maximum number of waiting and running jobs of one address
  double failures = 20;            // failures of one address above which its sign-ins are rejected
  double failures_per_s = 1 / 6.;  // number of failures that are forgotten per second: one in 6 s
  size_t addresses = 4096;         // maximum number of remembered addresses
};

// A queue without I/O or a clock: the time is an argument, in seconds of a steady clock. Not thread-safe.
template <typename Job>
class ExchangeQueue {
 public:
  explicit ExchangeQueue(const ExchangeLimits& limits) : limits_(limits) {}

  // Returns ResourceExhausted if the address has too many sign-ins in progress or too many recent failures;
  // otherwise OK.
  absl::Status Check(const std::string& address, double now_s) {
    const auto at = addresses_.find(address);
    if (at == addresses_.end()) return absl::OkStatus();
    Forget(at->second, now_s);
    if (at->second.failed >= limits_.failures)
      return absl::ResourceExhaustedError(
          "Too many sign-ins from your address were refused: retry in a minute.");
    if (at->second.jobs.size() + at->second.running >= limits_.of_address)
      return absl::ResourceExhaustedError(
          "Too many sign-ins from your address are under way: retry in a minute.");
    return absl::OkStatus();
  }

  // Adds a job. If there is no room, drops and returns the newest job of the address with the most waiting
  // jobs, which may be `job` itself. REQUIRES: Check was OK. O(addresses).
  std::optional<Job> Add(const std::string& address, Job job, double now_s) {
    Address& its = AddressOf(address, now_s);
    its.jobs.push_back({std::move(job), next_++});
    if (++waiting_ <= limits_.waiting) return std::nullopt;
    auto most = std::ranges::max_element(
        addresses_, {}, [](const auto& a) { return std::pair(a.second.jobs.size(), a.second.failed); });
    Job dropped = std::move(most->second.jobs.back().job);
    most->second.jobs.pop_back();
    --waiting_;
    return dropped;
  }

  struct Turn {
    std::string address;
    Job job;
  };
  // Returns the next job: from the address with the fewest running jobs, then the fewest failures, then the
  // oldest job. Returns nullopt if no job waits. The caller must end the job with Done. O(addresses).
  std::optional<Turn> Next(double now_s) {
    auto best = addresses_.end();
    for (auto at = addresses_.begin(); at != addresses_.end(); ++at) {
      if (at->second.jobs.empty()) continue;
      Forget(at->second, now_s);
      if (best == addresses_.end() || OrderOf(at->second) < OrderOf(best->second)) best = at;
    }
    if (best == addresses_.end()) return std::nullopt;
    Turn turn{best->first, std::move(best->second.jobs.front().job)};
    best->second.jobs.pop_front();
    ++best->second.running;
    --waiting_;
    return turn;
  }
  // Ends a job that Next returned. If `failed`, the job counts as a failure of the address.
  void Done(const std::string& address, bool failed, double now_s) {
    Address& its = AddressOf(address, now_s);
    if (its.running > 0) --its.running;
    if (failed) its.failed += 1;
  }

  size_t waiting() const { return waiting_; }

 private:
  struct Waiting {
    Job job;
    uint64_t number;
  };
  struct Address {
    std::deque<Waiting> jobs;
    size_t running = 0;
    double failed = 0, since_s = 0;
  };
  // Returns the key by which Next chooses an address. Failures count in steps of five, so that a single
  // mistake does not delay an address.
  static auto OrderOf(const Address& a) {
    return std::tuple(a.running, static_cast<int64_t>(a.failed / 5), a.jobs.front().number);
  }
  void Forget(Address& a, double now_s) const {
    a.failed = std::max(0.0, a.failed - std::max(0.0, now_s - a.since_s) * limits_.failures_per_s);
    a.since_s = now_s;
  }
  Address& AddressOf(const std::string& address, double now_s) {
    if (const auto at = addresses_.find(address); at != addresses_.end()) {
      Forget(at->second, now_s);
      return at->second;
    }
    if (addresses_.size() >= limits_.addresses) {
      for (auto& [key, its] : addresses_) Forget(its, now_s);
      std::erase_if(addresses_, [](const auto& a) {
        return a.second.jobs.empty() && a.second.running == 0 && a.second.failed == 0;
      });
    }
    // If no address could be removed, forget the idle address with the fewest failures.
    while (addresses_.size() >= limits_.addresses) {
      auto least = addresses_.end();
      for (auto at = addresses_.begin(); at != addresses_.end(); ++at) {
        const bool idle = at->second.jobs.empty() && at->second.running == 0;
        if (idle && (least == addresses_.end() || at->second.failed < least->second.failed)) least = at;
      }
      if (least == addresses_.end()) break;
      addresses_.erase(least);
    }
    Address& its = addresses_[address];
    its.since_s = now_s;
    return its;
  }

  const ExchangeLimits limits_;
  std::map<std::string, Address> addresses_;
  size_t waiting_ = 0;
  uint64_t next_ = 0;
};

}  // namespace taut::server
