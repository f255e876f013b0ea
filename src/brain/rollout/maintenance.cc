#include "brain/rollout/maintenance.h"

#include <algorithm>
#include <array>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr int kDayMinutes = 1440;
constexpr size_t kMaxWindows = 64;

// Returns the day of the week of a day since the epoch, which was a Thursday; 0 is Monday.
int WeekDay(int64_t day) { return static_cast<int>(((day + 3) % 7 + 7) % 7); }

int EndOf(const MaintenanceWindow& w) {
  return w.end_minute > w.start_minute ? w.end_minute : w.end_minute + kDayMinutes;
}

// Returns the day of the week, where 0 is Monday; -1 if the text is not a day. Ignores case. Only the first
// three letters count, so that "Monday" is valid.
int ParseDay(std::string_view text) {
  if (text.size() < 3) return -1;
  std::string name(text.substr(0, 3));
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  const auto found = std::find(kDays.begin(), kDays.end(), name);
  return found == kDays.end() ? -1 : static_cast<int>(found - kDays.begin());
}

// Parses a list of days such as "Mon-Fri,Sun". Returns 0 if the text is not a list of days.
uint8_t ParseDays(std::string_view text) {
  uint32_t days = 0;
  for (const std::string_view part : Split(text, ',')) {
    const size_t dash = part.find('-');
    const int first = ParseDay(StripSpace(part.substr(0, dash)));
    const int last = dash == std::string_view::npos ? first : ParseDay(StripSpace(part.substr(dash + 1)));
    if (first < 0 || last < 0) return 0;
    for (int d = first;; d = (d + 1) % 7) {
      days |= 1U << d;
      if (d == last) break;
    }
  }
  return static_cast<uint8_t>(days);
}

// Parses a time such as "22:00" to minutes. Returns -1 if the text is not a time or the time exceeds `most`.
int ParseMinute(std::string_view text, int most) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const size_t colon = text.find(':');
  if ((colon != 1 && colon != 2) || text.size() != colon + 3) return -1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i != colon && !digit(text[i])) return -1;
  }
  int hour = text[0] - '0';
  if (colon == 2) hour = hour * 10 + (text[1] - '0');
  const int minute = (text[colon + 1] - '0') * 10 + (text[colon + 2] - '0');
  const int all = hour * 60 + minute;
  return minute < 60 && all <= most ? all : -1;
}

absl::StatusOr<MaintenanceWindow> ParseWindow(std::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(StrCat(
      "\"", text, "\" is not a weekly time; expected Mon-Fri 22:00-06:00 or Sat,Sun 00:00-24:00 (UTC)"));
  if (text.size() > 3 && text.substr(text.size() - 3) == "UTC") {
    text = StripSpace(text.substr(0, text.size() - 3));
  }
  MaintenanceWindow window;
  const size_t space = text.find_last_of(" \t");
  const std::string_view time = space == std::string_view::npos ? text : text.substr(space + 1);
  if (space != std::string_view::npos) {
    window.days = ParseDays(StripSpace(text.substr(0, space)));
    if (window.days == 0) return bad;
  }
  const size_t dash = time.find('-');
  if (dash == std::string_view::npos) return bad;
  window.start_minute = ParseMinute(time.substr(0, dash), kDayMinutes - 1);
  window.end_minute = ParseMinute(time.substr(dash + 1), kDayMinutes);
  if (window.start_minute < 0 || window.end_minute < 0) return bad;
  return window;
}

std::string DaysText(uint8_t days) {
  std::string out;
  for (int d = 0; d < 7; ++d) {
    if ((days >> d & 1U) == 0) continue;
    int last = d;
    while (last < 6 && (days >> (last + 1) & 1U) != 0) ++last;
    StrAppend(&out, out.empty() ? "" : ",", kDays[static_cast<size_t>(d)]);
    if (last > d) StrAppend(&out, last == d + 1 ? "," : "-", kDays[static_cast<size_t>(last)]);
    d = last;
  }
  return out;
}

}  // namespace

bool InMaintenance(const std::vector<MaintenanceWindow>& windows, int64_t now_s) {
  if (windows.empty()) return true;
  const int64_t day = FloorDiv(now_s, kDaySeconds);
  const int64_t second = now_s - day * kDaySeconds;
  for (const MaintenanceWindow& w : windows) {
    const int64_t start = int64_t{w.start_minute} * 60, end = int64_t{EndOf(w)} * 60;
    if ((w.days >> WeekDay(day) & 1U) != 0 && second >= start && second < end) return true;
    // A window that started yesterday may end today.
    const int64_t since_yesterday = second + kDaySeconds;
    if ((w.days >> WeekDay(day - 1) & 1U) != 0 && since_yesterday >= start && since_yesterday < end) {
      return true;
    }
  }
  return false;
}

std::optional<int64_t> NextMaintenance(const std::vector<MaintenanceWindow>& windows, int64_t now_s) {
  std::optional<int64_t> next;
  const int64_t today = FloorDiv(now_s, kDaySeconds);
  for (const MaintenanceWindow& w : windows) {
    for (int64_t day = today; day <= today + 7; ++day) {
      const int64_t start = day * kDaySeconds + int64_t{w.start_minute} * 60;
      if ((w.days >> WeekDay(day) & 1U) == 0 || start <= now_s) continue;
      next = std::min(next.value_or(start), start);
      break;
    }
  }
  return next;
}

absl::StatusOr<std::vector<MaintenanceWindow>> ParseMaintenance(std::string_view text) {
  std::vector<MaintenanceWindow> windows;
  for (std::string_view part : Split(text, ';')) {
    part = StripSpace(part);
    if (part.empty()) continue;
    absl::StatusOr<MaintenanceWindow> window = ParseWindow(part);
    if (!window.ok()) return window.status();
    if (windows.size() == kMaxWindows) {
      return absl::InvalidArgumentError(StrCat("more than ", kMaxWindows, " maintenance windows"));
    }
    windows.push_back(*window);
  }
  return windows;
}

std::string MaintenanceText(const std::vector<MaintenanceWindow>& windows) {
  std::string out;
  for (const MaintenanceWindow& w : windows) {
    StrAppend(&out, out.empty() ? "" : "; ", DaysText(w.days),
              fmt::format(" {:02}:{:02}-{:02}:{:02}", w.start_minute / 60, w.start_minute % 60,
                          w.end_minute / 60, w.end_minute % 60));
  }
  return out;
}

std::string WeekTime(int64_t time_s) {
  const int64_t day = FloorDiv(time_s, kDaySeconds);
  const int64_t minute = (time_s - day * kDaySeconds) / 60;
  return fmt::format("{} {:02}:{:02} UTC", kDays[static_cast<size_t>(WeekDay(day))], minute / 60,
                     minute % 60);
}

}  // namespace taut::brain
