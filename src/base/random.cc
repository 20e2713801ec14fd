#include "base/random.h"

#include <cerrno>
#include <sys/random.h>
#include <system_error>

namespace perdure {

namespace {

std::mt19937_64 system_seeded_engine() {
  std::random_device device;
  std::seed_seq seed{
      device(), device(), device(), device(), device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

}  // namespace

std::uint64_t system_bits() {
  std::uint64_t bits = 0;
  // So few bytes come whole or not at all.
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return bits;
}

Random::~Random() = default;

double Random::unit() {
  // A double has 53 bits; rounding more of them could reach 1.
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

SystemRandom::SystemRandom() : engine_(system_seeded_engine()) {}

std::uint64_t SystemRandom::next() {
  return engine_.with([](std::mt19937_64& engine) { return engine(); });
}

SeededRandom::SeededRandom(std::uint64_t seed) : state_(seed) {}

// SplitMix64: the state is a mere counter, so threads share it without a lock.
std::uint64_t SeededRandom::next() {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  std::uint64_t z = state_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace perdure
