#include "cli/json_argument.h"

#include <iostream>
#include <iterator>
#include <set>
#include <vector>

namespace perdure::cli {

namespace {

/// Walks through the text as the library reads it, and stops at what it would change.
class Walk : public nlohmann::json_sax<Json> {
 public:
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t& text) override {
    if (text.find_first_of(".eE") != string_t::npos) return true;
    return stop("the number " + text + " does not fit 64 bits: write it as a text, in quotes");
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (++depth_ > detail::kMaxJsonDepth) return too_deep();
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    return keys_.back().insert(name).second || stop("an object has the key \"" + name + "\" twice");
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return ++depth_ <= detail::kMaxJsonDepth || too_deep(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t,
                   const std::string&,
                   const nlohmann::detail::exception& error) override {
    return stop(detail::reason_of(static_cast<const Json::exception&>(error)));
  }

 private:
  bool too_deep() {
    return stop("nested deeper than " + std::to_string(detail::kMaxJsonDepth) + " levels");
  }
  bool stop(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  std::string problem_;
  std::size_t depth_ = 0;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Json parse_json_argument(std::string_view what, const std::string& text) {
  Walk walk;
  if (!Json::sax_parse(text, &walk)) {
    throw InvalidArgument(std::string(what) + ": " + walk.problem() +
                          "; a text is JSON in double quotes, as '\"yes\"'");
  }
  return Json::parse(text);
}

Json read_payload_argument(const std::string& text) {
  if (text != "-") return parse_json_argument("JSON", text);
  const std::string all(std::istreambuf_iterator<char>(std::cin), {});
  return parse_json_argument("standard input", all);
}

}  // namespace perdure::cli
