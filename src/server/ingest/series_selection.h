// Builds selectors that match a few series out of many, from the labels of these series.
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

// A set of series, in the form that selectors need. Uses a few KiB per metric.
class SeriesSelection {
 public:
  // Adds a series by its labels.
  void Add(std::span<const LabelView> labels);
  void Add(const SeriesSelection& other);
  uint64_t series() const { return series_; }
  // Returns one selector per metric. The selector matches all added series of the metric, and as few others as
  // matchers of at most 4 KiB allow. `wanted`: each added series matches one of these selectors; the result keeps
  // their conditions.
  std::vector<HistorySelector> Narrow(std::span<const HistorySelector> wanted) const;

 private:
  // Values of the labels that all series of a metric have. Labels with too many values are missing.
  using Values = std::map<std::string, std::set<std::string>, std::less<>>;
  static void Merge(const Values& from, Values& into);

  std::map<std::string, Values, std::less<>> metrics_;
  uint64_t series_ = 0;
};

}  // namespace taut::server
