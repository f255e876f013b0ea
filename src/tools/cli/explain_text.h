// Formats a reason from a trace or a daemon as text for users.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/reason.h"
#include "common/model/target.h"

namespace taut::tools {

// Returns a line such as "analogs · memory: 1.2 GiB", the sentence, the facts, the candidates, the steps, and a
// blank line. `limit` is the resulting limit; nullopt: no limit is in force. A candidate's limit or cost of NaN is
// absent.
std::string ExplainText(Target target, std::optional<double> limit, const Reason& reason);

}  // namespace taut::tools
