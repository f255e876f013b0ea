// Prints an error instead of crashing with SIGILL if this binary was compiled for a newer processor. This file is
// compiled for any x86-64, and the check runs before all other code.
#include <unistd.h>

#include <string_view>

#if defined(__x86_64__) && defined(TAUT_FOR_X86_64_V3)
namespace {

constexpr int kExitConfiguration = 78;  // EX_CONFIG of sysexits.h

[[gnu::constructor(101)]] void CheckProcessor() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
    return;
  constexpr std::string_view kMessage =
      "this program was compiled for x86-64-v3 (AVX2, BMI2, FMA), which this processor does not have.\n"
      "Install the Debian packages of ./dev package, or configure with -DTAUT_MARCH=x86-64 and build "
      "again.\n";
  if (write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) _exit(kExitConfiguration + 1);
  _exit(kExitConfiguration);
}

}  // namespace
#endif
