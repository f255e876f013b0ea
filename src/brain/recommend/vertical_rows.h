// The settings of recommenders by name: rows of VerticalSettings.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "brain/recommend/settings.h"
#include "common/settings/setting_row.h"

namespace taut::brain {

using VerticalSetting = SettingRow<VerticalSettings>;

// Grouped by the part of the key before the dot, in a fixed order.
std::span<const VerticalSetting> VerticalSettingRows();

// Sets one value from text ("0.5", "[1h, 6h]", "paper"). InvalidArgument names the key, the choices or the nearest
// key. An old key is read with a notice.
absl::Status SetVerticalSetting(std::string_view key, std::string_view value, VerticalSettings& settings,
                                SettingNotices* notices = nullptr);

}  // namespace taut::brain
