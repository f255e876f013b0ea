// An answer of the daemon: its values by name, whatever it has, and printing it in the form that was asked for.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

inline constexpr const char* kNothing = "-";  // in a table, for what is not there

// The value of a key; null if `object` is none or does not have it.
const Json& At(const Json& object, std::string_view key);
// Its items; none if it is no array.
const Json& ItemsAt(const Json& object, std::string_view key);
// A text on one line; "" for another value.
std::string TextAt(const Json& object, std::string_view key);

// A whole number; 0 for another value.
int64_t IntAt(const Json& object, std::string_view key);
// Of a share: "0.08 %", "25 %", "100 %": two significant digits or whole per cent, never a power of ten.
std::string PercentText(double share);

// Returns `answer` as JSON, YAML or CSV. REQUIRES: not kTable.
std::string Formatted(OutputForm form, const Json& answer);
// The same of the text of a JSON document, which is returned as it is where JSON is the form.
std::string FormattedText(OutputForm form, std::string json);
// Prints `answer` as JSON, YAML or CSV, or else the table that `text` makes.
void Show(OutputForm form, const Json& answer, absl::FunctionRef<std::string()> text);

// The exit code of a verb that asked the daemon; prints what went wrong.
int Finish(const absl::Status& status);

}  // namespace taut::tools
