// Writes the files of taut economy: CSV rows and JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "brain/economy/price_sheet.h"
#include "common/model/usage.h"
#include "tools/cli/json_text.h"
#include "tools/sim/economy_replay.h"

namespace taut::tools {

// Names and groups that appear in the files.
struct EconomyNames {
  const brain::PriceSheet* sheet = nullptr;
  const std::vector<JobInfo>* jobs = nullptr;  // jobs of the trace, indexed by JobId
  std::vector<std::string> groups;             // name of each group, by number
  std::vector<BilledJob> billed;               // group and tier of each job, by JobId
};

using AppendRow = std::function<void(const std::string&)>;

extern const std::string_view kDecisionsHead;
std::string DecisionRow(const EconomyDecision& decision, int64_t start_s, const EconomyNames& names);
// Appends rows of policy,group,tier,charges,credits,total with exact amounts, ordered by policy, group and tier.
void AppendBills(const EconomyResult& result, const EconomyNames& names, const AppendRow& append);
// Appends rows of time_s,policy,resource,usage,allocation,reservation,reserved,capacity with amounts in cores and
// bytes.
void AppendLines(const EconomyResult& result, const AppendRow& append);
Json EconomyJson(const EconomyResult& result, const EconomyNames& names);

}  // namespace taut::tools
