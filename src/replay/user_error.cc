#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>
#include <typeinfo>

#include <perdure/detail/user_error.h>
#include <perdure/errors.h>

#include "base/utf8.h"

namespace perdure::detail {

namespace {

constexpr std::string_view kCut = " ... (cut)";

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

/// What a store and a JSON answer can carry.
std::string printable(std::string text) {
  if (text.size() > kMostFailureBytes) {
    std::size_t end = kMostFailureBytes - kCut.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += kCut;
  }
  if (is_valid_utf8(text) && text.find('\0') == std::string::npos) return text;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) c = '?';
  }
  return text;
}

Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Failed& failed) {
    Failure failure = failed.failure();
    if (failure.type.empty()) failure.type = "error";
    failure.type = printable(std::move(failure.type));
    failure.message = printable(std::move(failure.message));
    failure.details = printable(std::move(failure.details));
    return failure;
  } catch (const Canceled& canceled) {
    return {kCanceledFailure, printable(canceled.reason()), false, {}};
  } catch (const InvalidArgument& refused) {  // the same call would be refused again
    return {kInvalidArgumentFailure, printable(refused.what()), false, {}};
  } catch (const std::exception& exception) {
    return {readable(typeid(exception).name()),
            printable(exception.what() == nullptr ? "" : exception.what()),
            true,
            {}};
  } catch (...) {
    return {"unknown", "an exception that is no std::exception", true, {}};
  }
}

}  // namespace

Failure failure_of(const std::exception_ptr& error) noexcept {
  try {
    return describe(error);
  } catch (...) {  // no memory for the texts: these need none
    return {"unknown", "out of memory", true, {}};
  }
}

bool is_cancellation(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const Canceled&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace perdure::detail
