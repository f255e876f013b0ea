// Saves and restores the machine service. Source: docs/reference/formats.md, "The state of machines".
#include <cmath>

#include "common/histogram/checkpoint.h"
#include "fmt/format.h"
#include "server/pool/machine_service.h"

namespace taut::server {
namespace {

constexpr uint32_t kMachinesVersion = 1;
constexpr uint32_t kMaxNumber = 1'000'000;
constexpr size_t kMaxMachinesState = size_t{1} << 30;

void PutOptional(const std::optional<double>& value, ByteWriter& out) {
  out.Put(uint8_t{value.has_value()});
  if (value.has_value()) out.Put(*value);
}
std::optional<double> GetOptional(ByteReader& in) {
  return in.Get<uint8_t>() != 0 ? std::optional(in.Get<double>()) : std::nullopt;
}

void PutAmounts(const MachineAmounts& a, ByteWriter& out) {
  for (const auto* value :
       {&a.capacity, &a.limits, &a.reservations, &a.usage, &a.predicted, &a.reclaimable, &a.reclaimable_now})
    PutOptional(*value, out);
  out.PutVarint(a.without_limit);
  out.PutVarint(a.measured_tasks);
  out.Put(uint8_t{a.learnt});
  out.PutString(a.why);
}
void GetAmounts(ByteReader& in, MachineAmounts& a) {
  for (auto* value :
       {&a.capacity, &a.limits, &a.reservations, &a.usage, &a.predicted, &a.reclaimable, &a.reclaimable_now})
    *value = GetOptional(in);
  a.without_limit = static_cast<uint32_t>(in.GetVarint());
  a.measured_tasks = static_cast<uint32_t>(in.GetVarint());
  a.learnt = in.Get<uint8_t>() != 0;
  a.why = in.GetString();
}

}  // namespace

void MachineService::SaveView(const MachineView& view, ByteWriter& out) {
  out.PutString(view.name);
  out.PutString(view.source);
  out.PutVarint(view.also_in.size());
  for (const std::string& source : view.also_in) out.PutString(source);
  out.Put(uint8_t{view.present});
  out.Put(uint8_t{view.ready});
  out.Put(view.seen_s);
  for (const MachineAmounts& amounts : view.amounts) PutAmounts(amounts, out);
  out.PutVarint(view.tasks.size());
  for (const MachineTaskView& task : view.tasks) {
    out.PutString(task.job);
    out.PutString(task.task);
    for (size_t i = 0; i < task.limit.size(); ++i) {
      PutOptional(task.limit[i], out);
      PutOptional(task.reservation[i], out);
      PutOptional(task.usage[i], out);
    }
  }
}

absl::StatusOr<std::shared_ptr<MachineView>> MachineService::LoadView(ByteReader& in) {
  auto view = std::make_shared<MachineView>();
  view->name = in.GetString();
  view->source = in.GetString();
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) view->also_in.emplace_back(in.GetString());
  view->present = in.Get<uint8_t>() != 0;
  view->ready = in.Get<uint8_t>() != 0;
  view->seen_s = in.Get<int64_t>();
  for (MachineAmounts& amounts : view->amounts) GetAmounts(in, amounts);
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) {
    MachineTaskView& task = view->tasks.emplace_back();
    task.job = in.GetString();
    task.task = in.GetString();
    for (size_t i = 0; i < task.limit.size(); ++i) {
      task.limit[i] = GetOptional(in);
      task.reservation[i] = GetOptional(in);
      task.usage[i] = GetOptional(in);
    }
  }
  if (absl::Status s = in.status("a machine's figures"); !s.ok()) return s;
  return view;
}

void MachineService::SaveMachine(const Machine& machine, ByteWriter& out) {
  SaveView(*machine.view, out);
  out.PutVarint(machine.number);
  out.Put(machine.seen.index);
  for (const OpenPromise& promise : machine.promises) promise.Save(out);
  for (const PromiseCounts& kept : machine.kept) Save(kept, out);
  machine.tasks.Save(out, [&out](const Task& task) {
    for (size_t i = 0; i < task.reservations.size(); ++i) {
      task.reservations[i].Save(out);
      out.Put(task.highest[i]);
      PutOptional(task.asked[i], out);
      PutOptional(task.cap[i], out);
    }
  });
}

absl::Status MachineService::LoadMachine(ByteReader& in, Machine& machine) {
  absl::StatusOr<std::shared_ptr<MachineView>> view = LoadView(in);
  if (!view.ok()) return view.status();
  machine.view = *std::move(view);
  machine.number = static_cast<uint32_t>(in.GetVarint());
  machine.seen.index = in.Get<int32_t>();
  if (!brain::IsWindow(machine.seen.index)) return absl::DataLossError("a machine that was seen at no time");
  for (OpenPromise& promise : machine.promises) {
    absl::StatusOr<OpenPromise> loaded = OpenPromise::Load(in);
    if (!loaded.ok()) return loaded.status();
    promise = *loaded;
  }
  for (PromiseCounts& kept : machine.kept) {
    absl::StatusOr<PromiseCounts> loaded = LoadPromiseCounts(in);
    if (!loaded.ok()) return loaded.status();
    kept = *loaded;
  }
  const auto get = [&in](Task& task) -> absl::Status {
    for (size_t i = 0; i < task.reservations.size(); ++i) {
      absl::StatusOr<brain::Reservation> reservation = brain::Reservation::Load(in);
      if (!reservation.ok()) return reservation.status();
      task.reservations[i] = *reservation;
      task.highest[i] = in.Get<float>();
      if (!std::isfinite(task.highest[i])) return absl::DataLossError("a task whose usage is not a number");
      task.asked[i] = GetOptional(in);
      task.cap[i] = GetOptional(in);
    }
    return absl::OkStatus();
  };
  return machine.tasks.Load(
      in, [] { return Task(); }, get);
}

std::string MachineService::SaveState() const {
  std::string payload;
  ByteWriter out(&payload);
  const std::lock_guard lock(mutex_);
  out.Put(kMachinesVersion);
  out.Put(uint8_t{window_.has_value()});
  out.Put(window_.value_or(WindowId{0}).index);
  out.PutVarint(sources_.size());
  for (const std::string& source : sources_) out.PutString(source);
  promise_totals_.Save(out);
  out.PutVarint(machines_.size());
  for (const auto& [key, machine] : machines_) SaveMachine(machine, out);
  for (const auto& p : predictors_) p->Save(out);
  return SealCheckpoint(payload);
}

absl::Status MachineService::LoadAll(ByteReader& in) {
  if (const auto version = in.Get<uint32_t>(); version != kMachinesVersion && !in.failed())
    return absl::UnimplementedError(
        fmt::format("the state of machines is of version {}, this one reads {}", version, kMachinesVersion));
  const bool begun = in.Get<uint8_t>() != 0;
  const WindowId window{in.Get<int32_t>()};
  if (begun && !brain::IsWindow(window.index))
    return absl::DataLossError("the state of machines is of no time");
  if (begun) window_ = window;
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) sources_.emplace_back(in.GetString());
  absl::StatusOr<PromiseTotals> promise_totals = PromiseTotals::Load(in);
  if (!promise_totals.ok()) return promise_totals.status();
  promise_totals_ = *std::move(promise_totals);
  const uint64_t machines = in.GetVarint();
  std::vector<bool> taken;
  for (uint64_t i = 0; i < machines && !in.failed(); ++i) {
    Machine machine;
    if (absl::Status s = LoadMachine(in, machine); !s.ok()) return s;
    if (machine.number > kMaxNumber || (machine.number < taken.size() && taken[machine.number]))
      return absl::DataLossError("two machines of one number");
    taken.resize(std::max<size_t>(taken.size(), machine.number + size_t{1}));
    taken[machine.number] = true;
    Key key{machine.view->name, machine.view->source};
    if (!machines_.emplace(std::move(key), std::move(machine)).second)
      return absl::DataLossError("two machines of one name");
  }
  next_number_ = static_cast<uint32_t>(taken.size());
  for (uint32_t number = next_number_; number-- > 0;) {
    if (!taken[number]) free_.push_back(number);
  }
  for (const auto& p : predictors_) {
    if (absl::Status s = p->Load(in); !s.ok()) return s;
  }
  if (in.remaining() > 0) return absl::DataLossError("the state of machines goes on after its end");
  return in.status("the state of machines");
}

absl::Status MachineService::LoadState(std::string_view bytes) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(bytes, kMaxMachinesState);
  if (!payload.ok()) return payload.status();
  // Load into another service first, so that a damaged state leaves this service unchanged.
  MachineService next(options_);
  ByteReader in(*payload);
  if (absl::Status s = next.LoadAll(in); !s.ok()) return s;
  const std::lock_guard lock(mutex_);
  machines_ = std::move(next.machines_);
  free_ = std::move(next.free_);
  next_number_ = next.next_number_;
  sources_ = std::move(next.sources_);
  predictors_ = std::move(next.predictors_);
  promise_totals_ = std::move(next.promise_totals_);
  window_ = next.window_;
  for (auto& [key, machine] : machines_) {
    for (size_t i = 0; i < machine.kept.size(); ++i) machine.view->amounts[i].promises = machine.kept[i];
  }
  std::shared_ptr<const MachinesView> view = MakeView();
  const std::lock_guard view_lock(view_mutex_);
  view_ = std::move(view);
  return absl::OkStatus();
}

}  // namespace taut::server
