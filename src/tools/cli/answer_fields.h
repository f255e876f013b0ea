// Fields of the daemon's answers as text; "-" for what is missing or has another form.
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
// "1 job", "2 jobs", for `one` "job".
std::string FieldCount(const Json& object, const char* key, std::string_view one);
std::string FieldTime(const Json& object, const char* key);
std::string FieldAmount(Target target, const Json& object, const char* key);
// Cores without the word: for columns that are headed CPU.
std::string FieldShort(Resource r, const Json& object, const char* key);
// An amount that may be negative.
std::string SignedShort(Resource r, std::optional<double> amount);
// What would be, or what it may come to while too little history is known.
std::string WouldBe(Resource r, const Json& amounts);
// "12.3 EUR a month"; "" without prices.
std::string MonthlyMoney(const Json& amount, const Json& currency);
// "would set", of "would_set".
std::string KindWords(const std::string& kind);
// The resource that the object names.
Resource FieldResource(const Json& object);

}  // namespace taut::tools
