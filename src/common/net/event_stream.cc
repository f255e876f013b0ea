#include "common/net/event_stream.h"

#include <utility>

#include "common/base/strings.h"

namespace taut {
namespace {

// Appends a line of the protocol; drops characters that would end the line early.
void AppendField(std::string_view name, std::string_view value, std::string* out) {
  StrAppend(out, name, ": ");
  for (const char c : value) {
    if (c != '\n' && c != '\r' && c != '\0') out->push_back(c);
  }
  out->push_back('\n');
}

}  // namespace

std::shared_ptr<const std::string> EventStream::Frame(std::string_view event, std::string_view data,
                                                      std::string_view id) {
  std::string out;
  out.reserve(event.size() + data.size() + id.size() + 32);
  if (!id.empty()) AppendField("id", id, &out);
  if (!event.empty()) AppendField("event", event, &out);
  for (const std::string_view line : Split(data, '\n')) AppendField("data", line, &out);
  out.push_back('\n');
  return std::make_shared<const std::string>(std::move(out));
}

bool EventStream::Publish(std::string_view event, std::string_view data, std::string_view id) {
  return Send(Frame(event, data, id));
}

bool EventStream::Send(std::shared_ptr<const std::string> frame) {
  bool sent = true;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (queued_bytes_ + frame->size() > max_queued_bytes_) {
      closed_ = cut_ = true;
      sent = false;
      queue_.clear();
    } else {
      queued_bytes_ += frame->size();
      queue_.push_back(std::move(frame));
    }
    // One wake-up is enough until the next Take.
    wake = !woken_ || !sent;
    woken_ = true;
  }
  if (wake) Wake();
  return sent;
}

void EventStream::Wake() {
  const std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

void EventStream::Close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  Wake();
}

bool EventStream::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool EventStream::cut() const {
  const std::lock_guard lock(mutex_);
  return cut_;
}

void EventStream::Attach(std::function<void()> wake) {
  {
    const std::lock_guard lock(wake_mutex_);
    wake_ = std::move(wake);
  }
  Wake();
}

std::vector<std::shared_ptr<const std::string>> EventStream::Take() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  queued_bytes_ = 0;
  return std::exchange(queue_, {});
}

void EventStream::Detach() {
  {
    const std::lock_guard lock(wake_mutex_);
    wake_ = nullptr;
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  queue_.clear();
}

std::shared_ptr<EventStream> EventHub::Subscribe() {
  auto stream = std::make_shared<EventStream>(max_queued_bytes_);
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& old) { return old->closed(); });
  streams_.push_back(stream);
  return stream;
}

void EventHub::Publish(std::string_view event, std::string_view data, std::string_view id) {
  const auto frame = EventStream::Frame(event, data, id);
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& stream) { return !stream->Send(frame); });
}

size_t EventHub::size() const {
  const std::lock_guard lock(mutex_);
  size_t open = 0;
  for (const auto& stream : streams_) open += stream->closed() ? 0 : 1;
  return open;
}

void EventHub::Close() {
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) stream->Close();
  streams_.clear();
}

}  // namespace taut
