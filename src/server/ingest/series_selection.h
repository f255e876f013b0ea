// Builds selectors for a few series out of many, from their labels.
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

// A set of series, as far as selectors need it. A few KiB per metric.
class SeriesSelection {
 public:
  // Adds a series by its labels.
  void Add(std::span<const LabelView> labels);
  void Add(const SeriesSelection& other);
  uint64_t series() const { return series_; }
  // Returns one selector per metric. It matches all added series of the metric, and as few others as a
  // matcher of 4 KiB can. `wanted`: each series matches one of these selectors, whose conditions are kept.
  std::vector<HistorySelector> Narrow(std::span<const HistorySelector> wanted) const;

 private:
  // Values of the labels that all series of the metric have, except labels with too many values.
  using Values = std::map<std::string, std::set<std::string>, std::less<>>;
  static void Merge(const Values& from, Values& into);

  std::map<std::string, Values, std::less<>> metrics_;
  uint64_t series_ = 0;
};

}  // namespace taut::server
