// Formats fields of the daemon's responses. A field that is missing or has an unexpected type results in "-".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/resource.h"
#include "common/model/rollout.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

std::string FieldText(const Json& object, const char* key);
std::optional<double> FieldNumber(const Json& object, const char* key);
std::string FieldCount(const Json& object, const char* key);
// Returns the number at `key` with the noun `one` in singular or plural: "1 job", "2 jobs".
std::string FieldCount(const Json& object, const char* key, std::string_view one);
std::string FieldTime(const Json& object, const char* key);
std::string FieldDuration(const Json& object, const char* key);  // the value is in seconds
std::string FieldAmount(Target target, const Json& object, const char* key);
// Returns an amount without its unit "cores", for columns whose head is CPU.
std::string FieldShort(Resource r, const Json& object, const char* key);
// Formats an amount that may be negative; "-" if the amount is absent.
std::string SignedShort(Resource r, std::optional<double> amount);
// Returns the would-be limit. If there is too little history, returns "~" and the provisional limit.
std::string WouldBe(Resource r, const Json& amounts);
// Returns the key of the limit in force: the limit that agents report, else the decided limit if it is applied,
// else the owner's limit.
const char* RealLimitKey(const Json& amounts, const Json& enforced);
// Returns a line for each of the response's `warnings`.
std::string WarningsText(const Json& page);
// Returns a text such as "12.3 EUR a month"; "" if there are no prices.
std::string MonthlyMoney(const Json& amount, const Json& currency);
// Returns the kind of a decision in words: "would set" for "would_set".
std::string KindWords(const std::string& kind);
// Returns the resource that the object names; memory if the object names none.
Resource FieldResource(const Json& object);

}  // namespace taut::tools
