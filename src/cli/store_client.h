#pragma once

#include <string>

#include <perdure/client.h>

namespace CLI {
class App;
}

/// The store that a command works on: `--provider URL`, or the environment. It must exist and have
/// the schema of this program: nothing is made and nothing is brought up to date from here.
namespace perdure::cli {

/// `url` must live as long as the command.
void add_store_option(CLI::App& command, std::string& url);

/// A client that only reads; its changing calls fail. Throws InvalidArgument when no store was
/// named, Unavailable that says what is wrong with the one that was.
Client client_for_reading(const std::string& url);

/// A client for all calls; the same errors.
Client client_for_writing(const std::string& url);

}  // namespace perdure::cli
