#include "cli/bench/sqlite_stores.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "provider/open/open.h"

namespace perdure::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScheme = "sqlite:";

/// `<store>-process-<epoch>`
bool is_process_lock(const std::string& name, const std::string& store) {
  const std::string prefix = store + "-process-";
  return name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()),
                     name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

void remove_store(const fs::path& path) {
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    fs::remove(path.string() + part, ignored);
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<fs::path> locks;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_process_lock(entry.path().filename().string(), path.filename().string())) {
      locks.push_back(entry.path());
    }
  }
  for (const fs::path& lock : locks) fs::remove(lock, ignored);
}

Result<sqlite::Durability> parse_durability(const std::string& query,
                                            const std::optional<std::string>& option) {
  if (!query.empty() && query != "durability=full" && query != "durability=relaxed") {
    return invalid_argument("--provider: unknown parameter '" + query +
                            "'; known: durability=full|relaxed");
  }
  const std::string from_url = query.empty() ? "" : query.substr(query.find('=') + 1);
  if (option && !from_url.empty() && *option != from_url) {
    return invalid_argument("--durability " + *option + " contradicts the URL of --provider");
  }
  const std::string wanted = option.value_or(from_url);
  return wanted == "relaxed" ? sqlite::Durability::kRelaxed : sqlite::Durability::kFull;
}

}  // namespace

Result<std::unique_ptr<SqliteStores>> SqliteStores::make(const Options& options) {
  const std::string& url = options.provider;
  if (std::string_view(url).substr(0, kScheme.size()) != kScheme) {
    return invalid_argument("--provider: '" + url + "' cannot be measured; known: sqlite:PATH");
  }
  const std::size_t question = std::min(url.find('?'), url.size());
  const std::string path = url.substr(kScheme.size(), question - kScheme.size());
  if (path.empty() || path == ":memory:") {
    return invalid_argument("--provider: '" + url + "' names no file; write sqlite:PATH");
  }
  const std::string query = question < url.size() ? url.substr(question + 1) : "";
  PERDURE_ASSIGN_OR_RETURN(const sqlite::Durability durability,
                           parse_durability(query, options.durability));
  return std::unique_ptr<SqliteStores>(new SqliteStores(path, durability, options.keep));
}

SqliteStores::~SqliteStores() {
  if (keep_) return;
  for (const std::string& path : reserved_) remove_store(path);
}

Result<std::string> SqliteStores::reserve(const std::string& suffix) {
  std::string path = path_ + suffix;
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    return invalid_argument("--provider: '" + path +
                            "' exists; name a file that does not, the bench makes and removes it");
  }
  reserved_.push_back(path);
  return path;
}

std::string SqliteStores::url(const std::string& path) const {
  const bool full = durability_ == sqlite::Durability::kFull;
  return std::string(kScheme) + path + "?durability=" + (full ? "full" : "relaxed");
}

Result<std::unique_ptr<Provider>> SqliteStores::open(const std::string& path) const {
  return open_provider(url(path));
}

void SqliteStores::drop(const std::string& path) {
  if (keep_) return;
  remove_store(path);
  reserved_.erase(std::remove(reserved_.begin(), reserved_.end(), path), reserved_.end());
}

}  // namespace perdure::bench
