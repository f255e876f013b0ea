#include "tools/report/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr double kWidth = 860, kHeight = 340, kLeft = 70, kRight = 15, kTop = 30, kBottom = 48;
constexpr size_t kMostPoints = 1000;  // of a line

struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  double from = 0, to = 1;  // on the page

  double At(double value) const {
    const double v = logarithmic ? std::log10(value) : value;
    return from + (v - low) / (high - low) * (to - from);
  }
};

// 1, 2 or 5 times a power of ten, so that there are about six steps.
double StepOf(double range) {
  const double rough = range / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::vector<double> TicksOf(const Axis& axis) {
  std::vector<double> ticks;
  if (axis.logarithmic) {
    const double every = std::max(1.0, std::ceil((axis.high - axis.low) / 8));
    for (double e = std::ceil(axis.low); e <= axis.high; e += every) ticks.push_back(std::pow(10, e));
    return ticks;
  }
  const double step = StepOf(axis.high - axis.low);
  for (double t = std::ceil(axis.low / step) * step; t <= axis.high + step * 1e-9; t += step)
    ticks.push_back(t);
  return ticks;
}

// Midnights, a few of them.
std::vector<double> DaysOf(const Axis& axis) {
  const auto day = static_cast<double>(kDaySeconds);
  const double every = std::max(1.0, std::ceil((axis.high - axis.low) / day / 8)) * day;
  std::vector<double> ticks;
  for (double t = std::ceil(axis.low / day) * day; t <= axis.high; t += every) ticks.push_back(t);
  return ticks;
}

// "2013-07-01", or "day 3" of a trace whose clock begins at 0.
std::string DayText(double seconds) {
  const std::string text = FormatTime(static_cast<int64_t>(seconds));
  return text.substr(0, text.rfind(' '));
}

bool HasPlace(const SvgPoint& p, bool logarithmic_x, bool logarithmic_y) {
  return (!logarithmic_x || p.x > 0) && (!logarithmic_y || p.y > 0);
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void Add(double v) { low = std::min(low, v), high = std::max(high, v); }
};

std::string PathOf(const std::vector<SvgPoint>& points, const Axis& x, const Axis& y, char first) {
  std::string path;
  const size_t every = points.size() / kMostPoints + 1;
  for (size_t i = 0; i < points.size(); i += every) {
    const SvgPoint& p = points[i];
    if (!HasPlace(p, x.logarithmic, y.logarithmic)) continue;
    StrAppend(&path, fmt::format("{}{:.1f} {:.1f}", path.empty() ? first : 'L', x.At(p.x), y.At(p.y)));
  }
  return path;
}

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool Covers(const Box& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
};

constexpr double kMarkRadius = 5, kLabelHeight = 14, kLetter = 6.6;  // a letter's width, about

// Where a label of that width stands: right or left of its point, else as near above or below as is free.
Box PlaceLabel(double x, double y, double width, const std::vector<Box>& taken) {
  const auto beside = [&](bool right, double down) {
    const double left = right ? x + kMarkRadius + 4 : x - kMarkRadius - 4 - width;
    return Box{left, y + down - kLabelHeight / 2, left + width, y + down + kLabelHeight / 2};
  };
  for (int step = 0; step <= 20; ++step) {
    for (const double down : {-kLabelHeight * step, kLabelHeight * step}) {
      for (const bool right : {true, false}) {
        const Box box = beside(right, down);
        if (box.left < kLeft || box.right > kWidth - kRight || box.top < kTop - kLabelHeight ||
            box.bottom > kHeight - kBottom + kLabelHeight / 2)
          continue;
        if (std::ranges::none_of(taken, [&](const Box& t) { return t.Covers(box); })) return box;
      }
    }
  }
  return beside(x < (kLeft + kWidth) / 2, 0);
}

std::string MarksText(const std::vector<SvgMark>& marks, const Axis& x, const Axis& y) {
  std::vector<Box> taken;
  std::vector<const SvgMark*> drawn;
  for (const SvgMark& m : marks) {
    if (!HasPlace(m.at, x.logarithmic, y.logarithmic)) continue;
    drawn.push_back(&m);
    const double px = x.At(m.at.x), py = y.At(m.at.y);
    taken.push_back({px - kMarkRadius, py - kMarkRadius, px + kMarkRadius, py + kMarkRadius});
  }
  if (drawn.empty()) return "";
  // Lines that a point or a label lies on stay apart from it.
  std::string out = "<g stroke=\"#fff\" stroke-width=3 paint-order=stroke>";
  for (const SvgMark* const m : drawn) {
    const double px = x.At(m->at.x), py = y.At(m->at.y);
    const Box box = PlaceLabel(px, py, kLetter * static_cast<double>(m->label.size()), taken);
    taken.push_back(box);
    const double middle = (box.top + box.bottom) / 2;
    const bool right = box.left > px;
    // A label that is not beside its point has a line to it.
    if (middle != py) {
      StrAppend(&out, fmt::format(
                          "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#aab4bf\" stroke-width=\"1\"/>",
                          px, py, right ? box.left - 2 : box.right + 2, middle));
    }
    StrAppend(&out, fmt::format("<circle cx={:.1f} cy={:.1f} r={} fill=\"{}\"><title>{}: {:.4g}, "
                                "{:.4g}</title></circle><text x={:.1f} y={:.1f} text-anchor={}>{}</text>",
                                px, py, kMarkRadius, m->colour, EscapedHtml(m->label), m->at.x, m->at.y,
                                right ? box.left : box.right, middle + 4, right ? "start" : "end",
                                EscapedHtml(m->label)));
  }
  return out + "</g>";
}

std::string DashText(SvgLine line) { return line == SvgLine::kDashed ? " stroke-dasharray=\"6 4\"" : ""; }

// Steps of the y axis with lines across the chart, and of the x axis.
std::string TicksText(const Axis& x, const Axis& y, bool time) {
  std::string out;
  for (const double tick : TicksOf(y)) {
    StrAppend(&out, fmt::format("<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#dde3ea\"/><text x={3} y={4:.1f} "
                                "text-anchor=end>{5:.6g}</text>",
                                kLeft, y.At(tick), kWidth - kRight, kLeft - 8, y.At(tick) + 4, tick));
  }
  for (const double tick : time ? DaysOf(x) : TicksOf(x)) {
    const std::string text = time ? DayText(tick) : fmt::format("{:.6g}", tick);
    StrAppend(&out, fmt::format("<text x={:.1f} y={} text-anchor=middle>{}</text>", x.At(tick), kHeight - 28,
                                text));
  }
  return out;
}

// Each band down to the line of the one before.
std::string BandsText(const std::vector<SvgSeries>& bands, const Axis& x, const Axis& y) {
  std::string out;
  std::string below = fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}Z", x.to, y.from, x.from, y.from);
  for (const SvgSeries& s : bands) {
    StrAppend(&out, "<path d=\"", PathOf(s.points, x, y, 'M'), below, "\" fill=\"", s.colour, "\"/>");
    std::vector<SvgPoint> back(s.points.rbegin(), s.points.rend());
    below = StrCat(PathOf(back, x, y, 'L'), "Z");
  }
  return out;
}

std::string LinesText(const std::vector<SvgSeries>& lines, const Axis& x, const Axis& y) {
  std::string out;
  for (const SvgSeries& s : lines) {
    StrAppend(&out, "<path d=\"", PathOf(s.points, x, y, 'M'), "\" fill=none stroke-width=2 stroke=\"",
              s.colour, "\"", DashText(s.line), "/>");
  }
  return out;
}

std::string LegendText(const std::vector<SvgSeries>& bands, const std::vector<SvgSeries>& lines) {
  std::string out;
  double at = kLeft + 160;
  for (const auto* all : {&bands, &lines}) {
    for (const SvgSeries& s : *all) {
      StrAppend(&out, fmt::format("<path d=\"M{} 10h18\" stroke=\"{}\" stroke-width=\"{}\"{}/><text x={} "
                                  "y=14>{}</text>",
                                  at, s.colour, all == &bands ? 8 : 2, DashText(s.line), at + 24,
                                  EscapedHtml(s.name)));
      at += 44 + 7 * static_cast<double>(s.name.size());
    }
  }
  return out;
}

}  // namespace

std::string SvgChart::Render() const {
  Range xs, ys;
  const auto add = [&](const SvgPoint& p) {
    if (!HasPlace(p, logarithmic_x_, logarithmic_y_)) return;
    xs.Add(logarithmic_x_ ? std::log10(p.x) : p.x);
    ys.Add(logarithmic_y_ ? std::log10(p.y) : p.y);
  };
  for (const auto* all : {&lines_, &bands_}) {
    for (const SvgSeries& s : *all) {
      for (const SvgPoint& p : s.points) add(p);
    }
  }
  for (const SvgMark& m : marks_) add(m.at);
  if (!(xs.low <= xs.high)) return "";
  if (!logarithmic_y_) ys.low = 0;
  if (from_zero_ && !logarithmic_x_) xs.low = 0;
  if (xs.high == xs.low) xs.high = xs.low + 1;
  if (ys.high <= ys.low) ys.high = ys.low + 1;
  const Axis x{xs.low, xs.high, logarithmic_x_, kLeft, kWidth - kRight};
  const Axis y{ys.low, ys.high, logarithmic_y_, kHeight - kBottom, kTop};
  const std::string head = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width={0} height={1} role=img aria-label=\"{2} over {3}\" "
      "font-family=\"system-ui,sans-serif\" font-size=12 fill=\"#5d6b7b\">",
      kWidth, kHeight, EscapedHtml(y_title_), EscapedHtml(x_title_));
  const std::string titles =
      fmt::format("<text x={} y={} text-anchor=middle>{}</text><text x={} y=14>{}</text>",
                  (kLeft + kWidth) / 2, kHeight - 8, EscapedHtml(x_title_), 4, EscapedHtml(y_title_));
  return StrCat(head, TicksText(x, y, time_), titles, BandsText(bands_, x, y), LinesText(lines_, x, y),
                LegendText(bands_, lines_), MarksText(marks_, x, y), "</svg>");
}

}  // namespace taut::tools
