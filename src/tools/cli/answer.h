// Reads values from the daemon's responses without failing on an unexpected type, and prints responses in the
// requested format.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

inline constexpr const char* kNothing = "-";  // text of an absent value in a table

// Returns the value of a key; null if `object` is not an object or lacks the key.
const Json& At(const Json& object, std::string_view key);
// Returns the array at a key; an empty array if the value is not an array.
const Json& ItemsAt(const Json& object, std::string_view key);
// Returns the text at a key on one line; "" for a value of another type.
std::string TextAt(const Json& object, std::string_view key);

// Returns `n` without its fraction, limited to 9e18 in size; 0 for NaN. A plain conversion of a number outside of
// int64_t would be undefined.
int64_t Whole(double n);
// Returns the number at a key, without its fraction, limited to 9e18 in size; 0 for a value of another type.
int64_t IntAt(const Json& object, std::string_view key);
// Formats a share as "0.08 %", "25 %" or "100 %": whole percent or two significant digits, never scientific
// notation.
std::string PercentText(double share);

// Returns `answer` as JSON, YAML or CSV. REQUIRES: `form` is not kTable.
std::string Formatted(OutputForm form, const Json& answer);
// Formats the text of a JSON document as YAML or CSV. Returns the text unchanged if the form is JSON.
std::string FormattedText(OutputForm form, std::string json);
// Prints `answer` as JSON, YAML or CSV. For kTable, prints the result of `text`.
void Show(OutputForm form, const Json& answer, absl::FunctionRef<std::string()> text);

// Returns the exit code of a command that queried the daemon. Prints the error first if `status` is not OK.
int Finish(const absl::Status& status);

}  // namespace taut::tools
