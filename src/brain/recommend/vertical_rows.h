// The settings of recommenders as rows over VerticalSettings.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "brain/recommend/settings.h"
#include "common/settings/setting_row.h"

namespace taut::brain {

using VerticalSetting = SettingRow<VerticalSettings>;

// Returns all rows, grouped by the part of the key before the dot, in a fixed order.
std::span<const VerticalSetting> VerticalSettingRows();

// Sets one value from text ("0.5", "[1h, 6h]", "paper"). InvalidArgument contains the key with the allowed values,
// or the nearest key. A former key is accepted, and adds a notice to `notices`.
absl::Status SetVerticalSetting(std::string_view key, std::string_view value, VerticalSettings& settings,
                                SettingNotices* notices = nullptr);

}  // namespace taut::brain
