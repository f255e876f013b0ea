// Calls systemd's manager over its private socket, as systemctl does for root.
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "common/base/strings.h"
#include "node/cgroup/unit_properties.h"

namespace taut::node {
namespace {

constexpr const char* kAddress = "unix:path=/run/systemd/private";
constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr uint64_t kTimeoutUs = 2'000'000;
constexpr uint64_t kNone = UINT64_MAX;  // systemd's value for no limit, and for the default weight

const char* PropertyOf(LimitKind kind) {
  switch (kind) {
    case LimitKind::kMemoryMax:
      return "MemoryMax";
    case LimitKind::kMemoryHigh:
      return "MemoryHigh";
    case LimitKind::kCpuMax:
      return "CPUQuotaPerSecUSec";
    case LimitKind::kCpuWeight:
      return "CPUWeight";
    case LimitKind::kMemoryLow:
      return "MemoryLow";
    case LimitKind::kMemoryMin:
      return "MemoryMin";
  }
  return "";
}

uint64_t ValueOf(LimitKind kind, std::optional<double> value) {
  const bool is_protection = kind == LimitKind::kMemoryLow || kind == LimitKind::kMemoryMin;
  if (!value.has_value()) return is_protection ? 0 : kNone;
  return static_cast<uint64_t>(std::llround(kind == LimitKind::kCpuMax ? *value * 1e6 : *value));
}

class SystemdBus final : public UnitProperties {
 public:
  ~SystemdBus() override { sd_bus_close_unref(bus_); }

  absl::Status Set(const std::string& unit, LimitKind kind, std::optional<double> value) override {
    // The second attempt is for a connection that systemd has closed, as `systemctl daemon-reexec` does.
    for (int attempt = 0;; ++attempt) {
      const bool is_new = bus_ == nullptr;
      if (absl::Status s = Connect(); !s.ok()) return s;
      absl::Status s = Call(unit, kind, value);
      if (!absl::IsUnavailable(s)) return s;
      bus_ = sd_bus_close_unref(bus_);
      if (is_new || attempt > 0) return s;
    }
  }

 private:
  absl::Status Connect() {
    if (bus_ != nullptr) return absl::OkStatus();
    int r = sd_bus_new(&bus_);
    if (r >= 0) r = sd_bus_set_address(bus_, kAddress);
    if (r >= 0) r = sd_bus_start(bus_);
    if (r >= 0) r = sd_bus_set_method_call_timeout(bus_, kTimeoutUs);
    if (r >= 0) return absl::OkStatus();
    bus_ = sd_bus_close_unref(bus_);
    return absl::UnavailableError(StrCat("systemd at ", kAddress, ": ", std::strerror(-r)));
  }
  absl::Status Call(const std::string& unit, LimitKind kind, std::optional<double> value) {
    sd_bus_error error{};
    int is_transient = 0;
    int r = ReadTransient(unit, error, is_transient);
    if (r >= 0 && is_transient == 0) {
      return absl::FailedPreconditionError(StrCat("systemd: ", unit, " has a file, whose properties stay"));
    }
    if (r >= 0) {
      r = sd_bus_call_method(bus_, kSystemd, kManagerPath, kManager, "SetUnitProperties", &error, nullptr,
                             "sba(sv)", unit.c_str(), 1, 1, PropertyOf(kind), "t", ValueOf(kind, value));
    }
    if (r >= 0) return absl::OkStatus();
    const std::string text = StrCat("systemd: ", unit, ": ", PropertyOf(kind), ": ",
                                    error.message != nullptr ? error.message : std::strerror(-r));
    const bool is_answer = sd_bus_error_is_set(&error) != 0 && r != -ETIMEDOUT && r != -ECONNRESET;
    const bool is_unknown = sd_bus_error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit") != 0;
    sd_bus_error_free(&error);
    if (is_unknown) return absl::NotFoundError(text);
    return is_answer ? absl::FailedPreconditionError(text) : absl::UnavailableError(text);
  }
  // Stores whether the unit is transient. Returns a negative errno on failure.
  int ReadTransient(const std::string& unit, sd_bus_error& error, int& out) {
    sd_bus_message* found = nullptr;
    int r = sd_bus_call_method(bus_, kSystemd, kManagerPath, kManager, "GetUnit", &error, &found, "s",
                               unit.c_str());
    const char* path = nullptr;
    if (r >= 0) r = sd_bus_message_read(found, "o", &path);
    if (r >= 0) {
      r = sd_bus_get_property_trivial(bus_, kSystemd, path, "org.freedesktop.systemd1.Unit", "Transient",
                                      &error, 'b', &out);
    }
    sd_bus_message_unref(found);
    return r;
  }

  sd_bus* bus_ = nullptr;
};

}  // namespace

std::unique_ptr<UnitProperties> ConnectToSystemd() {
  return sd_booted() > 0 ? std::make_unique<SystemdBus>() : nullptr;
}

}  // namespace taut::node
