// Requests for quota by their state, group and job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "brain/economy/quota_request.h"
#include "common/base/time.h"

namespace taut::brain {

class RequestIndex {
 public:
  // As its state asks for; in place of the one of its number, which has the same group, tier and job.
  void File(const QuotaRequest& request);
  // False: it is none that has ended.
  bool Forget(uint64_t id) { return ended_.erase(id) > 0; }

  const std::set<uint64_t>& queued() const { return queued_; }
  const std::set<uint64_t>& open() const { return open_; }
  const std::set<uint64_t>& ended() const { return ended_; }
  // The times at which open ones with a duration end.
  const std::set<std::pair<Timestamp, uint64_t>>& ends() const { return ends_; }
  // The number of queued and open ones of a group.
  size_t CountOf(std::string_view group) const;
  // The queued or open one of a group for just this job; 0: none.
  uint64_t For(std::string_view group, std::string_view job) const;
  // The open one for the job or, the longest first, a part of its name before a '/', that `fits`; 0: none.
  uint64_t OpenFor(std::string_view group, std::string_view job,
                   absl::FunctionRef<bool(uint64_t id)> fits) const;

 private:
  std::set<uint64_t> open_, queued_, ended_;
  std::set<std::pair<Timestamp, uint64_t>> ends_;
  // Of requests that are queued or open, by group and then by job: a group's request stands in no other's way.
  std::map<std::string, std::map<std::string, uint64_t, std::less<>>, std::less<>> by_job_;
  std::map<std::string, size_t, std::less<>> of_group_;  // likewise: how many; none is 0
};

}  // namespace taut::brain
