// The best of n scores, and the new best after one of them changed, in O(log n).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace taut {

inline constexpr double kInfeasible = std::numeric_limits<double>::infinity();

// A tournament: every node has the leaf that wins below it. Of equal scores the lowest leaf wins.
class ScoreTree {
 public:
  // All n scores, written by the caller, then Build. O(n).
  std::vector<double>& scores(size_t n) {
    if (scores_.size() != n) {
      scores_.assign(n, kInfeasible);
      leaves_ = std::bit_ceil(n < 2 ? size_t{2} : n);
      winner_.assign(leaves_, 0);
    }
    return scores_;
  }
  void Build() {
    for (size_t node = leaves_ - 1; node >= 1; --node) winner_[node] = Play(node);
  }
  void Set(uint32_t leaf, double score) {
    scores_[leaf] = score;
    for (size_t node = (leaves_ + leaf) / 2; node >= 1; node /= 2) {
      const uint32_t winner = Play(node);
      // Above, nothing changes if the winner is another leaf, whose score is the same, and was before.
      if (winner == winner_[node] && winner != leaf) return;
      winner_[node] = winner;
    }
  }
  uint32_t best() const { return winner_[1]; }
  double best_score() const { return scores_[winner_[1]]; }

 private:
  double ScoreOf(uint32_t leaf) const { return leaf < scores_.size() ? scores_[leaf] : kInfeasible; }
  uint32_t WinnerOf(size_t node) const {
    return node >= leaves_ ? static_cast<uint32_t>(node - leaves_) : winner_[node];
  }
  uint32_t Play(size_t node) const {
    const uint32_t a = WinnerOf(2 * node), b = WinnerOf(2 * node + 1);
    return ScoreOf(b) < ScoreOf(a) ? b : a;
  }

  size_t leaves_ = 0;
  std::vector<double> scores_;
  std::vector<uint32_t> winner_;
};

}  // namespace taut
