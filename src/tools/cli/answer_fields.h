// Formats fields of the daemon's responses; "-" for a missing field or one of another type.
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
// Returns "1 job" or "2 jobs" for `one` "job".
std::string FieldCount(const Json& object, const char* key, std::string_view one);
std::string FieldTime(const Json& object, const char* key);
std::string FieldAmount(Target target, const Json& object, const char* key);
// Returns an amount without the word "cores", for columns with the head CPU.
std::string FieldShort(Resource r, const Json& object, const char* key);
// Returns an amount that may be negative.
std::string SignedShort(Resource r, std::optional<double> amount);
// Returns the would-be limit. If there is too little history, returns the provisional limit, with "~" before
// it.
std::string WouldBe(Resource r, const Json& amounts);
// Returns "12.3 EUR a month"; "" without prices.
std::string MonthlyMoney(const Json& amount, const Json& currency);
// Returns the kind of a decision in words: "would set" for "would_set".
std::string KindWords(const std::string& kind);
// Returns the resource that the object names; memory if it names none.
Resource FieldResource(const Json& object);

}  // namespace taut::tools
