// The usage of whole jobs, from which the distribution over jobs follows. The sizes of the parts of a trace merge
// to the sizes of the whole trace, with equal bytes in any order and for any division of the jobs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/bottom_k.h"
#include "common/base/order_free_sum.h"
#include "common/model/resource.h"
#include "tools/sim/moments.h"

namespace taut::tools {

// Keeps the sizes of up to `most` jobs. If there are more jobs, keeps exact sums, a uniform sample of `most` jobs,
// and the `most` largest sizes of each resource. Not thread-safe.
class JobSizes {
 public:
  using Sizes = PerResource<double>;  // usage integrals in core-hours and GiB-hours
  static constexpr size_t kMost = size_t{1} << 20U;
  // REQUIRES: most > 10. All parts have the same `most`.
  explicit JobSizes(size_t most = kMost)
      : most_(most), sample_(most), largest_(AllOf(BottomK<double>(most))) {}

  // Adds a job. `key`: hash of the job's name. REQUIRES: the sizes are in [0, kLargest].
  void Add(uint64_t key, const Sizes& sizes);
  void Merge(const JobSizes& other);
  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. Returns false for bytes that Save cannot have written.
  // REQUIRES: there are no jobs.
  bool Load(ByteReader& in);

  uint64_t jobs() const { return jobs_; }
  SortedValues SortedOf(Resource r) const;
  SizeDistribution DistributionOf(Resource r, const SortedValues& sorted) const;
  double Correlation() const;  // Pearson correlation of CPU and memory over the jobs

 private:
  static constexpr double kLargest = 1e150;  // bound of sizes, whose squares are finite

  double Mean(const OrderFreeSum& sum) const { return sum.value() / static_cast<double>(jobs_); }
  double Variance(Resource r) const;

  size_t most_;
  uint64_t jobs_ = 0;
  PerResource<OrderFreeSum> sums_, squares_;
  OrderFreeSum products_;  // of CPU and memory
  BottomK<Sizes> sample_;  // by hash
  PerResource<BottomK<double>> largest_;
};

}  // namespace taut::tools
