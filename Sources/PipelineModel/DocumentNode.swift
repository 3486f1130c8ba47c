/// A piece of a YAML document with the place where it stands. What a scalar means (a number, a
/// unit, a name) is decided by whoever reads it; only YAML's own null and booleans are fixed.
public struct DocumentNode: Hashable, Sendable {
  /// What the node holds.
  public indirect enum Content: Hashable, Sendable {
    /// A single value as written. A quoted one is text whatever it looks like.
    case scalar(String, isQuoted: Bool)
    /// An ordered list.
    case sequence([DocumentNode])
    /// Keys and values in the order written, each key once.
    case mapping([Entry])
  }

  /// One key with its value.
  public struct Entry: Hashable, Sendable {
    /// The key.
    public let key: String
    /// Where the key stands.
    public let location: SourceLocation
    /// The value.
    public let value: DocumentNode

    /// Makes an entry.
    public init(key: String, location: SourceLocation, value: DocumentNode) {
      self.key = key
      self.location = location
      self.value = value
    }
  }

  /// What the node holds.
  public let content: Content
  /// Where it begins.
  public let location: SourceLocation

  /// Makes a node.
  public init(_ content: Content, at location: SourceLocation) {
    self.content = content
    self.location = location
  }

  /// Whether the node is YAML's null: empty, `~` or `null`, unquoted.
  public var isNull: Bool {
    if case .scalar(let text, isQuoted: false) = content {
      return ["", "~", "null", "Null", "NULL"].contains(text)
    }
    return false
  }

  /// Where the value of keys within keys stands; nil where there is none. O(entries).
  func location(of path: [String]) -> SourceLocation? {
    guard let key = path.first else { return location }
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value.location(of: Array(path.dropFirst()))
  }

  /// For messages: `a list`, `a mapping`, `"text"`.
  public var summary: String {
    switch content {
    case .scalar where isNull: "nothing"
    case .scalar(let text, _): "\"\(text)\""
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}

/// A place in a text file.
public struct SourceLocation: Hashable, Sendable, Comparable, Codable {
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int

  /// Makes a location.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Earlier in the file.
  public static func < (a: SourceLocation, b: SourceLocation) -> Bool {
    (a.line, a.column) < (b.line, b.column)
  }
}

/// Something wrong with a pipeline: where, what was found, what is allowed, and the nearest known
/// word.
public struct Problem: Hashable, Sendable, Codable {
  /// Where it stands; nil where the trouble is not in the file (a missing input, say).
  public let location: SourceLocation?
  /// What was found, as one sentence without a full stop: `"treshold" is not a parameter of gate`.
  public let message: String
  /// What would be right: `allowed: threshold, attack, hold, release, range`.
  public let allowed: String?
  /// The nearest known word.
  public let suggestion: String?

  /// Describes a problem.
  public init(
    at location: SourceLocation?, _ message: String, allowed: String? = nil,
    suggestion: String? = nil
  ) {
    self.location = location
    self.message = message
    self.allowed = allowed
    self.suggestion = suggestion
  }

  /// The word of `words` that is fewest edits away from `word`, if it is near enough to be meant:
  /// nearer still where they begin differently.
  public static func nearest(to word: String, in words: [String]) -> String? {
    let word = word.lowercased()
    return words.map { ($0, editDistance(word, $0.lowercased())) }
      .filter { candidate, distance in
        let beginsAlike = word.prefix(2) == candidate.lowercased().prefix(2)
        return distance <= max(1, word.count / (beginsAlike ? 2 : 3))
      }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }

  /// Edits between two words: insert, delete, replace, or swap neighbours (optimal string
  /// alignment). O(a · b).
  static func editDistance(_ a: String, _ b: String) -> Int {
    let a = Array(a)
    let b = Array(b)
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    for i in a.indices {
      for j in b.indices {
        var best = min(
          rows[i][j + 1] + 1, rows[i + 1][j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        rows[i + 1][j + 1] = best
      }
    }
    return rows[a.count][b.count]
  }
}
