// What the agent knows of a task, as the messages of proto/agent.proto.
#pragma once

#include "agent.pb.h"
#include "node/agent/agent_task.h"
#include "node/agent/ledger.h"

namespace taut::node {

taut::agent::v1::TaskName NameMessage(const FoundTask& task);
using LabelMap = google::protobuf::Map<std::string, std::string>;
LabelMap LabelMessage(const FoundTask& task);
taut::agent::v1::Task TaskMessage(const AgentTask& task, bool managed);
taut::agent::v1::TaskWindow WindowMessage(const AgentTask& task, const NodeWindow& window);

// The same, up to what kernels and engines round: pages of memory, 1 ms of quota in 100, shares for a weight.
bool SameLimit(LimitKind kind, std::optional<double> a, std::optional<double> b);
// Did the agent write what the kernel holds?
bool IsOurs(LimitKind kind, const LedgerValue& value, std::optional<double> holds);

}  // namespace taut::node
