#include "server/pool/machine_service.h"

#include <algorithm>

#include "brain/overcommit/pool.h"
#include "common/base/strings.h"
#include "common/histogram/checkpoint.h"
#include "common/model/units.h"
#include "server/pool/known.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace taut::server {
namespace {

constexpr double kHorizonHours = 24;

// Returns a key of the task that, unlike the task's number, is the same after a restart.
uint64_t KeyOf(const PlacedTask& task) {
  return XXH3_64bits_withSeed(task.task.data(), task.task.size(),
                              XXH3_64bits(task.job.data(), task.job.size()));
}

std::unique_ptr<brain::DurablePredictor> MakePool(const MachineOptions& options) {
  brain::PoolSettings settings;
  settings.over = options.risk;
  settings.history_days = options.history_days;
  settings.min_days = options.min_days;
  return brain::NewPoolPredictor(settings, kHorizonHours);
}

// Data about one task in a window; null if the window has no such data.
struct Found {
  const JobWindowData* job = nullptr;
  const TaskWindow* task = nullptr;
  const TaskReport* report = nullptr;
  const TaskStart* start = nullptr;
};

// Returns a task's usage in the window; absent if not measured. Includes the additional CPU usage of a start,
// which also loads the machine.
std::optional<double> UsageOf(const Found& found, Resource r) {
  const TaskWindow* task = found.task;
  if (r == Resource::kCpu) {
    const auto rest = task != nullptr ? Known(task->cpu_mean_cores) : std::nullopt;
    return found.start == nullptr ? rest : rest.value_or(0) + double{found.start->more_cores};
  }
  if (task == nullptr) return std::nullopt;
  return Known(task->judged(r) >= 0 ? task->judged(r) : task->mean(r));
}

Found FindIn(const ClosedWindow& closed, const TaskRef& ref) {
  Found out;
  const auto job = std::ranges::lower_bound(closed.jobs, ref.job, {}, &JobWindowData::job);
  if (job == closed.jobs.end() || job->job != ref.job) return out;
  out.job = &*job;
  const auto in = [&ref](auto span) {
    const auto at = std::ranges::lower_bound(span, ref.task, {}, [](const auto& t) { return t.task; });
    return at == span.end() || at->task != ref.task ? nullptr : &*at;
  };
  out.task = in(std::span(closed.tasks).subspan(job->window.first_task, job->window.num_tasks));
  out.report = in(std::span(closed.reports).subspan(job->first_report, job->num_reports));
  out.start = in(std::span(closed.starts).subspan(job->first_start, job->num_starts));
  return out;
}

}  // namespace

// A pass over one window: the input, and memory that is reused from machine to machine.
struct MachineService::Pass {
  const ClosedWindow& closed;
  std::string source = {};
  PerResource<std::vector<brain::TaskLoad>> loads = {};
};

MachineService::MachineService(const MachineOptions& options) : options_(options) { Clear(); }

void MachineService::Clear() {
  const std::lock_guard lock(mutex_);
  Begin();
  window_.reset();
  Publish();
}

void MachineService::Begin() {
  machines_.clear();
  free_.clear();
  next_number_ = 0;
  sources_.clear();
  for (auto& p : predictors_) p = MakePool(options_);
  promise_totals_ = PromiseTotals();
}

MachineService::Machine& MachineService::At(const Key& key) {
  const auto [at, added] = machines_.try_emplace(key);
  if (!added) return at->second;
  if (free_.empty()) {
    at->second.number = next_number_++;
  } else {
    at->second.number = free_.back();
    free_.pop_back();
  }
  return at->second;
}

void MachineService::OnWindow(const ClosedWindow& closed, std::vector<PlacementOf> placement) {
  const std::lock_guard lock(mutex_);
  if (window_.has_value() && closed.window <= *window_) {
    if (window_->index - closed.window.index <= kWindowsPerHour) return;
    Begin();  // the clock was set back, and the state is from the future
  }
  window_ = closed.window;
  for (auto& [key, machine] : machines_) {
    if (machine.view == nullptr || !machine.view->present) continue;
    // Make a new view, because readers may hold the published view.
    auto away = std::make_shared<MachineView>();
    away->name = key.first;
    away->source = key.second;
    away->seen_s = machine.view->seen_s;
    for (size_t r = 0; r < away->amounts.size(); ++r) {
      MachineAmounts& amounts = away->amounts[r];
      amounts.capacity = machine.view->amounts[r].capacity;
      amounts.promises = machine.kept[r];
      amounts.why = "its source does not have the machine now";
    }
    machine.view = std::move(away);
  }
  Pass pass{closed};
  for (PlacementOf& of : placement) {
    if (std::ranges::find(sources_, of.source) == sources_.end()) sources_.push_back(of.source);
    pass.source = of.source;
    for (PlacedMachine& placed : of.machines) {
      Machine& machine = At({placed.name, of.source});
      if (machine.seen == closed.window && machine.view != nullptr && machine.view->present) continue;
      Take(machine, std::move(placed), pass);
    }
  }
  // Compare the promises of the past day before EndWindow() changes the predictors. Publish() then predicts with
  // the new state, and MakePromises() uses the published predictions.
  JudgePromises(closed.window);
  for (const auto& p : predictors_) p->EndWindow(closed.window);
  Publish();
  MakePromises(closed.window);
  Forget(closed.window);
}

void MachineService::Take(Machine& machine, PlacedMachine placed, Pass& pass) {
  auto view = std::make_shared<MachineView>();
  view->name = placed.name;
  view->source = pass.source;
  view->present = true;
  view->ready = placed.ready;
  view->seen_s = pass.closed.window.next().start_s();
  machine.seen = pass.closed.window;
  for (const Resource r : kResources) {
    const auto& capacity = placed.capacity[static_cast<size_t>(r)];
    if (capacity.has_value() && *capacity > 0) view->amounts[static_cast<size_t>(r)].capacity = capacity;
  }
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < placed.tasks.size(); ++i) order.emplace_back(KeyOf(placed.tasks[i]), i);
  std::sort(order.begin(), order.end());
  // Sort tasks by key, so that states[i], the loads and tasks.entries() have equal indices. Remove tasks with
  // equal keys, which would share a state.
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  for (auto& loads : pass.loads) loads.clear();
  // Use a list of loads as the list of keys for Match().
  for (const auto& [key, i] : order) pass.loads[0].push_back({.task = key});
  const auto states = machine.tasks.Match(pass.loads[0], [] { return Task(); });
  pass.loads[0].clear();
  for (size_t i = 0; i < order.size(); ++i) {
    PlacedTask& task = placed.tasks[order[i].second];
    MachineTaskView& row = view->tasks.emplace_back();
    for (auto& loads : pass.loads) loads.push_back({.task = order[i].first});
    Measure(task, pass, states[i].state, row);
    row.job = std::move(task.job);
    row.task = std::move(task.task);
  }
  for (const Resource r : kResources) {
    const std::vector<brain::TaskLoad>& loads = pass.loads[static_cast<size_t>(r)];
    predictors_[static_cast<size_t>(r)]->Observe(pass.closed.window, machine.number, Sum(loads));
    SumUp(machine, r, loads, *view);
  }
  machine.view = std::move(view);
  NotePromise(machine, pass);
}

// Updates `task` and `view` from the window's measurements. Sets the task's load, the last element of each list in
// the pass.
void MachineService::Measure(const PlacedTask& placed, Pass& pass, Task& task, MachineTaskView& view) const {
  const Found found = placed.number.has_value() ? FindIn(pass.closed, *placed.number) : Found();
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    if (!placed.limits_measured) {
      task.asked[i] = placed.asked[i];
      task.cap[i] = placed.cap[i];
    } else if (found.report != nullptr && found.report->limit(r) >= 0) {
      const float limit = found.report->limit(r);
      task.asked[i] = task.cap[i] = limit == kNoLimit ? std::nullopt : Known(limit);
    } else if (found.job != nullptr && found.job->window.limit(r) >= 0) {
      const float limit = found.job->window.limit(r);
      task.asked[i] = task.cap[i] = limit == kNoLimit ? std::nullopt : Known(limit);
    }
    const std::optional<double> usage = UsageOf(found, r);
    if (usage.has_value()) task.highest[i] = std::max(task.highest[i], static_cast<float>(*usage));
    view.limit[i] = task.asked[i];
    view.usage[i] = usage;
    view.reservation[i] = task.reservations[i].Step(pass.closed.window, {usage, task.asked[i], task.cap[i]},
                                                    options_.reservation);
    // The limit of a task without a cap is the larger of its maximum usage and its request.
    brain::TaskLoad& load = pass.loads[i].back();
    load.usage = usage.has_value() ? static_cast<float>(*usage) : kAbsent;
    load.limit = static_cast<float>(task.cap[i].value_or(
        std::max(task.asked[i].value_or(0), static_cast<double>(std::max(0.0F, task.highest[i])))));
  }
}

void MachineService::SumUp(const Machine& machine, Resource r, std::span<const brain::TaskLoad> loads,
                           MachineView& view) const {
  const auto i = static_cast<size_t>(r);
  MachineAmounts& out = view.amounts[i];
  out.promises = machine.kept[i];
  double limits = 0, reservations = 0, returned = 0, usage = 0;
  uint32_t reserved = 0;
  for (const MachineTaskView& task : view.tasks) {
    limits += task.limit[i].value_or(0);
    out.without_limit += task.limit[i].has_value() ? 0 : 1;
    reservations += task.reservation[i].value_or(0);
    reserved += task.reservation[i].has_value() ? 1 : 0;
    if (task.limit[i].has_value() && task.reservation[i].has_value())
      returned += *task.limit[i] - *task.reservation[i];
    usage += task.usage[i].value_or(0);
    out.measured_tasks += task.usage[i].has_value() ? 1 : 0;
  }
  if (view.tasks.empty() || out.without_limit < view.tasks.size()) out.limits = limits;
  const brain::MachineWindow sum = Sum(loads);
  if (!view.tasks.empty() && !sum.measured()) {
    out.why = StrCat(out.measured_tasks, " of ", view.tasks.size(), " tasks were measured",
                     out.measured_tasks == 0 ? "" : ", with less than half of the limits");
    return;
  }
  out.usage = usage;
  if (reserved == view.tasks.size()) {
    out.reservations = reservations;
    if (out.limits.has_value()) out.reclaimable_now = std::max(0.0, returned);
  }
}

// Call after EndWindow(), which may change the predictors.
void MachineService::Predict(const Machine& machine, MachineView& view) const {
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    MachineAmounts& out = view.amounts[i];
    if (!out.usage.has_value()) continue;
    out.learnt = predictors_[i]->Learnt(machine.number);
    if (!out.learnt && out.without_limit > 0) {
      out.why = StrCat("no prediction yet: ", out.without_limit,
                       out.without_limit == 1 ? " task has" : " tasks have",
                       " no limit, and the history is too short");
      continue;
    }
    out.predicted = predictors_[i]->Predict(machine.number);
    if (out.capacity.has_value()) {
      out.reclaimable = std::max(0.0, *out.capacity - *out.predicted);
    } else {
      out.why = "the capacity of the machine is not known";
    }
  }
}

void MachineService::NotePromise(Machine& machine, const Pass& pass) {
  for (size_t r = 0; r < machine.promises.size(); ++r) {
    OpenPromise& promise = machine.promises[r];
    if (!promise.open() || !machine.view->amounts[r].usage.has_value()) continue;
    double usage = 0;
    size_t there = 0;
    const auto entries = machine.tasks.entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      // the task started after the promise
      if (entries[i].state.reservations[r].first() > promise.made()) continue;
      ++there;
      if (pass.loads[r][i].measured()) usage += pass.loads[r][i].capped();
    }
    if (there > 0) promise.Note(pass.closed.window, usage);
  }
}

void MachineService::JudgePromises(WindowId window) {
  for (auto& [key, machine] : machines_) {
    for (const Resource r : kResources) {
      const auto i = static_cast<size_t>(r);
      const auto outcome = machine.promises[i].End(window);
      if (!outcome.has_value()) continue;
      ++machine.kept[i].judged;
      machine.kept[i].passed += outcome->passed ? 1 : 0;
      promise_totals_.Add(r, *outcome);
      if (machine.view->present) continue;  // Take() made a new view
      // Copy the view, because readers may hold the published view.
      machine.view = std::make_shared<MachineView>(*machine.view);
      machine.view->amounts[i].promises = machine.kept[i];
    }
  }
  promise_totals_.ForgetBefore(window.day() - kPromiseDays);
}

void MachineService::MakePromises(WindowId window) {
  // Make promises only with the last window of a day, so that they cover exactly the next day.
  if (window.day() == window.next().day()) return;
  for (auto& [key, machine] : machines_) {
    if (!machine.view->present) continue;
    for (size_t r = 0; r < machine.promises.size(); ++r) {
      const MachineAmounts& amounts = machine.view->amounts[r];
      if (amounts.learnt && amounts.predicted.has_value() && !machine.tasks.entries().empty())
        machine.promises[r] = OpenPromise(window, *amounts.predicted);
    }
  }
}

void MachineService::Forget(WindowId window) {
  for (auto it = machines_.begin(); it != machines_.end();) {
    if (window.index - it->second.seen.index <= options_.forget_days * kWindowsPerDay) {
      ++it;
      continue;
    }
    for (const auto& p : predictors_) p->Forget(it->second.number);
    free_.push_back(it->second.number);
    it = machines_.erase(it);
  }
}

void MachineService::Publish() {
  for (auto at = machines_.begin(); at != machines_.end(); ++at) {
    Machine& machine = at->second;
    if (!machine.view->present) continue;  // the view of an absent machine is already published
    for (size_t i = 0; i < machine.kept.size(); ++i) machine.view->amounts[i].promises = machine.kept[i];
    Predict(machine, *machine.view);
    const auto also = [&](const Machines::value_type& other) {
      if (other.second.view->present && other.first.first == at->first.first)
        machine.view->also_in.push_back(other.first.second);
    };
    for (auto before = at; before != machines_.begin();) {
      if ((--before)->first.first != at->first.first) break;
      also(*before);
    }
    for (auto after = std::next(at); after != machines_.end() && after->first.first == at->first.first;
         ++after)
      also(*after);
  }
  std::shared_ptr<const MachinesView> next = MakeView();
  const std::lock_guard lock(view_mutex_);
  view_ = std::move(next);
}

std::shared_ptr<const MachinesView> MachineService::MakeView() const {
  auto out = std::make_shared<MachinesView>();
  out->window = window_;
  out->risk = options_.risk;
  out->horizon_h = kHorizonHours;
  out->promises = promise_totals_.Sums();
  for (const std::string& source : sources_) out->totals.emplace_back().source = source;
  for (const auto& [key, machine] : machines_) {
    out->machines.push_back(machine.view);
    const auto totals = std::ranges::find(out->totals, key.second, &MachineTotals::source);
    if (totals == out->totals.end()) continue;
    ++totals->machines;
    if (!machine.view->present) continue;
    ++totals->present;
    totals->tasks += static_cast<uint32_t>(machine.view->tasks.size());
    for (size_t r = 0; r < totals->of.size(); ++r) {
      const MachineAmounts& amounts = machine.view->amounts[r];
      MachineTotals::Of& of = totals->of[r];
      of.capacity.Add(amounts.capacity);
      of.limits.Add(amounts.limits);
      of.reservations.Add(amounts.reservations);
      of.usage.Add(amounts.usage);
      of.predicted.Add(amounts.predicted);
      of.reclaimable.Add(amounts.reclaimable);
      of.reclaimable_now.Add(amounts.reclaimable_now);
      of.learnt += amounts.learnt ? 1 : 0;
    }
  }
  return out;
}

std::shared_ptr<const MachinesView> MachineService::View() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

absl::StatusOr<MachineService::Detail> MachineService::Find(std::string_view name,
                                                            std::string_view source) const {
  const std::lock_guard lock(mutex_);
  const Machine* found = nullptr;
  std::vector<std::string> sources;
  for (auto at = machines_.lower_bound({std::string(name), ""});
       at != machines_.end() && at->first.first == name; ++at) {
    if (!source.empty() && at->first.second != source) continue;
    found = &at->second;
    sources.push_back(at->first.second);
  }
  if (found == nullptr)
    return absl::NotFoundError(
        StrCat("no machine \"", name, "\"", source.empty() ? "" : StrCat(" of ", source)));
  if (sources.size() > 1)
    return absl::FailedPreconditionError(
        StrCat("several sources have a machine \"", name, "\": add source=", Join(sources, " or source=")));
  Detail out{found->view, {}};
  for (const Resource r : kResources) {
    const MachineAmounts& amounts = found->view->of(r);
    if (!amounts.predicted.has_value()) continue;
    Reason& reason = out.reasons[static_cast<size_t>(r)];
    predictors_[static_cast<size_t>(r)]->ExplainIn(
        found->number, [r](double amount) { return FormatAmount(r, amount); }, reason);
    reason.limit = amounts.predicted;
    if (amounts.without_limit > 0)
      StrAppend(&reason.sentence, " ", amounts.without_limit,
                amounts.without_limit == 1
                    ? " task has no limit and counts with the most that it has used."
                    : " tasks have no limit and count with the most that they have used.");
  }
  return out;
}

}  // namespace taut::server
