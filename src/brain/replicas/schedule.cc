#include "brain/replicas/schedule.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int kDaysBack = 8 * 366;  // covers the eight years between two 29 Februaries, such as 1896 and 1904
constexpr int kMostScheduledTasks = 1'000'000;
// Upper bound of a clock change, in hours.
constexpr int kMostChangeHours = 3;

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Field {
  std::string_view name;
  int least, most;
  std::span<const std::string_view> names;  // names of the values from `least` on; may be empty
};
constexpr Field kFields[] = {{"minute", 0, 59, {}},
                             {"hour", 0, 23, {}},
                             {"day of the month", 1, 31, {}},
                             {"month", 1, 12, kMonths},
                             {"day of the week", 0, 7, kWeekdays}};

// Parses digits without a sign. Returns nullopt for a number outside least..most.
std::optional<int> NumberOf(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && text.front() != '-';
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<int> ValueOf(const Field& field, std::string_view text) {
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  for (size_t i = 0; i < field.names.size(); ++i) {
    if (std::ranges::equal(text, field.names[i], same)) return field.least + static_cast<int>(i);
  }
  return NumberOf(text, field.least, field.most);
}

// Returns the non-empty pieces between separators.
std::vector<std::string_view> Pieces(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

// Adds one part of a field, such as "1-5/2" of "1-5/2,9". Returns false if the part is invalid.
template <typename Set>
bool AddPart(const Field& field, std::string_view part, Set set) {
  int step = 1;
  const size_t slash = part.find('/');
  if (slash != std::string_view::npos) {
    const auto given = NumberOf(part.substr(slash + 1), 1, field.most);
    if (!given.has_value()) return false;
    step = *given;
    part = part.substr(0, slash);
  }
  int first = field.least, last = field.most;
  if (part != "*") {
    const size_t dash = part.find('-');
    const auto from = ValueOf(field, part.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : ValueOf(field, part.substr(dash + 1));
    if (!from.has_value() || !to.has_value() || *from > *to) return false;
    first = *from;
    // "3/5" counts from 3 to the end of the range, as in cron.
    last = dash == std::string_view::npos && slash != std::string_view::npos ? field.most : *to;
  }
  for (int v = first; v <= last; v += step) set(v);
  return true;
}

absl::Time ToAbsl(Timestamp at) { return absl::FromUnixMicros(at.us); }

std::optional<absl::CivilDay> DayOf(std::string_view text) {
  absl::CivilDay day;
  const bool whole = text.size() == 10 && absl::ParseCivilTime({text.data(), text.size()}, &day);
  return whole ? std::optional(day) : std::nullopt;
}

}  // namespace

absl::StatusOr<CronTimes> CronTimes::Parse(std::string_view text) {
  const std::vector<std::string_view> fields = Pieces(text, " \t");
  if (fields.size() != std::size(kFields)) {
    return absl::InvalidArgumentError(StrCat(
        "\"", text, "\" has ", fields.size(),
        " fields: expected five (minute, hour, day of the month, month, day of the week), as 0 8 * * 1-5"));
  }
  CronTimes times;
  for (size_t f = 0; f < fields.size(); ++f) {
    const Field& field = kFields[f];
    for (const std::string_view part : Split(fields[f], ',')) {
      const bool good = AddPart(field, part, [&](int v) {
        const auto bit = static_cast<size_t>(v);
        if (f == 0) times.minutes_.set(bit);
        if (f == 1) times.hours_.set(bit);
        if (f == 2) times.days_.set(bit);
        if (f == 3) times.months_.set(bit);
        if (f == 4) times.weekdays_.set(bit % 7);
      });
      if (!good) {
        return absl::InvalidArgumentError(StrCat("invalid ", field.name, " \"", fields[f],
                                                 "\": expected *, numbers from ", field.least, " to ",
                                                 field.most, ", ranges, lists or steps"));
      }
    }
  }
  times.any_day_ = fields[2].starts_with('*');
  times.any_weekday_ = fields[4].starts_with('*');
  if (!times.HasDay()) {
    return absl::InvalidArgumentError(StrCat("day of the month \"", fields[2], "\" and month \"", fields[3],
                                             "\" never come: no such month has such a day"));
  }
  return times;
}

bool CronTimes::HasDay() const {
  constexpr std::array<size_t, 13> kDaysOf = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (!any_day_ && !any_weekday_) return true;  // a matching day of the week suffices
  for (size_t month = 1; month < kDaysOf.size(); ++month) {
    if (!months_.test(month)) continue;
    for (size_t day = 1; day <= kDaysOf[month]; ++day) {
      if (days_.test(day)) return true;
    }
  }
  return false;
}

bool CronTimes::FitsDay(absl::CivilDay day) const {
  if (!months_.test(static_cast<size_t>(day.month()))) return false;
  const bool by_day = days_.test(static_cast<size_t>(day.day()));
  const auto weekday = (static_cast<size_t>(absl::GetWeekday(day)) + 1) % 7;  // absl counts from Monday
  const bool by_weekday = weekdays_.test(weekday);
  return any_day_ || any_weekday_ ? by_day && by_weekday : by_day || by_weekday;
}

std::optional<absl::Time> CronTimes::LastOfDay(absl::CivilDay day, absl::Time at,
                                               const absl::TimeZone& zone) const {
  // After the clock is set back, a civil time later than the current civil time may be an earlier instant.
  const absl::CivilHour latest = absl::CivilHour(zone.At(at).cs) + kMostChangeHours;
  std::optional<absl::Time> last;
  for (int h = 23; h >= 0; --h) {
    const absl::CivilHour hour = absl::CivilHour(day) + h;
    if (!hours_.test(static_cast<size_t>(h)) || hour > latest) continue;
    for (int m = 59; m >= 0; --m) {
      if (!minutes_.test(static_cast<size_t>(m))) continue;
      const absl::TimeZone::TimeInfo info = zone.At(absl::CivilSecond(absl::CivilMinute(hour) + m));
      const absl::Time time = info.kind == absl::TimeZone::TimeInfo::SKIPPED ? info.trans : info.pre;
      if (time <= at && (!last.has_value() || time > *last)) last = time;
    }
    if (last.has_value()) return last;
  }
  return last;
}

template <typename Counts>
std::optional<absl::Time> CronTimes::LastBefore(absl::Time at, const absl::TimeZone& zone,
                                                Counts&& counts) const {
  const absl::CivilDay today(zone.At(at).cs);
  for (int back = 0; back <= kDaysBack; ++back) {
    const absl::CivilDay day = today - back;
    if (!FitsDay(day) || !counts(day)) continue;
    const std::optional<absl::Time> last = LastOfDay(day, at, zone);
    if (last.has_value()) return last;
  }
  return std::nullopt;
}

bool ReplicaSchedule::Rule::Holds(absl::Time at) const {
  const auto any = [](absl::CivilDay) { return true; };
  const auto begins = [this](absl::CivilDay day) { return !std::ranges::binary_search(except, day); };
  const std::optional<absl::Time> began = from.LastBefore(at, zone, begins);
  if (!began.has_value()) return false;
  const std::optional<absl::Time> ended = to.LastBefore(at, zone, any);
  // If an end coincides with a beginning, the rule is not in force.
  return !ended.has_value() || *ended < *began;
}

absl::StatusOr<ReplicaSchedule::Rule> ReplicaSchedule::ParseRule(std::string_view text) {
  constexpr std::string_view kWords[] = {"from", "to", "in", "min", "max", "except"};
  std::array<std::string, std::size(kWords)> parts;
  std::array<bool, std::size(kWords)> given{};
  std::string* part = nullptr;
  for (const std::string_view word : Pieces(text, " \t\n")) {
    const auto* const known = std::ranges::find(kWords, word);
    if (known != std::end(kWords)) {
      const auto at = static_cast<size_t>(known - std::begin(kWords));
      if (std::exchange(given[at], true)) return absl::InvalidArgumentError(StrCat("\"", word, "\" twice"));
      part = &parts[at];
    } else if (part == nullptr) {
      return absl::InvalidArgumentError(StrCat("\"", word, "\": expected from"));
    } else {
      StrAppend(part, part->empty() ? "" : " ", word);
    }
  }
  if (!given[0] || !given[1] || (!given[3] && !given[4]))
    return absl::InvalidArgumentError("expected from TIMES to TIMES and min N, max N or both");
  Rule rule;
  rule.text = std::string(text);
  for (const auto& [times, from] : {std::pair(&rule.from, &parts[0]), std::pair(&rule.to, &parts[1])}) {
    absl::StatusOr<CronTimes> parsed = CronTimes::Parse(*from);
    if (!parsed.ok()) return parsed.status();
    *times = *parsed;
  }
  if (parts[0] == parts[1]) return absl::InvalidArgumentError("from and to are the same times");
  rule.zone = absl::UTCTimeZone();
  if (given[2] && !absl::LoadTimeZone(parts[2], &rule.zone)) {
    return absl::InvalidArgumentError(StrCat("unknown time zone \"", parts[2],
                                             "\": expected a name of the package tzdata, as Europe/Berlin"));
  }
  for (const auto& [count, at] : {std::pair(&rule.min, 3), std::pair(&rule.max, 4)}) {
    if (!given[static_cast<size_t>(at)]) continue;
    const std::string& number = parts[static_cast<size_t>(at)];
    *count = NumberOf(number, 0, kMostScheduledTasks);
    if (!count->has_value()) {
      return absl::InvalidArgumentError(StrCat("invalid ", kWords[static_cast<size_t>(at)], " \"", number,
                                               "\": expected a whole number from 0 to ",
                                               kMostScheduledTasks));
    }
  }
  if (rule.min.has_value() && rule.max.has_value() && *rule.min > *rule.max)
    return absl::InvalidArgumentError(StrCat("min ", *rule.min, " is above max ", *rule.max));
  for (const std::string_view day : Pieces(parts[5], ", ")) {
    const std::optional<absl::CivilDay> date = DayOf(day);
    if (!date.has_value())
      return absl::InvalidArgumentError(StrCat("invalid date \"", day, "\": expected YYYY-MM-DD"));
    rule.except.push_back(*date);
  }
  std::ranges::sort(rule.except);
  return rule;
}

absl::StatusOr<ReplicaSchedule> ReplicaSchedule::Parse(std::string_view text) {
  ReplicaSchedule schedule;
  auto rules = std::make_shared<std::vector<Rule>>();
  for (std::string_view rule_text : Split(text, ';')) {
    rule_text = StripSpace(rule_text);
    if (rule_text.empty()) continue;
    absl::StatusOr<Rule> rule = ParseRule(rule_text);
    if (!rule.ok()) {
      return absl::InvalidArgumentError(StrCat("invalid rule \"", rule_text, "\": ", Message(rule.status())));
    }
    rules->push_back(*std::move(rule));
  }
  if (rules->empty()) return schedule;
  schedule.text_ = std::string(StripSpace(text));
  schedule.rules_ = std::move(rules);
  return schedule;
}

ReplicaSchedule::Limits ReplicaSchedule::At(Timestamp at) const {
  Limits limits;
  if (rules_ == nullptr) return limits;
  for (const Rule& rule : *rules_) {
    if (!rule.Holds(ToAbsl(at))) continue;
    if (rule.min.has_value() && rule.min > limits.min) {
      limits.min = rule.min;
      limits.min_rule = rule.text;
    }
    if (rule.max.has_value() && (!limits.max.has_value() || *rule.max < *limits.max)) {
      limits.max = rule.max;
      limits.max_rule = rule.text;
    }
  }
  if (limits.min.has_value() && limits.max.has_value()) limits.max = std::max(*limits.max, *limits.min);
  return limits;
}

}  // namespace taut::brain
