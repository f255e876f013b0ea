// Formats a reason for people, from a trace or from a daemon.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/reason.h"
#include "common/model/target.h"

namespace taut::tools {

// Returns "analogs · memory: 1.2 GiB", the sentence, the facts, the candidates, the steps, and a blank line.
// `limit` is the result; nullopt: no limit is in force yet.
std::string ExplainText(Target target, std::optional<double> limit, const Reason& reason);

}  // namespace taut::tools
