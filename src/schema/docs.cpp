#include "schema/docs.h"

#include <algorithm>

#include "base/strings.h"
#include "schema/value_text.h"

namespace profline::schema {
namespace {

/// Walks a field list and the lists nested in it.
class Describer {
 public:
  /// `defaults` are those that the enclosing struct sets; what it does not mention keeps its own.
  void describe(const StructType& structure, const std::string& path, const Node& defaults) {
    const Node own_defaults = structure.defaults();
    open_.push_back(&structure);
    for (const FieldEntry& field : structure.fields) {
      if (field.is_removed()) continue;
      const Node* usual = defaults.find(field.text.name);
      if (usual == nullptr) usual = own_defaults.find(field.text.name);
      describe_field(field, joined(path, field.text.name), *usual);
    }
    open_.pop_back();
  }

  std::vector<FieldDoc> take() && { return std::move(docs_); }

 private:
  static std::string joined(const std::string& path, std::string_view step) {
    if (path.empty() || step.empty()) return path + std::string(step);
    return path + '.' + std::string(step);
  }

  void describe_field(const FieldEntry& field, const std::string& path, const Node& usual) {
    const FieldText& text = field.text;
    const Type& type = field.type();
    FieldDoc doc;
    doc.path = path;
    doc.type = type.text(text.limits);
    if (!text.unit.empty()) doc.type += " in " + std::string(text.unit);
    doc.help = text.help;
    doc.deprecated = text.deprecated;
    doc.required = text.required;
    doc.is_group = type.structure != nullptr;
    if (!doc.required && !doc.is_group) doc.default_text = value_text(usual);
    docs_.push_back(std::move(doc));
    describe_inside(type, path, usual);
  }

  /// A struct that contains itself, for example through a list, is described once.
  void describe_inside(const Type& type, const std::string& path, const Node& usual) {
    if (type.structure == nullptr) {
      if (type.inner == nullptr) return;
      // An absent or repeated value has the defaults of its own type.
      const bool is_present = type.inner_step.empty() && !usual.is_null();
      describe_inside(type.inner(), joined(path, type.inner_step), is_present ? usual : Node());
      return;
    }
    const StructType& structure = type.structure();
    if (std::find(open_.begin(), open_.end(), &structure) != open_.end()) return;
    describe(structure, path, usual);
  }

  std::vector<FieldDoc> docs_;
  std::vector<const StructType*> open_;
};

bool is_word(char c) {
  return is_digit(c) || is_letter(c) || static_cast<unsigned char>(c) >= 0x80U;
}

/// Plain text in a cell of a table. Underscores inside words mean nothing to Markdown.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word =
        i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    const bool special = std::string_view("\\`*|<[]").find(c) != std::string_view::npos;
    if (special || (c == '_' && !inside_word)) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

/// Code in a cell of a table: a fence longer than any run of backticks inside, bars escaped.
std::string code(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string inside;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') inside += '\\';
    inside += c == '\n' || c == '\r' ? ' ' : c;
  }
  const std::string fence(longest + 1, '`');
  const std::string gap = longest == 0 ? "" : " ";  // a fence must not touch another backtick
  return fence + gap + inside + gap + fence;
}

std::string row_of(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

/// `extra` may be null.
std::string table_of(const std::vector<FieldDoc>& docs, const ReferenceColumn* extra) {
  std::vector<std::string> titles = {"key", "type", "default", "meaning"};
  if (extra != nullptr) titles.insert(titles.begin() + 1, std::string(extra->title));
  std::string text = row_of(titles) + '|';
  for (std::size_t i = 0; i < titles.size(); ++i) text += "---|";
  text += '\n';
  for (const FieldDoc& doc : docs) {
    std::string usual = doc.required ? "required" : "";
    if (!doc.default_text.empty()) usual = code(doc.default_text);
    std::string meaning = escaped(doc.help);
    if (!doc.deprecated.empty()) meaning += " (deprecated: " + escaped(doc.deprecated) + ")";
    std::vector<std::string> cells = {code(doc.path), escaped(doc.type), usual, meaning};
    if (extra != nullptr) cells.insert(cells.begin() + 1, extra->cell(doc));
    text += row_of(cells);
  }
  return text;
}

}  // namespace

std::vector<FieldDoc> internal::describe(const StructType& structure, std::string_view path) {
  Describer describer;
  describer.describe(structure, std::string(path), Node());
  return std::move(describer).take();
}

std::string reference_table(const std::vector<FieldDoc>& docs) {
  return table_of(docs, nullptr);
}

std::string reference_table(const std::vector<FieldDoc>& docs, const ReferenceColumn& extra) {
  return table_of(docs, &extra);
}

}  // namespace profline::schema
