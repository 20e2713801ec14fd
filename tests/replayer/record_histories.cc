#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/replayer/sample.h"

/// Writes the sample histories as files: `record_histories DIRECTORY`. For new files only: one that
/// exists stands for a run of an older Perdure and is left alone.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: record_histories DIRECTORY\n";
    return 2;
  }
  for (const auto& [name, history] : perdure::test::sample_histories()) {
    const std::filesystem::path file = std::filesystem::path(argv[1]) / (name + ".json");
    if (std::filesystem::exists(file)) continue;
    std::ofstream(file, std::ios::binary) << perdure::replayer::to_history_json(history);
    std::cout << file.string() << '\n';
  }
}
