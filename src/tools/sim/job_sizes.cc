#include "tools/sim/job_sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace taut::tools {
namespace {

constexpr uint64_t kMostJobs = uint64_t{1} << 40U;  // bound of the terms of an OrderFreeSum
// A variance below this share of the mean square is a rounding error.
constexpr double kLeastVariance = 1e-12;

// Returns a key that descends with `size`.
uint64_t DescendingKey(double size) { return ~std::bit_cast<uint64_t>(size); }

}  // namespace

void JobSizes::Add(uint64_t key, const Sizes& sizes) {
  ++jobs_;
  for (size_t r = 0; r < sizes.size(); ++r) {
    sums_[r].Add(sizes[r]);
    squares_[r].Add(sizes[r] * sizes[r]);
    largest_[r].Add(DescendingKey(sizes[r]), sizes[r]);
  }
  products_.Add(sizes[kCpuIndex] * sizes[kMemoryIndex]);
  sample_.Add(key, sizes);
}

void JobSizes::Merge(const JobSizes& other) {
  jobs_ += other.jobs_;
  for (size_t r = 0; r < sums_.size(); ++r) {
    sums_[r].Merge(other.sums_[r]);
    squares_[r].Merge(other.squares_[r]);
    largest_[r].Merge(other.largest_[r]);
  }
  products_.Merge(other.products_);
  sample_.Merge(other.sample_);
}

void JobSizes::Save(ByteWriter& out) const {
  out.PutVarint(jobs_);
  BottomK<Sizes> sample = sample_;
  for (const auto& entry : sample.Sort()) {
    out.Put(entry.key);
    for (const double size : entry.value) out.Put(size);
  }
  if (jobs_ <= most_) return;  // all else follows from the sample
  for (size_t r = 0; r < sums_.size(); ++r) {
    sums_[r].Save(out);
    squares_[r].Save(out);
    BottomK<double> largest = largest_[r];
    for (const auto& entry : largest.Sort()) out.Put(entry.value);
  }
  products_.Save(out);
}

bool JobSizes::Load(ByteReader& in) {
  const uint64_t jobs = in.GetVarint(), kept = std::min<uint64_t>(jobs, most_);
  const auto get_size = [&](double& size) {
    size = in.Get<double>();
    return !in.failed() && size >= 0 && size <= kLargest && !std::signbit(size);
  };
  if (jobs > kMostJobs) return false;
  for (uint64_t i = 0; i < kept; ++i) {
    const auto key = in.Get<uint64_t>();
    Sizes sizes{};
    if (!std::ranges::all_of(sizes, get_size)) return false;
    if (jobs <= most_) {
      Add(key, sizes);
    } else {
      sample_.Add(key, sizes);
    }
  }
  if (jobs <= most_) return !in.failed();
  jobs_ = jobs;
  for (size_t r = 0; r < sums_.size(); ++r) {
    if (!sums_[r].Load(in) || !squares_[r].Load(in)) return false;
    for (uint64_t i = 0; i < kept; ++i) {
      double size = 0;
      if (!get_size(size)) return false;
      largest_[r].Add(DescendingKey(size), size);
    }
  }
  return products_.Load(in);
}

SortedValues JobSizes::SortedOf(Resource r) const {
  SortedValues out;
  BottomK<Sizes> sample = sample_;
  for (const auto& entry : sample.Sort()) out.values.push_back(entry.value[IndexOf(r)]);
  std::ranges::sort(out.values);
  if (jobs_ <= most_) return out;
  BottomK<double> largest = largest_[IndexOf(r)];
  const auto& descending = largest.Sort();
  const double least = descending.back().value;
  out.values.erase(std::ranges::upper_bound(out.values, least), out.values.end());
  if (out.values.empty()) out.values.push_back(least);
  out.sampled = out.values.size();
  out.represented = jobs_ - descending.size();
  for (auto entry = descending.rbegin(); entry != descending.rend(); ++entry)
    out.values.push_back(entry->value);
  return out;
}

double JobSizes::Variance(Resource r) const {
  const double mean = Mean(sums_[IndexOf(r)]), mean_square = Mean(squares_[IndexOf(r)]);
  const double variance = mean_square - mean * mean;
  return variance > kLeastVariance * mean_square ? variance : 0;
}

SizeDistribution JobSizes::DistributionOf(Resource r, const SortedValues& sorted) const {
  return tools::DistributionOf(sorted, sums_[IndexOf(r)].value(), Variance(r));
}

double JobSizes::Correlation() const {
  const double spread = std::sqrt(Variance(Resource::kCpu) * Variance(Resource::kMemory));
  if (!(spread > 0)) return 0;
  const double covariance = Mean(products_) - Mean(sums_[kCpuIndex]) * Mean(sums_[kMemoryIndex]);
  return std::clamp(covariance / spread, -1.0, 1.0);
}

}  // namespace taut::tools
