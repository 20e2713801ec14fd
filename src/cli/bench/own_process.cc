#include "cli/bench/own_process.h"

#include <fstream>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure::bench {

namespace {

std::chrono::microseconds micros_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

std::int64_t resident_bytes() {
  ::malloc_trim(0);
  std::ifstream sizes("/proc/self/statm");  // in pages: the whole, the resident part, ..
  std::int64_t whole = 0;
  std::int64_t resident = 0;
  sizes >> whole >> resident;
  PERDURE_CHECK(static_cast<bool>(sizes), "/proc/self/statm cannot be read");
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::chrono::microseconds processor_time() {
  rusage usage{};
  PERDURE_CHECK(::getrusage(RUSAGE_SELF, &usage) == 0, "getrusage answers for this process");
  return micros_of(usage.ru_utime) + micros_of(usage.ru_stime);
}

}  // namespace perdure::bench
