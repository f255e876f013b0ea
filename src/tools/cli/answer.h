// Reads values of the daemon's responses by name, whatever their type, and prints responses in the requested
// format.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

inline constexpr const char* kNothing = "-";  // shown in a table for an absent value

// Returns the value of a key; null if `object` is not an object, or lacks the key.
const Json& At(const Json& object, std::string_view key);
// Returns the array at a key; an empty array if the value is not an array.
const Json& ItemsAt(const Json& object, std::string_view key);
// Returns the text at a key on one line; "" for a value of another type.
std::string TextAt(const Json& object, std::string_view key);

// Returns the whole number at a key; 0 for a value of another type.
int64_t IntAt(const Json& object, std::string_view key);
// Formats a share as "0.08 %", "25 %" or "100 %": with two significant digits or whole per cent, never as a
// power of ten.
std::string PercentText(double share);

// Returns `answer` as JSON, YAML or CSV. REQUIRES: `form` is not kTable.
std::string Formatted(OutputForm form, const Json& answer);
// Formats the text of a JSON document as YAML or CSV. Returns the text unchanged if the form is JSON.
std::string FormattedText(OutputForm form, std::string json);
// Prints `answer` as JSON, YAML or CSV, or the table that `text` returns.
void Show(OutputForm form, const Json& answer, absl::FunctionRef<std::string()> text);

// Prints the error if `status` is not OK, and returns the exit code of a command that queried the daemon.
int Finish(const absl::Status& status);

}  // namespace taut::tools
