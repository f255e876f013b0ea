#include "wire/connection_gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/strings.h"
#include "wire/socket_check.h"

namespace taut {
namespace {

constexpr int kBacklog = 1024;
constexpr int kSweepMs = 5000;
constexpr int64_t kLeastBetweenSweepsMs = 100;
constexpr int kNoDescriptorPauseMs = 100;

int64_t NowMs() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

// 0: not a socket any more.
uint64_t InodeOf(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

OpenConnections::Address AddressOf(const sockaddr_storage& peer) {
  OpenConnections::Address out{};
  if (peer.ss_family == AF_INET6) {
    std::memcpy(out.data(), &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr, out.size());
  } else {
    out[10] = out[11] = 0xff;
    std::memcpy(out.data() + 12, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, 4);
  }
  return out;
}

}  // namespace

GateOptions BoundedByDescriptors(GateOptions wanted, uint64_t descriptors) {
  const auto affordable = static_cast<size_t>(std::max<uint64_t>(descriptors / 2, 1));
  wanted.max_connections = std::min(wanted.max_connections, affordable);
  wanted.max_per_address =
      std::min(wanted.max_per_address, std::max<size_t>(wanted.max_connections * 3 / 4, 1));
  return wanted;
}

bool OpenConnections::IsFull(const Address& address) const {
  if (size_ >= options_.max_connections) return true;
  const auto it = by_address_.find(address);
  return it != by_address_.end() && it->second.size() >= options_.max_per_address;
}

bool OpenConnections::HasRoom(const Address& address, int64_t now_ms) {
  if (!IsFull(address)) return true;
  if (now_ms - swept_ms_ < kLeastBetweenSweepsMs) return false;
  swept_ms_ = now_ms;
  Sweep();
  return !IsFull(address);
}

void OpenConnections::Add(const Address& address, int fd) {
  by_address_[address].push_back({fd, InodeOf(fd)});
  ++size_;
}

void OpenConnections::Sweep() {
  size_ = 0;
  for (auto it = by_address_.begin(); it != by_address_.end();) {
    std::erase_if(it->second, [](const Open& open) { return InodeOf(open.fd) != open.inode; });
    size_ += it->second.size();
    it = it->second.empty() ? by_address_.erase(it) : std::next(it);
  }
}

absl::StatusOr<std::unique_ptr<ConnectionGate>> ConnectionGate::Listen(
    const std::vector<ListenAddress>& addresses, const GateOptions& options) {
  std::unique_ptr<ConnectionGate> gate(new ConnectionGate(options));
  gate->stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (gate->stop_fd_ < 0) return absl::ResourceExhaustedError("eventfd failed: no free file descriptor");
  for (const ListenAddress& address : addresses) {
    const absl::StatusOr<int> fd = BindSocket(address);
    if (!fd.ok()) return fd.status();
    gate->listeners_.push_back(*fd);
    if (listen(*fd, kBacklog) != 0) {
      return absl::UnavailableError(
          StrCat("cannot listen on ", FormatAddress(address), ": ", std::strerror(errno)));
    }
  }
  if (gate->listeners_.empty()) return gate;
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  getsockname(gate->listeners_.front(), reinterpret_cast<sockaddr*>(&bound), &size);
  gate->port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                  : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return gate;
}

ConnectionGate::~ConnectionGate() {
  Stop();
  if (stop_fd_ >= 0) close(stop_fd_);
}

void ConnectionGate::Run(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  thread_ = std::thread([this] { Loop(); });
}

void ConnectionGate::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop_fd_, &one, sizeof(one));
    thread_.join();
  }
  // The addresses are free for the next.
  for (const int fd : listeners_) close(fd);
  listeners_.clear();
}

void ConnectionGate::Loop() {
  std::vector<pollfd> ready = {{stop_fd_, POLLIN, 0}};
  for (const int fd : listeners_) ready.push_back({fd, POLLIN, 0});
  for (;;) {
    const int n = poll(ready.data(), ready.size(), kSweepMs);
    if (n == 0) open_.Sweep();
    if (n <= 0) continue;
    if (ready[0].revents != 0) return;
    for (size_t i = 1; i < ready.size(); ++i) {
      if (ready[i].revents != 0) AcceptAll(ready[i].fd);
    }
  }
}

void ConnectionGate::AcceptAll(int listener) {
  for (int i = 0; i < kBacklog; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    const int fd = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // The others' descriptors are all in use: what waits stays in the queue.
      if (errno == EMFILE || errno == ENFILE) poll(nullptr, 0, kNoDescriptorPauseMs);
      return;
    }
    const OpenConnections::Address address = AddressOf(peer);
    if (!open_.HasRoom(address, NowMs())) {
      rejected_.fetch_add(1);
      close(fd);
      continue;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    open_.Add(address, fd);
    accepted_.fetch_add(1);
    on_accept_(listener, fd);
  }
}

}  // namespace taut
