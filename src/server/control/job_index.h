// Index for searching and sorting a list of a million jobs: one text with all names and labels, and the order
// of the names. Immutable. Snapshots share one index until a job or a label changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/closed_window.h"
#include "common/model/rollout.h"

namespace taut::server {

class JobIndex {
 public:
  // `jobs` are ascending by number, with distinct names. `before`: index of an earlier list with many of
  // these jobs, or nullptr. The new index reuses the order of names in `before`, and its texts if
  // `same_labels`. O(jobs · log jobs) without `before`.
  JobIndex(std::span<const JobRecord* const> jobs, const JobIndex* before, bool same_labels);

  // Returns each job's rank in the order of names, by place in `jobs`.
  std::span<const uint32_t> ranks() const { return ranks_; }
  // Returns a flag per job, by place in `jobs`: 1 if each word occurs in the job's name or in a label written
  // key=value. `words` are folded (Folded). O(bytes of text).
  std::vector<uint8_t> Find(std::span<const std::string> words) const;
  size_t state_bytes() const;

 private:
  std::string_view TextOf(size_t place) const {
    return std::string_view(text_).substr(begins_[place], begins_[place + 1] - begins_[place]);
  }
  void AddText(const JobRecord& job);
  // Reuses the order of `before`: translates places of jobs that still exist to their new places.
  void TakeOrder(const JobIndex& before, std::span<const JobRecord* const> jobs);

  std::vector<uint32_t> numbers_;  // numbers of the jobs, by place
  std::vector<uint32_t> by_name_;  // places in the order of names
  std::vector<uint32_t> ranks_;
  std::string text_;            // names and labels, folded, each followed by '\0'
  std::vector<size_t> begins_;  // offsets in text_, by place; the last offset is the end
};

// Returns the text in lower case. The index stores and searches folded text.
std::string Folded(std::string_view text);

}  // namespace taut::server
