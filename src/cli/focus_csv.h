// Bills as rows of the FinOps Open Cost and Usage Specification (FOCUS) 1.0, CSV.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "config/price_file.h"
#include "economy/bill.h"
#include "model/usage.h"

namespace taut {

// Appends the header, a row per line of a bill, and a row per share of idle cost. BilledCost adds up to the total
// of the bills exactly. The period is that of `options`.
void AppendFocusCsv(const PoolBill& bill, const Pricing& pricing, const BillOptions& options,
                    std::span<const JobInfo> jobs, const std::function<void(const std::string&)>& append);

}  // namespace taut
