#include "common/net/webhook.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "common/base/strings.h"
#include "common/net/http_client.h"
#include "common/net/http_poster.h"
#include "fmt/format.h"

namespace taut {
namespace {

bool MayPass(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

struct Webhook::Impl {
  struct Item {
    uint64_t number;
    std::string json;
  };

  WebhookOptions options;
  std::unique_ptr<HttpPoster> poster;  // used by the thread only

  mutable std::mutex mutex;
  std::condition_variable wake;
  std::deque<Item> queue;
  uint64_t next_number = 1;
  WebhookCounts counts;
  std::string last_error;
  bool stopping = false;
  std::thread thread;

  enum class Outcome : uint8_t { kDelivered, kRetry, kDrop };

  Outcome Attempt(const Item& item) {
    std::vector<HttpHeader> headers = {{"X-Tautline-Delivery", std::to_string(item.number)}};
    if (!options.secret.empty()) {
      headers.push_back(
          {"X-Tautline-Signature", StrCat("sha256=", HmacSha256Hex(options.secret, item.json))});
    }
    const absl::StatusOr<HttpResponse> answer = poster->Post(item.json, std::move(headers));
    const absl::Status status = answer.ok() ? StatusOf(*answer) : answer.status();
    const std::lock_guard lock(mutex);
    last_error = status.ok() ? std::string() : std::string(Message(status));
    if (status.ok()) return Outcome::kDelivered;
    return !answer.ok() || MayPass(answer->status) ? Outcome::kRetry : Outcome::kDrop;
  }

  void Run() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [this] { return stopping || !queue.empty(); });
      if (stopping) return;
      const Item item = queue.front();  // copied and left in the queue, from which Send may drop it meanwhile
      auto pause = options.first_retry;
      for (int attempt = 1;; ++attempt) {
        lock.unlock();
        const Outcome outcome = Attempt(item);
        lock.lock();
        if (stopping) return;
        // The number identifies the text: another text may be first in the queue by now.
        const bool there = !queue.empty() && queue.front().number == item.number;
        if (outcome == Outcome::kDelivered) ++counts.delivered;
        const bool give_up = outcome == Outcome::kDrop || attempt >= options.max_attempts;
        if (outcome != Outcome::kDelivered && give_up && there) ++counts.dropped;
        if (outcome == Outcome::kDelivered || give_up || !there) {
          if (there) queue.pop_front();
          break;
        }
        ++counts.retries;
        if (wake.wait_for(lock, pause, [this] { return stopping; })) return;
        pause = std::min(pause * 2, options.last_retry);
      }
    }
  }
};

Webhook::Webhook(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<Webhook>> Webhook::Start(const WebhookOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  auto created = MakeHttpPoster({options.url, options.ca_file, options.timeout, size_t{1} << 20});
  if (!created.ok()) return created.status();
  impl->poster = *std::move(created);
  impl->thread = std::thread([raw = impl.get()] { raw->Run(); });
  return std::unique_ptr<Webhook>(new Webhook(std::move(impl)));
}

Webhook::~Webhook() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  impl_->thread.join();
}

void Webhook::Send(std::string json) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->queue.push_back({impl_->next_number++, std::move(json)});
    if (impl_->queue.size() > impl_->options.max_queued) {
      impl_->queue.pop_front();
      ++impl_->counts.dropped;
    }
  }
  impl_->wake.notify_all();
}

WebhookCounts Webhook::counts() const {
  const std::lock_guard lock(impl_->mutex);
  WebhookCounts out = impl_->counts;
  out.queued = impl_->queue.size();
  return out;
}

std::string Webhook::last_error() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->last_error;
}

std::string HmacSha256Hex(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

}  // namespace taut
