#include "common/base/decayed_line.h"

#include <algorithm>
#include <cmath>

namespace taut {
namespace {

constexpr double kLeastVariation = 0.05;     // minimum of x's standard deviation over its mean
constexpr double kLeastExplained = 1 / 3.0;  // minimum share of y's variance that the line explains

}  // namespace

DecayedLine::DecayedLine(double half_life) : keep_(std::exp2(-1 / half_life)), enough_(half_life / 2) {}

void DecayedLine::Add(double x, double y) {
  weight_ = weight_ * keep_ + 1;
  const double dx = x - mean_x_, dy = y - mean_y_;
  mean_x_ += dx / weight_;
  mean_y_ += dy / weight_;
  xx_ = xx_ * keep_ + dx * (x - mean_x_);
  xy_ = xy_ * keep_ + dx * (y - mean_y_);
  yy_ = yy_ * keep_ + dy * (y - mean_y_);
}

bool DecayedLine::is_known() const {
  // `enough_` is a number of points; n points weigh (1 - keep^n) / (1 - keep), which is less than n.
  const double enough = (1 - std::pow(keep_, enough_)) / (1 - keep_);
  if (weight_ < enough || xy_ <= 0 || yy_ <= 0) return false;
  const double deviation = std::sqrt(xx_ / weight_);
  return deviation >= kLeastVariation * mean_x_ && xy_ * xy_ >= kLeastExplained * xx_ * yy_;
}

double DecayedLine::fixed() const {
  return is_known() ? std::max(0.0, mean_y_ - xy_ / xx_ * mean_x_) : mean_y_;
}

double DecayedLine::slope() const {
  if (!is_known()) return 0;
  // If the fitted line is negative at x = 0, fixed() returns 0, and the fitted slope would make the line too high
  // everywhere. The result is then the slope of the line through the origin and the means.
  return std::min(xy_ / xx_, mean_x_ > 0 ? mean_y_ / mean_x_ : 0);
}

void DecayedLine::Save(ByteWriter& out) const {
  for (const double v : {weight_, mean_x_, mean_y_, xx_, xy_, yy_}) out.Put(v);
}

absl::Status DecayedLine::Load(ByteReader& in) {
  DecayedLine loaded = *this;
  bool possible = true;
  for (double* v :
       {&loaded.weight_, &loaded.mean_x_, &loaded.mean_y_, &loaded.xx_, &loaded.xy_, &loaded.yy_}) {
    *v = in.Get<double>();
    possible = possible && std::isfinite(*v) && (v == &loaded.xy_ || *v >= 0);
  }
  if (absl::Status s = in.status("a line"); !s.ok()) return s;
  if (!possible) return absl::DataLossError("a line: invalid value");
  *this = loaded;
  return absl::OkStatus();
}

}  // namespace taut
