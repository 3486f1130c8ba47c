/// An error as a user reads it: three short parts, and nothing besides but what was noted on the way.
package struct Complaint: Sendable {
  /// What failed, on which file and step.
  package let what: String
  /// Why.
  package let why: String
  /// What to do.
  package let next: String

  /// Reads standard error; nil unless it is exactly one error in its three parts.
  package init?(_ text: String) {
    let lines = text.split(separator: "\n").map(String.init).drop { $0.hasPrefix("note: ") }
    let labels = ["error: ", "why:   ", "help:  "]
    guard lines.count == labels.count, zip(lines, labels).allSatisfy({ $0.hasPrefix($1) }) else {
      return nil
    }
    let parts = zip(lines, labels).map { String($0.dropFirst($1.count)) }
    (what, why, next) = (parts[0], parts[1], parts[2])
  }
}
