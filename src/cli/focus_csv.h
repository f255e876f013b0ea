// Bills as rows of the FinOps Open Cost and Usage Specification (FOCUS) 1.0, CSV.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "config/price_file.h"
#include "economy/bill.h"
#include "model/usage.h"
#include "sim/bill_replay.h"

namespace taut {

// Appends the header, a row per line of a job's bill and one per credit, and one per share of idle cost and
// overhead. BilledCost adds up to the total of the bill exactly. `jobs`: by the number that the bill has of
// a job.
void AppendFocusCsv(const Bill& bill, const Pricing& pricing, const BillPeriod& period,
                    std::span<const JobInfo> jobs, const std::function<void(const std::string&)>& append);

}  // namespace taut
