// What taut economy writes besides its tables: CSV rows and JSON.
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

// Of the jobs of a trace.
struct EconomyNames {
  const brain::PriceSheet* sheet = nullptr;
  const std::vector<JobInfo>* jobs = nullptr;  // by JobId
  std::vector<std::string> groups;             // by number
  std::vector<BilledJob> billed;               // by JobId
};

using AppendRow = std::function<void(const std::string&)>;

extern const std::string_view kDecisionsHead;
std::string DecisionRow(const EconomyDecision& decision, int64_t start_s, const EconomyNames& names);
// policy,group,tier,charges,credits,total: exact, by policy, group and tier.
void AppendBills(const EconomyResult& result, const EconomyNames& names, const AppendRow& append);
// time_s,policy,resource,usage,allocation,reservation,reserved,capacity: in cores and bytes.
void AppendLines(const EconomyResult& result, const AppendRow& append);
Json EconomyJson(const EconomyResult& result, const EconomyNames& names);

}  // namespace taut::tools
