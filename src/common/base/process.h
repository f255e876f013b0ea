// Limits and resource use of this process.
#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace taut {

// Raises the soft limit of open files to the hard limit; leaves the soft limit unchanged on error. The usual soft
// limit of 1,024 protects programs that use select(), which this project does not use.
inline void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Returns at most 64 bytes of /etc/machine-id, which is constant across restarts; "" if the file cannot be
// read.
inline std::string MachineId() {
  std::ifstream in("/etc/machine-id");
  std::string id;
  std::getline(in, id);
  return id.size() <= 64 ? id : id.substr(0, 64);
}

// Returns the bytes of physical memory in use; 0 if /proc cannot be read.
inline uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns freed memory to the kernel if resident memory exceeds the heap in use by more than an eighth of this
// heap plus 64 MiB. glibc keeps free pages between blocks in use: 2 of 6.3 GiB with a million jobs. Returning 2
// GiB takes 0.2 s; a call that returns nothing takes some microseconds.
inline void ReturnFreedMemory() {
#ifdef __GLIBC__
  constexpr uint64_t kSmall = uint64_t{64} << 20;
  const struct mallinfo2 heap = mallinfo2();
  const uint64_t used = heap.uordblks + heap.hblkhd;
  if (ResidentBytes() > used + used / 8 + kSmall) malloc_trim(0);
#endif
}

// Returns the CPU time of all threads, user and system, in seconds.
inline double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Returns the bytes of address space; 0 if /proc cannot be read.
inline uint64_t VirtualBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns the number of open descriptors, including the descriptor that this function opens to count them.
// O(descriptors).
inline uint64_t OpenDescriptors() {
  std::error_code error;
  uint64_t n = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    ++n;
  return n;
}

// Returns the soft limit of open descriptors; 0 if the limit is unknown.
inline uint64_t MostDescriptors() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace taut
