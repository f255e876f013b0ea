// costs, bills, requests and budget: the commands about money and quota of a running tautd.
#pragma once

#include "tools/cli/verb_list.h"

namespace taut::tools {

void AddMoneyVerbs(VerbList& verbs);

}  // namespace taut::tools
