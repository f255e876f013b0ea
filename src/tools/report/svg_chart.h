// A chart as inline SVG: lines, stacked bands and labelled points over a linear, logarithmic or time axis.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taut::tools {

struct SvgPoint {
  double x = 0, y = 0;
};
enum class SvgLine : uint8_t { kSolid, kDashed };
struct SvgSeries {
  std::string name;
  std::string_view colour;
  SvgLine line = SvgLine::kSolid;
  std::vector<SvgPoint> points;  // ascending by x
};
// A point with its label beside it.
struct SvgMark {
  std::string label;
  std::string_view colour;
  SvgPoint at;
};

class SvgChart {
 public:
  SvgChart(std::string_view x_title, std::string_view y_title) : x_title_(x_title), y_title_(y_title) {}
  // Both axes; points that are not > 0 are left out.
  void SetLogarithmic() { logarithmic_x_ = logarithmic_y_ = true; }
  // The same of x only.
  void SetLogarithmicX() { logarithmic_x_ = true; }
  // A linear x axis begins at 0.
  void SetFromZero() { from_zero_ = true; }
  // x is seconds of the Unix epoch.
  void SetTime() { time_ = true; }
  // One without points is left out.
  void AddLine(SvgSeries series) {
    if (!series.points.empty()) lines_.push_back(std::move(series));
  }
  // A line and all below it down to the band before; later bands lie above.
  void AddBand(SvgSeries series) { bands_.push_back(std::move(series)); }
  // Labels do not cover each other where there is room. Above lines and bands; as on the axes, a point that is not
  // > 0 has no place on a logarithmic one.
  void AddMark(SvgMark mark) { marks_.push_back(std::move(mark)); }
  // "" if there is nothing to draw.
  std::string Render() const;

 private:
  const std::string x_title_, y_title_;
  bool logarithmic_x_ = false, logarithmic_y_ = false, time_ = false, from_zero_ = false;
  std::vector<SvgSeries> lines_, bands_;
  std::vector<SvgMark> marks_;
};

}  // namespace taut::tools
