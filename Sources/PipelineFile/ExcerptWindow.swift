/// The part of a line that is shown for a problem, and what to write below it so that the marker
/// stands under the culprit.
struct ExcerptWindow {
  /// The visible part of the line; `…` stands where it was cut. Nothing in it moves the cursor.
  let text: String
  /// Spaces up to the culprit.
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

  /// A text that may quote anything from a file, fit to be shown: no control characters, and cut
  /// where it is absurdly long.
  static func printable(_ text: String) -> String {
    trimmed(cells(Array(text.unicodeScalars.prefix(2000))[...]), to: 400).joined()
  }

  /// Characters as they are shown: control characters would disturb a terminal.
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

  /// As many cells as fit into `width`, the last of them `…` where some did not.
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

  /// The columns that a terminal gives to cells.
  private static func width(_ cells: [String]) -> Int {
    cells.reduce(0) { $0 + ($1.unicodeScalars.first.map(isWide) == true ? 2 : 1) }
  }

  /// Whether a terminal gives a character two columns (East Asian Width W and F, in ranges).
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
