// Index of quota requests by state, group and job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "brain/economy/quota_request.h"
#include "common/base/time.h"

namespace taut::brain {

// An index of requests. Not thread-safe. Calls are O(log n) unless stated otherwise.
class RequestIndex {
 public:
  // Indexes a request by its state, and replaces a request with an equal id. REQUIRES: the replaced request has
  // an equal group, tier and job.
  void File(const QuotaRequest& request);
  // Removes an ended request. Returns false if no ended request has this id.
  bool Forget(uint64_t id) { return ended_.erase(id) > 0; }

  const std::set<uint64_t>& queued() const { return queued_; }
  const std::set<uint64_t>& open() const { return open_; }
  const std::set<uint64_t>& ended() const { return ended_; }
  // Returns pairs (end, id) of open requests with a duration, ascending.
  const std::set<std::pair<Timestamp, uint64_t>>& ends() const { return ends_; }
  // Returns the number of queued and open requests of a group.
  size_t CountOf(std::string_view group) const;
  // Returns the id of the group's queued or open request for exactly this job; 0 if there is none.
  uint64_t For(std::string_view group, std::string_view job) const;

 private:
  std::set<uint64_t> open_, queued_, ended_;
  std::set<std::pair<Timestamp, uint64_t>> ends_;
  // Queued and open requests by group and then job. The index by group keeps requests of different groups from
  // conflicting.
  std::map<std::string, std::map<std::string, uint64_t, std::less<>>, std::less<>> by_job_;
  // Number of queued and open requests by group, without groups that have none.
  std::map<std::string, size_t, std::less<>> of_group_;
};

}  // namespace taut::brain
