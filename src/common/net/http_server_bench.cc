// Measures requests per second over loopback: requests with small responses, and requests with bodies as remote
// write sends them. The client is part of the benchmark and shares the machine with the server, so the figures are
// lower bounds.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/strings.h"
#include "common/net/http_server.h"

namespace taut {
namespace {

std::unique_ptr<HttpServer> Serve(int threads) {
  ServerOptions options;
  options.threads = threads;
  auto server = HttpServer::Start(options, [](const HttpRequest& r) {
    if (r.method == "POST") return HttpResponse{204, "", "", {}, nullptr, nullptr};
    return JsonResponse(200, R"({"status":"success","data":{"job":"web","cpu":0.25}})");
  });
  if (!server.ok()) std::abort();
  return std::move(*server);
}

// Sends `depth` requests at a time and reads their responses, all of one size.
class Requester {
 public:
  Requester(uint16_t port, std::string_view request, int depth) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    Send(request);
    answer_bytes_ = static_cast<size_t>(recv(fd_, buffer_, sizeof(buffer_), 0)) * static_cast<size_t>(depth);
    for (int i = 0; i < depth; ++i) requests_ += request;
  }
  ~Requester() { close(fd_); }
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  void Round() {
    Send(requests_);
    for (size_t read = 0; read < answer_bytes_;) {
      const ssize_t got = recv(fd_, buffer_, sizeof(buffer_), 0);
      if (got <= 0) std::abort();
      read += static_cast<size_t>(got);
    }
  }

 private:
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) std::abort();
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  const int fd_;
  std::string requests_;
  size_t answer_bytes_ = 0;
  char buffer_[64 << 10];
};

// Each iteration sends `depth` requests at once from each of `connections` clients, one client after the other.
void Run(benchmark::State& state, std::string_view request, int connections, int depth) {
  const auto server = Serve(1);
  std::vector<std::unique_ptr<Requester>> clients;
  for (int i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<Requester>(server->port(), request, depth));
  }
  for (auto _ : state) {
    for (const auto& client : clients) client->Round();
  }
  const auto requests = static_cast<double>(state.iterations()) * connections * depth;
  state.counters["requests/s"] = benchmark::Counter(requests, benchmark::Counter::kIsRate);
  state.SetBytesProcessed(static_cast<int64_t>(requests) * static_cast<int64_t>(request.size()));
}

constexpr std::string_view kGet =
    "GET /api/v1/jobs/team%2Fweb?window=7d HTTP/1.1\r\nHost: 127.0.0.1:9190\r\nUser-Agent: bench\r\n"
    "Accept: application/json\r\nAccept-Language: en\r\n\r\n";

// Measures the latency of a caller, with one request at a time.
void OneSmallRequestAtATime(benchmark::State& state) { Run(state, kGet, 1, 1); }
BENCHMARK(OneSmallRequestAtATime)->UseRealTime();

// Measures the throughput of the server, with 16 requests in flight.
void SmallRequestsInFlight(benchmark::State& state) { Run(state, kGet, 1, 16); }
BENCHMARK(SmallRequestsInFlight)->UseRealTime();

void PostsOf100Kilobytes(benchmark::State& state) {
  const std::string body(100'000, 'x');
  Run(state,
      StrCat(
          "POST /api/v1/write HTTP/1.1\r\nHost: 127.0.0.1:9190\r\nContent-Encoding: snappy\r\nContent-Length: ",
          body.size(), "\r\n\r\n", body),
      1, 1);
}
BENCHMARK(PostsOf100Kilobytes)->UseRealTime();

}  // namespace
}  // namespace taut
