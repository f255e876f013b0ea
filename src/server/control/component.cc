#include "server/control/component.h"

#include <algorithm>

namespace taut::server {

void Reloading::Take(std::string_view part, std::initializer_list<std::string_view> sections) {
  for (const std::string_view section : sections) TakeReloadable(section, next, running);
  taken.emplace_back(part);
}

void Reloading::Keep(std::string_view part, std::initializer_list<std::string_view> sections,
                     const absl::Status& status) {
  log.Act(LogLevel::kWarning, "reload_failed",
          {{"what", part}, {"error", Message(status)}, {"kept", "as before"}});
  for (const std::string_view section : sections) {
    for (const DaemonSetting* setting : ReloadableOf(section)) kept.insert(setting->key);
  }
}

void Reloading::Finish() const {
  log.Act(LogLevel::kInfo, "configuration_reloaded", {{"taken", Join(taken, ", ")}});
  for (const std::string& key : ChangedKeys(running, next)) {
    if (kept.contains(key)) continue;
    log.Act(LogLevel::kWarning, "restart_needed",
            {{"key", key}, {"reason", "changed in the file; takes effect after a restart"}});
  }
}

// Orders the components: repeatedly selects the first remaining component whose predecessors are all selected.
absl::Status ComponentList::PutInOrder() {
  std::vector<std::unique_ptr<Component>> ordered;
  const auto waits = [&](const std::unique_ptr<Component>& component) {
    return std::ranges::any_of(components_, [&](const std::unique_ptr<Component>& other) {
      return other != nullptr && other != component &&
             std::ranges::find(component->after(), other->name()) != component->after().end();
    });
  };
  while (ordered.size() < components_.size()) {
    const auto next = std::ranges::find_if(
        components_, [&](const auto& component) { return component != nullptr && !waits(component); });
    if (next == components_.end()) {
      std::string names;
      for (const auto& component : components_) {
        if (component != nullptr) StrAppend(&names, names.empty() ? "" : ", ", component->name());
      }
      return absl::InternalError(StrCat("components wait for each other: ", names));
    }
    ordered.push_back(std::move(*next));
  }
  components_ = std::move(ordered);
  return absl::OkStatus();
}

absl::Status ComponentList::Start() {
  if (absl::Status s = PutInOrder(); !s.ok()) return s;
  for (const auto& component : components_) {
    if (absl::Status s = component->Start(); !s.ok()) return s;
    ++started_;
  }
  return absl::OkStatus();
}

void ComponentList::BeforePass() {
  for (const auto& component : components_) component->BeforePass();
}

void ComponentList::AfterPass(bool stored) {
  for (const auto& component : components_) component->AfterPass(stored);
}

void ComponentList::Tick(const LoopTurn& turn) {
  for (const auto& component : components_) component->Tick(turn);
}

void ComponentList::OnReload(Reloading& reload) {
  for (const auto& component : components_) component->OnReload(reload);
}

void ComponentList::Collect(MetricsText& out) const {
  for (const auto& component : started()) component->Collect(out);
}

std::vector<std::string> ComponentList::Warnings() const {
  std::vector<std::string> out;
  for (const auto& component : started()) component->Warn(out);
  return out;
}

void ComponentList::Stop() {
  for (auto it = components_.rbegin(); it != components_.rend(); ++it) (*it)->Stop();
}

void ComponentList::Save() {
  for (const auto& component : started()) component->Save();
}

}  // namespace taut::server
