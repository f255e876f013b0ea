// Maintains the minimum of n scores. A change of one score costs O(log n).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace taut::brain {

// Score of a machine on which the task must not or cannot run.
inline constexpr double kInfeasible = std::numeric_limits<double>::infinity();

// A tree of minima of groups: groups of 16 scores, then groups of 16 minima, and so on. If scores are equal, the
// lowest leaf is the best.
class ScoreTree {
 public:
  // Returns the n scores, which the caller writes before Build. The vector may be longer than n; the caller must
  // not change the elements from n on, which are kInfeasible. Allocates only if n changes.
  std::vector<double>& scores(size_t n) {
    if (n != size_) {
      size_ = n;
      levels_.clear();
      do {
        n = (n + kGroup - 1) / kGroup;
        levels_.emplace_back(n * kGroup, kInfeasible);
      } while (n > 1);
    }
    return levels_[0];
  }
  // Computes the minima of all scores. O(n).
  void Build() {
    for (size_t level = 0; level + 1 < levels_.size(); ++level) {
      for (size_t group = 0; group < levels_[level].size() / kGroup; ++group)
        levels_[level + 1][group] = LeastOf(level, group);
    }
  }
  // Changes one score. O(log n).
  void Set(uint32_t leaf, double score) {
    levels_[0][leaf] = score;
    size_t at = leaf;
    for (size_t level = 0; level + 1 < levels_.size(); ++level) {
      at /= kGroup;
      const double least = LeastOf(level, at);
      if (levels_[level + 1][at] == least) return;
      levels_[level + 1][at] = least;
    }
  }
  double best_score() const { return LeastOf(levels_.size() - 1, 0); }
  // Returns the leaf of the lowest score. REQUIRES: at least one score. O(log n).
  uint32_t best() const {
    const double least = best_score();
    size_t at = 0;
    for (size_t level = levels_.size(); level-- > 0;) {
      const double* group = &levels_[level][at * kGroup];
      at = at * kGroup + static_cast<size_t>(std::find(group, group + kGroup - 1, least) - group);
    }
    return static_cast<uint32_t>(at);
  }

 private:
  static constexpr size_t kGroup = 16;

  // Uses four independent lanes without branches, so that the compiler can vectorise the loop.
  double LeastOf(size_t level, size_t group) const {
    const double* s = &levels_[level][group * kGroup];
    double lane[4];
    for (size_t i = 0; i < 4; ++i)
      lane[i] = std::min(std::min(s[i], s[i + 4]), std::min(s[i + 8], s[i + 12]));
    return std::min(std::min(lane[0], lane[1]), std::min(lane[2], lane[3]));
  }

  size_t size_ = SIZE_MAX;
  std::vector<std::vector<double>> levels_;  // minima by level; the first level has the scores
};

}  // namespace taut::brain
