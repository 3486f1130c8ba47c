/// A value as SQLite stores it.
enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  /// The text, or null for nil.
  init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }

  /// The number, or null for nil.
  init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }

  /// The text; nil for anything else.
  var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The real number; nil for anything else.
  var real: Double? { if case .real(let real) = self { real } else { nil } }

  /// The integer; nil for anything else.
  var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
}

/// A row of an answer: its columns from left to right.
typealias SQLRow = [SQLValue]
