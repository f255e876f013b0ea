#include "tools/cli/capacity_text.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

struct CapacityFigure {
  const char* key;
  const char* name;
};
constexpr CapacityFigure kCapacityFigures[] = {
    {"capacity", "capacity"}, {"reservation", "reser-\nvation"}, {"allocation", "alloca-\ntion"},
    {"usage", "usage"},       {"usage_peak", "usage,\npeak"},    {"forecast", "forecast"}};

std::string_view LineName(Resource r) { return InCores(r) ? UnitName(r) : Name(r); }

std::string LineAmountText(std::string_view resource, const Json& amount) {
  if (!amount.is_number()) return kNothing;
  const auto value = amount.get<double>();
  if (resource != "cpu") return StrCat(value < 0 ? "-" : "", FormatBytes(std::abs(value)));
  return std::abs(value) < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

std::string SharePercent(const Json& share) {
  return share.is_number() ? fmt::format("{:.5g} %", 100 * share.get<double>()) : kNothing;
}

// Returns a table with the newest value of each line.
std::string NowTable(const Json& page) {
  std::vector<std::string> head = {"last known hour"};
  for (const CapacityFigure& figure : kCapacityFigures) head.emplace_back(figure.name);
  TextTable table(std::move(head));
  for (const Resource r : kResources) {
    std::vector<std::string> row = {std::string(LineName(r))};
    for (const CapacityFigure& figure : kCapacityFigures) {
      const Json& values = ItemsAt(At(page, Name(r)), figure.key);
      row.push_back(values.empty() ? kNothing : LineAmountText(Name(r), values.back()));
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

// Returns the table of capacity for sale. Shortens the name of a tier to `width` columns.
std::string OfferTable(const Json& page, size_t width) {
  TextTable table({"tier", "for", "", "sellable", "sold", "left", "promised", "kept", "of hours"});
  std::string last;
  for (const Json& offer : ItemsAt(page, "offers")) {
    const std::string tier = TextAt(offer, "tier"), horizon = TextAt(offer, "horizon"),
                      resource = TextAt(offer, "resource");
    const std::string row_of = StrCat(tier, "/", horizon);
    std::vector<std::string> row = {"", "", resource == "cpu" ? "cores" : Shortened(resource, width)};
    if (row_of != last) {
      row[0] = Shortened(tier, width);
      row[1] = horizon.empty() ? "any time" : Shortened(horizon, width);
    }
    last = row_of;
    for (const char* key : {"sellable", "sold", "left"})
      row.push_back(LineAmountText(resource, At(offer, key)));
    row.push_back(SharePercent(At(offer, "promise")));
    const Json& kept = At(offer, "kept");
    const bool any = FieldNumber(kept, "promises") > 0.0;
    row.push_back(any ? SharePercent(At(kept, "kept_share")) : kNothing);
    row.push_back(any ? FieldCount(kept, "hours") : kNothing);
    table.Add(std::move(row));
  }
  return table.Render();
}

// Returns one sentence for each distinct reason why figures are missing.
std::string MissingReasons(const Json& page) {
  std::string out;
  std::vector<std::string> said;
  for (const Json& offer : ItemsAt(page, "offers")) {
    if (At(offer, "sellable").is_number() && !(At(offer, "sellable") == 0)) continue;
    const std::string text = TextAt(offer, "text");
    if (text.empty() || text == TextAt(page, "why")) continue;
    const std::string horizon = TextAt(offer, "horizon");
    const std::string sentence = StrCat(TextAt(offer, "tier"), horizon.empty() ? "" : ", ", horizon, ", ",
                                        TextAt(offer, "resource"), ": ", text);
    if (std::ranges::find(said, text) != said.end()) continue;
    said.push_back(text);
    out += Wrapped(Printable(sentence), "");
  }
  return out;
}

}  // namespace

std::string CapacityText(const Json& page) {
  std::string out;
  const std::string why = TextAt(page, "why");
  if (!why.empty()) out += Wrapped(Printable(why), "");
  if (At(page, "window_end").is_null()) return out;
  StrAppend(&out, why.empty() ? "" : "\n", NowTable(page), "\n");
  if (!ItemsAt(page, "offers").empty())
    out += FittedTable(20, 6, [&](size_t width) { return OfferTable(page, width); });
  StrAppend(&out, "sold as of ", FieldTime(page, "window_end"),
            "; amounts of tiers and horizons overlap, they are not to be added\n");
  for (const Json& tier : ItemsAt(page, "tiers")) {
    if (TextAt(tier, "sale") == "slack")
      out += Wrapped(Printable(StrCat(TextAt(tier, "name"), ": ", TextAt(tier, "risk"))), "");
  }
  out += MissingReasons(page);
  const std::string note = TextAt(page, "note");
  if (!note.empty()) out += Wrapped(Printable(note), "");
  return out;
}

std::string CapacityLinesText(const Json& page) {
  const Json& times = ItemsAt(page, "time");
  if (times.empty()) return "no hour of this time is known\n";
  std::string out;
  for (const Resource r : kResources) {
    std::vector<std::string> head = {StrCat(LineName(r), ", from")};
    for (const CapacityFigure& figure : kCapacityFigures) head.emplace_back(figure.name);
    TextTable table(std::move(head));
    for (size_t i = 0; i < times.size(); ++i) {
      std::vector<std::string> row = {times[i].is_number_integer() ? FormatTime(times[i].get<int64_t>())
                                                                   : kNothing};
      for (const CapacityFigure& figure : kCapacityFigures) {
        const Json& values = ItemsAt(At(page, Name(r)), figure.key);
        row.push_back(i < values.size() ? LineAmountText(Name(r), values[i]) : kNothing);
      }
      table.Add(std::move(row));
    }
    StrAppend(&out, out.empty() ? "" : "\n", table.Render());
  }
  return out;
}

std::string CapacityPromisesText(const Json& page) {
  if (ItemsAt(page, "promises").empty())
    return "no promise has been made yet: one is made for each hour, and at midnight UTC for longer times\n";
  const auto render = [&](size_t width) {
    TextTable table({"tier", "", "for", "from", "amount", "", "hours", "missed", "lowest"});
    for (const Json& p : ItemsAt(page, "promises")) {
      const std::string resource = TextAt(p, "resource");
      table.Add(
          {Shortened(TextAt(p, "tier"), width), resource == "cpu" ? "cores" : Shortened(resource, width),
           Shortened(TextAt(p, "horizon"), width), FieldTime(p, "start"),
           LineAmountText(resource, At(p, "amount")), Shortened(TextAt(p, "state"), width),
           FieldCount(p, "hours"), FieldCount(p, "missed_hours"), LineAmountText(resource, At(p, "lowest"))});
    }
    return table.Render();
  };
  return FittedTable(20, 6, render);
}

}  // namespace taut::tools
