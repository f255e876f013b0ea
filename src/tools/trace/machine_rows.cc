#include "tools/trace/machine_rows.h"

#include "fmt/format.h"

namespace taut::tools {

uint32_t MachineRows::Number(int64_t id) {
  if (id == last_id_ && last_number_ != UINT32_MAX) return last_number_;
  const auto [at, added] = numbers_.try_emplace(id, 0);
  if (added) at->second = machines_->Number(fmt::format("{}", id));
  last_id_ = id;
  return last_number_ = at->second;
}

void MachineRows::TakeEvent(uint32_t machine, brain::MachineEvent event, uint64_t line,
                            std::string_view text) {
  has_table_ = true;
  const brain::MachineEvent* const before = machines_->LastEvent(machine);
  if (before != nullptr && event.time < before->time)
    report_.Keep("event of a machine behind a later one of it", files_.back(), line, text);
  event.place = uint64_t{files_.size() - 1} << kLineBits | line;
  machines_->AddEvent(machine, event);
}

void MachineRows::TakePlace(JobId job, uint32_t task, Timestamp start, uint32_t machine, uint64_t line,
                            std::string_view text) {
  has_rows_ = true;
  if (has_table_ && !machines_->listed(machine)) Keep(unlisted_, line, text);
  sink_.OnPlaced(job, task, start, machine);
}

void MachineRows::TakeNoPlace(uint64_t line, std::string_view text) {
  has_rows_ = true;
  Keep(nowhere_, line, text);
}

void MachineRows::Keep(Frequent& frequent, uint64_t line, std::string_view text) {
  if (frequent.counted != nullptr && frequent.counted->examples.size() >= 3) {
    ++frequent.counted->count;
    return;
  }
  report_.Keep(frequent.cause, files_.back(), line, text);
  frequent.counted = &report_.kept.find(std::string(frequent.cause))->second;
}

void MachineRows::Finish() {
  if (!wanted()) return;
  machines_->SettleEvents([this](std::string_view cause, uint32_t machine, const brain::MachineEvent& e) {
    report_.Keep(cause, files_[e.place >> kLineBits], e.place & ((uint64_t{1} << kLineBits) - 1),
                 fmt::format("machine {} at {} s", machines_->name(machine), e.time.seconds()));
  });
  if (has_rows_ && !has_table_)
    report_.warnings.emplace_back("no table of machines was read: what the machines have is not known");
}

}  // namespace taut::tools
