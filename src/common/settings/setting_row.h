// One table of settings: its rows stand beside the struct that owns their values, and files, documents, command
// lines and the API read them.
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

// The key of a setting before its unit left it. A plain number under it counts such units: 3,600 of hours.
struct OldKey {
  std::string_view key;
  double unit = 1;  // in what the new key is in: seconds, bytes or plain
};

struct SettingExtras {
  bool reloads = false;  // SIGHUP takes another value over; else a restart does
  double scale = 1;      // FieldSpec::scale
  OldKey old = {};
};

constexpr SettingExtras Was(std::string_view old_key, double unit = 1, double scale = 1) {
  return {.scale = scale, .old = {old_key, unit}};
}
constexpr SettingExtras Reloads(SettingExtras extras = {}) {
  extras.reloads = true;
  return extras;
}

template <typename Owner>
struct SettingRow {
  std::string_view key;  // "server.limits.body"
  std::string_view help;
  FieldUnit unit = FieldUnit::kPlain;
  double min = 0, max = 0;  // FieldSpec's
  FieldRef (*field)(Owner&);
  SettingExtras extras = {};

  FieldSpec spec() const { return {key, unit, min, max, extras.scale}; }
};

// Sentences for the reader of a file: a key is an old one, and the new key with its value.
using SettingNotices = std::vector<std::string>;

// The values under an old key as they are written under the new one.
std::vector<std::string> FromOldKey(const FieldSpec& spec, const OldKey& old,
                                    std::span<const std::string> values);
// "peak.days is now peak.window; write peak.window: 2w".
std::string OldKeyNotice(const FieldSpec& spec, const OldKey& old, std::span<const std::string> values);

// The row of this key, also of an old one; null: there is none.
template <typename Owner>
const SettingRow<Owner>* FindSetting(std::span<const SettingRow<Owner>> rows, std::string_view key) {
  for (const SettingRow<Owner>& row : rows) {
    if (row.key == key || (!row.extras.old.key.empty() && row.extras.old.key == key)) return &row;
  }
  return nullptr;
}

// Sets the row's value from what stands under `key`, which is the row's or its old one; the latter adds a notice.
// InvalidArgument names the row's key.
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

// The same from one text: of a list "[1h, 6h]".
template <typename Owner>
absl::Status SetSetting(const SettingRow<Owner>& row, std::string_view key, std::string_view text,
                        Owner& owner, SettingNotices* notices = nullptr) {
  const std::vector<std::string> items =
      row.field(owner).is_list() ? ShownItems(StripSpace(text)) : std::vector<std::string>{std::string(text)};
  return SetSetting(row, key, std::span<const std::string>(items), owner, notices);
}

template <typename Owner>
std::string GetSetting(const SettingRow<Owner>& row, const Owner& owner) {
  Owner copy = owner;
  return ShowField(row.spec(), row.field(copy));
}

}  // namespace taut
