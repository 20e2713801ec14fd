#include "tests/conformance/peer.h"

#include "provider/sqlite/options.h"

int main(int argc, char** argv) {
  return perdure::conformance::peer_main(
      argc, argv, [](const std::string& url, perdure::Clock& clock) {
        perdure::sqlite::Options options;
        options.path = url;
        options.clock = &clock;
        return perdure::sqlite::open(options);
      });
}
