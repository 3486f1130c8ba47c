/// What a name may be made of. Names end up in file names and in `step.port`, hence only these.
enum NameRule {
  /// A pipeline's name: dots are allowed.
  case pipeline
  /// The name of a step, a stage kind, an input or a variable.
  case step

  /// For messages.
  var allowed: String {
    switch self {
    case .pipeline: "letters a–z, digits, -, _ and ., beginning with a letter or digit"
    case .step: "letters a–z, digits, - and _, beginning with a letter or digit"
    }
  }

  /// Whether a name keeps the rule.
  func allows(_ name: some StringProtocol) -> Bool {
    guard let first = name.utf8.first, Self.isAlphanumeric(first) else { return false }
    return name.utf8.allSatisfy {
      Self.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        || (self == .pipeline && $0 == UInt8(ascii: "."))
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
