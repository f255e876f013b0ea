// An engine for tests: answers HTTP on a Unix socket with the results of a function.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"

namespace taut::node {

struct FakeRequest {
  std::string method, path, body;
};
struct FakeAnswer {
  int status = 200;
  std::string body{};
  bool stays_open = false;  // true: a stream, which Send extends and EndStreams ends
  bool hangs = false;       // true: no response is sent
};

class FakeEngine {
 public:
  // Called from several threads, one at a time.
  using Handler = std::function<FakeAnswer(const FakeRequest&)>;

  explicit FakeEngine(Handler handler) : handler_(std::move(handler)) { Listen(); }
  ~FakeEngine() { Stop(); }
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  std::string socket_path() const { return (dir_ / "sock").string(); }
  const std::filesystem::path& dir() const { return dir_; }
  std::vector<FakeRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  // Runs fn while no handler runs, so that fn may access the handler's data.
  template <typename F>
  auto Locked(const F& fn) {
    const std::lock_guard lock(mutex_);
    return fn();
  }

  void Send(std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (const int fd : streams_) WriteAll(fd, text);
  }
  void EndStreams() {
    const std::lock_guard lock(mutex_);
    for (const int fd : streams_) shutdown(fd, SHUT_RDWR);
    streams_.clear();
  }
  size_t num_streams() {
    const std::lock_guard lock(mutex_);
    return streams_.size();
  }
  // Stops the engine. The socket file remains, as after the stop of a real engine.
  void Stop() {
    is_stopping_ = true;
    if (acceptor_.joinable()) acceptor_.join();
    for (std::thread& t : connections_) t.join();
    connections_.clear();
    const std::lock_guard lock(mutex_);
    streams_.clear();
  }
  void Restart() {
    Stop();
    Listen();
  }

 private:
  void Listen() {
    is_stopping_ = false;
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = socket_path();
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    unlink(path.c_str());
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    if (listen(listener_, 8) != 0) std::abort();
    acceptor_ = std::thread([this] { Accept(); });
  }

  void Accept() {
    while (!is_stopping_) {
      if (!Readable(listener_)) continue;
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd >= 0) connections_.emplace_back([this, fd] { Serve(fd); });
    }
    close(listener_);
  }

  // Waits up to 20 ms for data.
  static bool Readable(int fd) {
    pollfd p{fd, POLLIN, 0};
    return poll(&p, 1, 20) > 0;
  }

  static void WriteAll(int fd, std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      text.remove_prefix(static_cast<size_t>(n));
    }
  }

  // Returns false when the client has closed the connection or the engine stops.
  bool ReadRequest(int fd, std::string& in, FakeRequest& out) {
    size_t need = std::string::npos;
    while (true) {
      const size_t head = in.find("\r\n\r\n");
      if (head != std::string::npos && need == std::string::npos) {
        const size_t at = in.find("Content-Length: ");
        need = head + 4 + (at < head ? std::strtoul(in.c_str() + at + 16, nullptr, 10) : 0);
      }
      if (in.size() >= need) {
        const std::vector<std::string_view> words =
            Split(std::string_view(in).substr(0, in.find("\r\n")), ' ');
        out.method = words.at(0);
        out.path = words.at(1);
        out.body = in.substr(head + 4, need - head - 4);
        in.erase(0, need);
        return true;
      }
      while (!Readable(fd)) {
        if (is_stopping_) return false;
      }
      char chunk[4096];
      const ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
      if (n <= 0 || is_stopping_) return false;
      in.append(chunk, static_cast<size_t>(n));
    }
  }

  void Serve(int fd) {
    std::string in;
    FakeRequest request;
    while (ReadRequest(fd, in, request)) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      const FakeAnswer answer = handler_(request);
      if (answer.hangs) continue;
      if (answer.stays_open) {
        WriteAll(fd, StrCat("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", answer.body));
        streams_.push_back(fd);
        continue;
      }
      WriteAll(fd, StrCat("HTTP/1.1 ", answer.status,
                          " X\r\nContent-Type: application/json\r\nContent-Length: ", answer.body.size(),
                          "\r\n\r\n", answer.body));
    }
    const std::lock_guard lock(mutex_);
    streams_.erase(std::remove(streams_.begin(), streams_.end(), fd), streams_.end());
    close(fd);
  }

  const Handler handler_;
  TempDir temp_dir_;
  const std::filesystem::path dir_ = temp_dir_.path();
  int listener_ = -1;
  std::atomic<bool> is_stopping_ = false;
  std::thread acceptor_;
  std::vector<std::thread> connections_;  // only the thread acceptor_ adds threads
  std::mutex mutex_;                      // guards streams_ and requests_; held while the handler runs
  std::vector<int> streams_;
  std::vector<FakeRequest> requests_;
};

}  // namespace taut::node
