#include "server/api/parameters.h"

#include <algorithm>
#include <vector>

#include "common/base/nearest.h"
#include "common/base/printable.h"
#include "common/base/row_named.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/base/time.h"

namespace taut::server {

absl::StatusOr<int64_t> IntParameter(const HttpRequest& request, std::string_view name, int64_t otherwise,
                                     int64_t low, int64_t high) {
  const std::string* text = request.parameter(name);
  if (text == nullptr || text->empty()) return otherwise;
  const std::optional<int64_t> value = WholeNumber(*text);
  if (!value.has_value() || *value < low || *value > high) {
    return absl::InvalidArgumentError(StrCat("invalid ", name, "=", ShortText(*text),
                                             ": expected a whole number from ", low, " to ", high));
  }
  return *value;
}

absl::StatusOr<PageOfList> PageParameters(const HttpRequest& request) {
  PageOfList page;
  const std::string order = TextParameter(request, "order");
  if (!order.empty() && order != "asc" && order != "desc")
    return absl::InvalidArgumentError("invalid order: expected asc or desc");
  if (!order.empty()) page.ascending = order == "asc";
  const absl::StatusOr<int64_t> offset = IntParameter(request, "offset", 0, 0, INT32_MAX);
  if (!offset.ok()) return offset.status();
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return limit.status();
  page.offset = static_cast<size_t>(*offset);
  page.limit = static_cast<size_t>(*limit);
  return page;
}

absl::StatusOr<TimeSpan> SpanParameters(const HttpRequest& request, int64_t now_s) {
  constexpr int64_t kFarTime = int64_t{1} << 40;
  const absl::StatusOr<int64_t> to = IntParameter(request, "to", now_s, -kFarTime, kFarTime);
  if (!to.ok()) return to.status();
  const absl::StatusOr<int64_t> from = IntParameter(request, "from", *to - 7 * kDaySeconds, -kFarTime, *to);
  if (!from.ok()) return from.status();
  return TimeSpan{*from, *to};
}

absl::StatusOr<std::optional<Resource>> ResourceParameter(const HttpRequest& request) {
  const std::string* text = request.parameter("resource");
  if (text == nullptr || text->empty()) return std::optional<Resource>();
  const std::optional<Resource> resource = ResourceNamed(*text);
  if (resource.has_value()) return resource;
  return absl::InvalidArgumentError(
      StrCat("invalid resource=", ShortText(*text), ": expected ", RowNames(kResourceRows)));
}

absl::StatusOr<std::optional<Target>> TargetParameter(const HttpRequest& request) {
  const std::string text = TextParameter(request, "target");
  const absl::StatusOr<std::optional<Resource>> resource = ResourceParameter(request);
  if (!resource.ok()) return resource.status();
  if (text.empty()) return resource->has_value() ? std::optional<Target>(**resource) : std::nullopt;
  const std::optional<Target> target = TargetNamed(text);
  if (!target.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("invalid target=", ShortText(text), ": expected ", TargetNames()));
  }
  if (resource->has_value() && *target != **resource) {
    return absl::InvalidArgumentError(StrCat("invalid target=", ShortText(text),
                                             " with resource=", Name(**resource), ": expected one of them"));
  }
  return target;
}

std::string TextParameter(const HttpRequest& request, std::string_view name) {
  const std::string* text = request.parameter(name);
  return text == nullptr ? std::string() : *text;
}

absl::Status OnlyParameters(const HttpRequest& request, std::initializer_list<std::string_view> names) {
  for (const QueryParameter& p : request.query) {
    if (std::find(names.begin(), names.end(), p.name) != names.end()) continue;
    const std::vector<std::string_view> known(names);
    return absl::InvalidArgumentError(
        known.empty() ? StrCat("no parameter \"", ShortText(p.name), "\" here; there are none")
                      : StrCat("no parameter \"", ShortText(p.name), "\" here; did you mean \"",
                               NearestName(p.name, known), "\"?"));
  }
  return absl::OkStatus();
}

}  // namespace taut::server
