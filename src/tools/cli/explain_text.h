// A reason as text for people: the same for a trace and for a daemon.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/reason.h"
#include "common/model/target.h"

namespace taut::tools {

// "analogs · memory: 1.2 GiB", the sentence, the facts, the candidates and the steps; a blank line last.
// `limit` is what came of it; nullopt: nothing is in force yet.
std::string ExplainText(Target target, std::optional<double> limit, const Reason& reason);

}  // namespace taut::tools
