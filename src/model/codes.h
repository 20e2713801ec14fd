#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>

/// Codes that stand on disk. Every enum that is stored has one table of (value, name); the number
/// in the store is the enumerator's value. Never renumber, never reuse: docs/storage-format.md
/// lists them all, and a test compares that page with these tables.
namespace perdure {

/// One row of a code table.
template <class E>
struct CodeRow {
  E value;
  std::string_view name;
};

/// Specialised for every stored enum: `static std::span<const CodeRow<E>> rows();`
template <class E>
struct CodeTable;

template <class E>
concept StoredCode = requires {
  CodeTable<E>::rows();
};

/// The number that is stored.
template <StoredCode E>
constexpr std::int64_t code(E value) {
  return static_cast<std::int64_t>(value);
}

/// The enumerator behind a stored number; nullopt for a number that this version does not know,
/// which is an answer (a corrupt row, or a newer writer) and never undefined behaviour.
template <StoredCode E>
std::optional<E> from_code(std::int64_t raw) {
  for (const CodeRow<E>& row : CodeTable<E>::rows()) {
    if (code(row.value) == raw) return row.value;
  }
  return std::nullopt;
}

/// The name in snake_case, as the command line, the HTTP API and the documents show it.
template <StoredCode E>
std::string_view to_string(E value) {
  for (const CodeRow<E>& row : CodeTable<E>::rows()) {
    if (row.value == value) return row.name;
  }
  return "unknown";
}

template <StoredCode E>
std::optional<E> from_name(std::string_view name) {
  for (const CodeRow<E>& row : CodeTable<E>::rows()) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

template <StoredCode E>
std::ostream& operator<<(std::ostream& out, E value) {
  return out << to_string(value);
}

}  // namespace perdure
