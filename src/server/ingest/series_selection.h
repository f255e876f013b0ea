// Selectors for a few series out of many, from the labels they have.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/ingest/remote_write.h"
#include "server/ingest/selectors.h"

namespace taut::server {

// Some series that are wanted, as far as selectors have to know them. A few KiB a metric.
class SeriesSelection {
 public:
  void Add(std::span<const LabelView> labels);
  void Add(const SeriesSelection& other);
  uint64_t series() const { return series_; }
  // One for each metric: fits all of its series that were added, and as few others as a matcher of some KiB
  // can. `wanted`: selectors of which each series fits one; what they ask for stays asked for.
  std::vector<HistorySelector> Narrow(std::span<const HistorySelector> wanted) const;

 private:
  // Values of the labels that all series of the metric have; without those of too many values.
  using Values = std::map<std::string, std::set<std::string>, std::less<>>;
  static void Merge(const Values& from, Values& into);

  std::map<std::string, Values, std::less<>> metrics_;
  uint64_t series_ = 0;
};

}  // namespace taut::server
