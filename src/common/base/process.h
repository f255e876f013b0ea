// This process: what it may open, and what it takes.
#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace taut {

// As many open files as the owner of the machine allows; stays as it is if it cannot. The usual soft limit of
// 1,024 is there for programs that use select(); ours do not.
inline void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Which machine this is, over its restarts; "" where the system has none.
inline std::string MachineId() {
  std::ifstream in("/etc/machine-id");
  std::string id;
  std::getline(in, id);
  return id.size() <= 64 ? id : id.substr(0, 64);
}

inline uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Gives freed memory back to the machine where more than an eighth of what is resident is free: glibc keeps pages
// between blocks that are in use, with a million jobs 2 of 6.3 GiB. 0.2 s there, else some microseconds.
inline void ReturnFreedMemory() {
#ifdef __GLIBC__
  constexpr uint64_t kSmall = uint64_t{64} << 20;
  const struct mallinfo2 heap = mallinfo2();
  const uint64_t used = heap.uordblks + heap.hblkhd;
  if (ResidentBytes() > used + used / 8 + kSmall) malloc_trim(0);
#endif
}

// The CPU time of all threads, user and system.
inline double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline uint64_t VirtualBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

inline uint64_t OpenDescriptors() {
  std::error_code error;
  uint64_t n = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    ++n;
  return n;
}

inline uint64_t MostDescriptors() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace taut
