#include "server/control/kept_state.h"

#include "common/base/strings.h"

namespace taut::server {

absl::StatusOr<std::optional<std::string>> KeptState::Read() const {
  if (!kept()) return std::nullopt;
  return context_.states->Get(name_);
}

absl::Status KeptState::Write(std::string_view bytes) {
  if (!kept()) return absl::OkStatus();
  absl::Status s = context_.states->Put(name_, bytes);
  if (!s.ok()) ++failed_;
  return s;
}

void KeptState::WriteOrLog(std::string_view bytes) {
  const std::string now(Message(Write(bytes)));
  if (now == said_) return;
  if (now.empty()) {
    context_.log->Info(StrCat(what_, " is written again"));
  } else {
    context_.log->Error(StrCat(what_, ": ", now));
  }
  said_ = now;
}

}  // namespace taut::server
