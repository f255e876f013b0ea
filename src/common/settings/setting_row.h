// Tables of settings. The rows are defined next to the struct that holds the values; files, documents,
// command lines and the API all read the same table.
//
//   constexpr SettingRow<PeakSettings> kRows[] = {
//       {"peak.window", "time over which the peak is taken", FieldUnit::kDuration, 2 * kHour, 400 * kDay,
//        +[](PeakSettings& s) -> FieldRef { return &s.days; }, Was("peak.days", kDay, kDay)}};
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/settings/setting_field.h"

namespace taut {

// The former key of a setting, which contained a unit. A plain number under the former key is in this unit.
struct OldKey {
  std::string_view key;
  double unit = 1;  // size of the former unit in seconds, bytes or plain numbers; 3,600 for hours
};

struct SettingExtras {
  bool reloads = false;  // true if SIGHUP applies a change, false if a restart is needed
  double scale = 1;      // FieldSpec::scale
  OldKey old = {};
};

// Returns extras with the former key of a setting.
constexpr SettingExtras Was(std::string_view old_key, double unit = 1, double scale = 1) {
  return {.scale = scale, .old = {old_key, unit}};
}
// Returns `extras`, with the addition that SIGHUP applies a change.
constexpr SettingExtras Reloads(SettingExtras extras = {}) {
  extras.reloads = true;
  return extras;
}

template <typename Owner>
struct SettingRow {
  std::string_view key;  // key such as "server.limits.body"
  std::string_view help;
  FieldUnit unit = FieldUnit::kPlain;
  double min = 0, max = 0;  // FieldSpec::min and FieldSpec::max
  FieldRef (*field)(Owner&);
  SettingExtras extras = {};

  FieldSpec spec() const { return {key, unit, min, max, extras.scale}; }
};

// Notices for the author of a file: each reports a former key, and the current key with its value.
using SettingNotices = std::vector<std::string>;

// Converts values under a former key to the notation of the current key.
std::vector<std::string> FromOldKey(const FieldSpec& spec, const OldKey& old,
                                    std::span<const std::string> values);
// Returns "peak.days is now peak.window; write peak.window: 2w".
std::string OldKeyNotice(const FieldSpec& spec, const OldKey& old, std::span<const std::string> values);

// Returns the row with this current or former key; null if no row has this key. O(rows).
template <typename Owner>
const SettingRow<Owner>* FindSetting(std::span<const SettingRow<Owner>> rows, std::string_view key) {
  for (const SettingRow<Owner>& row : rows) {
    if (row.key == key || (!row.extras.old.key.empty() && row.extras.old.key == key)) return &row;
  }
  return nullptr;
}

// Sets the value of a row. `key` is the row's current or former key; a former key adds a notice. Returns
// InvalidArgument, whose text starts with the row's key, for an invalid value; the row's value is then unchanged.
template <typename Owner>
absl::Status SetSetting(const SettingRow<Owner>& row, std::string_view key,
                        std::span<const std::string> values, Owner& owner,
                        SettingNotices* notices = nullptr) {
  if (key == row.key) return SetField(row.spec(), row.field(owner), values);
  const std::vector<std::string> now = FromOldKey(row.spec(), row.extras.old, values);
  const absl::Status s = SetField(row.spec(), row.field(owner), now);
  if (s.ok() && notices != nullptr) notices->push_back(OldKeyNotice(row.spec(), row.extras.old, now));
  return s;
}

// Sets the value from one text; a list is written "[1h, 6h]".
template <typename Owner>
absl::Status SetSetting(const SettingRow<Owner>& row, std::string_view key, std::string_view text,
                        Owner& owner, SettingNotices* notices = nullptr) {
  const std::vector<std::string> items =
      row.field(owner).is_list() ? ShownItems(StripSpace(text)) : std::vector<std::string>{std::string(text)};
  return SetSetting(row, key, std::span<const std::string>(items), owner, notices);
}

// Returns the value as a file contains it. Copies the owner, because rows refer to mutable fields.
template <typename Owner>
std::string GetSetting(const SettingRow<Owner>& row, const Owner& owner) {
  Owner copy = owner;
  return ShowField(row.spec(), row.field(copy));
}

}  // namespace taut
