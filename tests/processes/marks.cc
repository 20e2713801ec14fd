#include "tests/processes/marks.h"

#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace perdure::test {

Marks::Marks(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(All)) != 0) {
    throw std::runtime_error("no marks in " + path);
  }
  // Zero bytes are the values that the marks begin with.
  void* const memory = ::mmap(nullptr, sizeof(All), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) throw std::runtime_error("no marks in " + path);
  all_ = static_cast<All*>(memory);
}

Marks::~Marks() {
  ::munmap(all_, sizeof(All));
}

}  // namespace perdure::test
