import Platform

/// Problems of a file as people read them, each under the line it is about:
///
/// ```
/// pipelines/x.yaml:12:13: error: "treshold" is not a parameter of gate
///   12 |   - gate: { treshold: -45 dB }
///      |             ^~~~~~~~
///      allowed: threshold, attack, hold, release, range
///      did you mean "threshold"?
/// ```
struct SourceExcerpt {
  private let lines: [[Unicode.Scalar]]
  private let path: String
  private let isColored: Bool

  /// For this text of this file, with colours for a terminal if wanted. Of a text that is nil, nothing is
  /// shown.
  init(_ text: String?, path: String, isColored: Bool = false) {
    lines = text.map { SourceLines($0).lines } ?? []
    self.path = path
    self.isColored = isColored
  }

  /// The problems in the order of the file, separated by an empty line, with a final line break.
  /// Those without a place come last, with the file alone.
  func render(_ problems: [Problem]) -> String {
    problems.inFileOrder.map { render($0) }.joined(separator: "\n")
  }

  private func render(_ problem: Problem) -> String {
    let place = problem.location.map { ":\($0.line):\($0.column)" } ?? ""
    let message = ExcerptWindow.printable(problem.message)
    let source = problem.override.map { "\(option: .set) \($0)" } ?? path
    let head = "\(ExcerptWindow.printable(source))\(place): "
    var lines = [bold(head) + red("error:") + bold(" \(message)")]
    let margin = problem.location.map { max(4, "\($0.line)".count + 2) } ?? 2
    let indent = String(repeating: " ", count: margin)
    if let location = problem.location, self.lines.indices.contains(location.line - 1) {
      let window = ExcerptWindow(self.lines[location.line - 1], column: location.column)
      let number = String(repeating: " ", count: margin - "\(location.line)".count)
      lines.append("\(number)\(location.line) | \(window.text)")
      lines.append("\(indent) | \(window.padding)" + red(window.marker))
    }
    if let allowed = problem.allowed {
      lines.append("\(indent) allowed: \(ExcerptWindow.printable(allowed, to: 2000))")
    }
    if let suggestion = problem.suggestion {
      lines.append("\(indent) did you mean \"\(ExcerptWindow.printable(suggestion))\"?")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  private func red(_ text: String) -> String { isColored ? "\u{1B}[1;31m\(text)\u{1B}[0m" : text }
}

extension [Problem] {
  /// The problems of this text of this file as people read them; see ``SourceExcerpt``.
  package func excerpts(of text: String?, at path: String, isColored: Bool) -> String {
    SourceExcerpt(text, path: path, isColored: isColored).render(self)
  }
}

/// The visible part of a problem's line, and the marker below it.
struct ExcerptWindow {
  /// With `…` at cuts, and without control characters.
  let text: String
  /// Spaces up to the marked word.
  let padding: String
  /// `^`, and `~` under the rest of the word.
  let marker: String

  private static let maximumWidth = 100

  /// A window on `line` around `column`, which counts scalars from 1.
  init(_ line: [Unicode.Scalar], column: Int) {
    let culprit = min(max(column - 1, 0), line.count)
    var before = Self.cells(line[..<culprit])
    var after = Self.cells(line[culprit...])
    if Self.width(before) + Self.width(after) > Self.maximumWidth {
      let room = Self.maximumWidth / 2
      before = Self.trimmed(before.reversed(), to: room).reversed()
      after = Self.trimmed(after, to: Self.maximumWidth - min(Self.width(before), room))
    }
    text = before.joined() + after.joined()
    padding = String(repeating: " ", count: Self.width(before))
    let word = after.prefix { $0.first.map(Self.isPartOfWord) ?? false }
    marker = "^" + String(repeating: "~", count: max(Self.width(Array(word)), 1) - 1)
  }

  /// A quotation from a file made printable: no control characters, and cut to `width` columns.
  static func printable(_ text: String, to width: Int = 400) -> String {
    trimmed(cells(Array(text.unicodeScalars.prefix(4 * width))[...]), to: width).joined()
  }

  /// Printable characters: control characters would disturb a terminal.
  private static func cells(_ scalars: ArraySlice<Unicode.Scalar>) -> [String] {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view).map { character in
      guard let scalar = character.unicodeScalars.first else { return "" }
      return switch scalar.properties.generalCategory {
      case .control where scalar == "\t": " "
      case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
      default: String(character)
      }
    }
  }

  /// As many cells as fit into `width`, the last one `…` after a cut.
  private static func trimmed(_ cells: [String], to width: Int) -> [String] {
    var used = 0
    let fitting = cells.prefix { cell in
      used += self.width([cell])
      return used <= width
    }
    return fitting.count == cells.count ? cells : fitting.dropLast() + ["…"]
  }

  private static func isPartOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "-_.$%".contains(character)
  }

  /// The columns of cells in a terminal.
  private static func width(_ cells: [String]) -> Int {
    cells.reduce(0) { $0 + ($1.unicodeScalars.first.map(isWide) == true ? 2 : 1) }
  }

  /// Whether a terminal uses two columns for a character (East Asian Width W and F, in ranges).
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
      0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

/// A text cut into lines as libyaml counts them.
struct SourceLines {
  /// The UTF-8 of U+FEFF, with which some editors begin a file.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The lines without their ends. A final line break begins no line, and an empty text has one
  /// empty line.
  let lines: [[Unicode.Scalar]]

  /// Invalid UTF-8 becomes U+FFFD.
  init(_ bytes: some Collection<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }

  /// Omits a byte order mark.
  init(_ text: String) {
    var lines: [[Unicode.Scalar]] = []
    var line: [Unicode.Scalar] = []
    var previous: Unicode.Scalar = " "
    for (index, scalar) in text.unicodeScalars.enumerated() {
      switch scalar {
      case "\u{FEFF}" where index == 0: continue
      case "\n" where previous == "\r": break
      // YAML 1.1, which libyaml follows here, also ends lines at these three.
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        lines.append(line)
        line = []
      default: line.append(scalar)
      }
      previous = scalar
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    self.lines = lines
  }

  /// The place itself if the text has it, else the nearest one. The end of a line is a place:
  /// something may be missing there.
  func nearest(to location: SourceLocation) -> SourceLocation {
    let index = min(max(location.line, 1), lines.count) - 1
    let end = lines[index].count + 1
    guard location.line <= lines.count else { return SourceLocation(line: index + 1, column: end) }
    return SourceLocation(line: index + 1, column: min(max(location.column, 1), end))
  }

  /// The place of a byte of invalid UTF-8: that of the character it begins, or breaks off.
  static func location(ofByte offset: Int, in bytes: [UInt8]) -> SourceLocation {
    var before = bytes.prefix(offset)
    let trail = before.reversed().prefix { $0 & 0xC0 == 0x80 }.count
    if trail < 3, let lead = before.dropLast(trail).last, lead.leadingOneBits > trail + 1 {
      before = before.dropLast(trail + 1)
    }
    let lines = SourceLines(before + Array("|".utf8)).lines
    return SourceLocation(line: lines.count, column: lines.last?.count ?? 1)
  }
}

extension UInt8 {
  /// In the first byte of a UTF-8 sequence of two or more: the number of its bytes.
  fileprivate var leadingOneBits: Int { (~self).leadingZeroBitCount }
}
