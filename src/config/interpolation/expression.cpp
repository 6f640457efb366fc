#include "config/interpolation/expression.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "config/interpolation/internal/lexer.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

using internal::LexerStart;
using internal::Problem;
using internal::Token;
using internal::TokenKind;

Expression literal(std::string value) {
  Expression expression;
  expression.form = Literal{Node::string(std::move(value))};
  return expression;
}

/// Collects literal text and interpolations; adjacent texts become one part.
class Parts {
 public:
  void add(std::string_view piece) {
    pending_ += piece;
    has_pending_ = true;
  }
  void add(Expression part) {
    flush();
    parts_.push_back(std::move(part));
  }
  std::vector<Expression> take() {
    flush();
    return std::move(parts_);
  }

 private:
  void flush() {
    if (!has_pending_) return;
    parts_.push_back(literal(std::exchange(pending_, {})));
    has_pending_ = false;
  }

  std::vector<Expression> parts_;
  std::string pending_;
  bool has_pending_ = false;
};

/// Recursive descent over the tokens. A function that fails sets `problem_` and returns a
/// meaningless value; callers check `failed()`.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  Expression whole_text() {
    Expression result = text(TokenKind::End);
    if (!failed() && peek() != TokenKind::End) fail("this is not part of an interpolation");
    return result;
  }

  Expression whole_element() {
    Expression result = element();
    if (!failed() && peek() != TokenKind::End) fail(unexpected("the end"));
    return result;
  }

  bool failed() const { return !problem_.message.empty(); }
  const Problem& problem() const { return problem_; }

 private:
  /// Counts the nesting depth, and fails if it is too deep for recursion.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxInterpolationDepth) {
        parser_.fail("more than " + std::to_string(kMaxInterpolationDepth) + " nested levels");
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  TokenKind peek() const { return tokens_[at_].kind; }
  const Token& token() const { return tokens_[at_]; }
  std::string_view text_of(const Token& token) const {
    return text_.substr(token.offset, token.length);
  }
  const Token& take() { return tokens_[at_++]; }

  void fail(std::string message) {
    if (!failed()) problem_ = {token().offset, std::move(message)};
  }

  std::string unexpected(std::string_view wanted) const {
    std::string shown = "the text ends";
    if (peek() != TokenKind::End) shown = "'" + std::string(text_of(token())) + "' found";
    return shown + " where " + std::string(wanted) + " should be";
  }

  void expect(TokenKind kind, std::string_view wanted) {
    if (peek() == kind) {
      take();
    } else {
      fail(unexpected(wanted));
    }
  }

  /// Sets where `expression` was read from: `from` up to the next token.
  Expression finish(Expression expression, std::size_t from) const {
    expression.offset = from;
    expression.length = token().offset - from;
    return expression;
  }

  static bool is_text(TokenKind kind) {
    switch (kind) {
      case TokenKind::InterOpen:
      case TokenKind::Any:
      case TokenKind::Escape:
      case TokenKind::EscInter:
      case TokenKind::TopEscape:
      case TokenKind::QuotedEscape:
        return true;
      default:
        return false;
    }
  }

  /// Free text up to `end`, which is the end of the text or a closing quote.
  Expression text(TokenKind end) {
    const std::size_t from = token().offset;
    Parts found;
    while (!failed() && is_text(peek())) {
      if (peek() == TokenKind::InterOpen) {
        found.add(interpolation());
      } else {
        const Token piece = take();
        found.add(unescaped(piece, end));
      }
    }
    std::vector<Expression> parts = found.take();
    // A text that is a single interpolation has its value, of any type; in quotes, its string.
    const bool alone = parts.size() == 1 && end == TokenKind::End;
    if (alone || (parts.size() == 1 && std::holds_alternative<Literal>(parts.front().form))) {
      return finish(std::move(parts.front()), from);
    }
    Expression whole;
    whole.form = Text{std::move(parts)};
    return finish(std::move(whole), from);
  }

  /// The text that a token of free text represents; the next token is still unread.
  std::string unescaped(const Token& piece, TokenKind end) const {
    const std::string_view raw = text_of(piece);
    const bool before_interpolation = peek() == TokenKind::InterOpen;
    switch (piece.kind) {
      case TokenKind::EscInter:  // `\\\${` is `\${`
        return std::string(raw.substr(raw.size() - (raw.size() / 2 + 1)));
      case TokenKind::Escape:
        return every_second(raw);
      case TokenKind::TopEscape:
        return before_interpolation ? every_second(raw) : std::string(raw);
      case TokenKind::QuotedEscape:
        return before_interpolation || peek() == end ? every_second(raw) : std::string(raw);
      default:
        return std::string(raw);
    }
  }

  /// `\\\(` is `\(`.
  static std::string every_second(std::string_view escaped) {
    std::string out;
    for (std::size_t i = 1; i < escaped.size(); i += 2) out += escaped[i];
    return out;
  }

  /// What is between `${` and the first `}` or `:`: steps and the signs around them. It is the key
  /// of a reference or the name of a resolver; only its end shows which.
  struct Path {
    std::vector<Expression> pieces;
    /// The first token that cannot be part of a resolver's name.
    std::size_t not_in_name = static_cast<std::size_t>(-1);
  };

  Expression interpolation() {
    const Level level(*this);
    const std::size_t from = token().offset;
    take();  // `${`
    Path path;
    while (!failed() && peek() == TokenKind::Dot) sign(path, false);
    key_step(path);
    while (!failed() && (peek() == TokenKind::Dot || peek() == TokenKind::BracketOpen)) {
      if (peek() == TokenKind::Dot) {
        sign(path, true);
        key(path);
      } else {
        key_step(path);
      }
    }
    if (failed()) return {};
    if (peek() == TokenKind::Colon) return call(std::move(path), from);
    expect(TokenKind::InterClose, "'}', '.', '[' or ':'");
    Parts key;
    for (Expression& piece : path.pieces) {
      if (const auto* fixed = std::get_if<Literal>(&piece.form)) {
        key.add(fixed->value.as_string());
      } else {
        key.add(std::move(piece));
      }
    }
    Expression expression;
    expression.form = Reference{key.take()};
    return finish(std::move(expression), from);
  }

  void sign(Path& path, bool allowed_in_name) {
    if (!allowed_in_name) path.not_in_name = std::min(path.not_in_name, at_);
    path.pieces.push_back(literal(std::string(text_of(take()))));
  }

  /// `a` or `[a]`
  void key_step(Path& path) {
    if (failed()) return;
    if (peek() != TokenKind::BracketOpen) {
      key(path);
      return;
    }
    sign(path, false);
    key(path);
    if (failed()) return;
    if (peek() == TokenKind::BracketClose) {
      sign(path, false);
    } else {
      fail(unexpected("']'"));
    }
  }

  void key(Path& path) {
    if (failed()) return;
    if (peek() == TokenKind::InterOpen) {
      path.pieces.push_back(interpolation());
    } else if (peek() == TokenKind::Id || peek() == TokenKind::Key) {
      sign(path, peek() == TokenKind::Id);
    } else {
      fail(unexpected("a key"));
    }
  }

  /// `${name:a,b}`, read up to the colon.
  Expression call(Path path, std::size_t from) {
    if (path.not_in_name < at_) {
      at_ = path.not_in_name;
      fail(unexpected("the name of a resolver"));
      return {};
    }
    Call result;
    for (std::size_t i = 0; i < path.pieces.size(); i += 2) {  // every other one is a dot
      result.name.push_back(std::move(path.pieces[i]));
    }
    take();  // `:`
    if (peek() != TokenKind::BraceClose) result.arguments = sequence(TokenKind::BraceClose);
    expect(TokenKind::BraceClose, "',' or '}'");
    Expression expression;
    expression.form = std::move(result);
    return finish(std::move(expression), from);
  }

  /// `a, b`; a missing item next to a comma is an empty string.
  std::vector<Expression> sequence(TokenKind end) {
    std::vector<Expression> items;
    while (!failed()) {
      if (peek() == TokenKind::Comma || peek() == end) {
        items.push_back(finish(literal({}), token().offset));
      } else {
        items.push_back(element());
      }
      if (peek() != TokenKind::Comma) break;
      take();
    }
    return items;
  }

  Expression element() {
    const Level level(*this);
    if (failed()) return {};
    switch (peek()) {
      case TokenKind::SingleQuoteOpen:
      case TokenKind::DoubleQuoteOpen:
        return quoted();
      case TokenKind::BracketOpen:
        return list();
      case TokenKind::BraceOpen:
        return map();
      default:
        return primitive(true);
    }
  }

  Expression quoted() {
    const std::size_t from = token().offset;
    take();
    if (peek() == TokenKind::QuoteClose) {
      take();
      return finish(literal({}), from);
    }
    Expression content = text(TokenKind::QuoteClose);
    expect(TokenKind::QuoteClose, "the closing quote");
    return finish(std::move(content), from);
  }

  Expression list() {
    const std::size_t from = token().offset;
    take();
    ListItems result;
    if (peek() != TokenKind::BracketClose) result.items = sequence(TokenKind::BracketClose);
    expect(TokenKind::BracketClose, "',' or ']'");
    Expression expression;
    expression.form = std::move(result);
    return finish(std::move(expression), from);
  }

  Expression map() {
    const std::size_t from = token().offset;
    take();
    MapItems result;
    bool more = peek() != TokenKind::BraceClose;
    while (more && !failed()) {
      Expression key = primitive(false);
      if (failed()) break;
      expect(TokenKind::Colon, "':'");
      Expression value = element();
      if (failed()) break;
      result.entries.push_back({std::move(std::get<Literal>(key.form).value), std::move(value)});
      more = peek() == TokenKind::Comma;
      if (more) take();
    }
    expect(TokenKind::BraceClose, "',' or '}'");
    Expression expression;
    expression.form = std::move(result);
    return finish(std::move(expression), from);
  }

  static bool is_primitive(TokenKind kind, bool is_value) {
    switch (kind) {
      case TokenKind::Id:
      case TokenKind::Null:
      case TokenKind::Int:
      case TokenKind::Float:
      case TokenKind::Bool:
      case TokenKind::Unquoted:
      case TokenKind::Escape:
      case TokenKind::Space:
        return true;
      case TokenKind::Colon:
      case TokenKind::InterOpen:
        return is_value;
      default:
        return false;
    }
  }

  /// An unquoted value, or the key of a map, which contains neither colons nor interpolations. A
  /// single token has its own type; several are joined to a string.
  Expression primitive(bool is_value) {
    const std::size_t from = token().offset;
    const std::size_t first = at_;
    if (!is_primitive(peek(), is_value)) {
      fail(unexpected(is_value ? "a value" : "a key"));
      return {};
    }
    Parts found;
    std::size_t pieces = 0;
    for (; !failed() && is_primitive(peek(), is_value); ++pieces) {
      if (peek() == TokenKind::InterOpen) {
        found.add(interpolation());
      } else if (const Token piece = take(); piece.kind == TokenKind::Escape) {
        found.add(every_second(text_of(piece)));
      } else {
        found.add(text_of(piece));
      }
    }
    if (failed()) return {};
    std::vector<Expression> parts = found.take();
    if (pieces == 1) {
      Expression only = std::move(parts.front());
      if (std::holds_alternative<Literal>(only.form)) typed(tokens_[first], only);
      return finish(std::move(only), from);
    }
    if (parts.size() == 1) return finish(std::move(parts.front()), from);
    Expression joined;
    joined.form = Text{std::move(parts)};
    return finish(std::move(joined), from);
  }

  /// Gives a literal the type of the single token it was read from.
  void typed(const Token& token, Expression& expression) {
    const std::string_view raw = text_of(token);
    Node& value = std::get<Literal>(expression.form).value;
    switch (token.kind) {
      case TokenKind::Null:
        value = Node();
        break;
      case TokenKind::Bool:
        value = Node::boolean(raw.front() == 't' || raw.front() == 'T');
        break;
      case TokenKind::Int:
        if (std::optional<Node> number = parse_python_int(raw)) {
          value = std::move(*number);
        } else {
          problem_ = {token.offset, "this integer has too many digits"};
        }
        break;
      case TokenKind::Float:
        // The grammar accepts only what Python's float() accepts.
        value = Node::real(python_float(raw).value_or(0));
        break;
      default:
        break;
    }
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  Problem problem_;
};

Result<Expression> parse(std::string_view text, LexerStart start) {
  std::vector<Token> tokens;
  Problem problem;
  if (!internal::tokenize(text, start, tokens, problem)) {
    return internal::grammar_error(text, problem);
  }
  Parser parser(text, tokens);
  Expression expression = start == LexerStart::Text ? parser.whole_text() : parser.whole_element();
  if (parser.failed()) return internal::grammar_error(text, parser.problem());
  return expression;
}

}  // namespace

Result<Expression> parse_text(std::string_view text) {
  return parse(text, LexerStart::Text);
}

Result<Expression> parse_element(std::string_view text) {
  return parse(text, LexerStart::Value);
}

}  // namespace profline::config
