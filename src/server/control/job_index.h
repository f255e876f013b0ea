// The names and labels of all jobs in one text, and the jobs in the order of their names: what a list of a
// million jobs is searched and sorted by. Immutable; snapshots share one until jobs come, go or get labels.
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
  // `jobs` ascending by number, their names distinct. `before`: an index of many of them, from which their
  // order is taken over, and with `same_labels` their texts; nullptr: there is none.
  JobIndex(std::span<const JobRecord* const> jobs, const JobIndex* before, bool same_labels);

  // By place in `jobs`: the place in the order of names.
  std::span<const uint32_t> ranks() const { return ranks_; }
  // By place in `jobs`: 1 if each word is in the name or in a label as key=value. Words are folded.
  std::vector<uint8_t> Find(std::span<const std::string> words) const;
  size_t state_bytes() const;

 private:
  std::string_view TextOf(size_t place) const {
    return std::string_view(text_).substr(begins_[place], begins_[place + 1] - begins_[place]);
  }
  void AddText(const JobRecord& job);
  // The places in `before` of jobs that are still there become those of now.
  void TakeOrder(const JobIndex& before, std::span<const JobRecord* const> jobs);

  std::vector<uint32_t> numbers_;  // of the jobs, by place
  std::vector<uint32_t> by_name_;  // places in the order of names
  std::vector<uint32_t> ranks_;
  std::string text_;            // folded; each name and label followed by '\0'
  std::vector<size_t> begins_;  // in text_, by place; the end last
};

// Lower case, as searched for.
std::string Folded(std::string_view text);

}  // namespace taut::server
