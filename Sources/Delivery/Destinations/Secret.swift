import Glibc
package import Platform

/// Where a password or key is found. Its text is read when a connection is opened, and is in no error,
/// log, plan, receipt or database.
package enum Secret: Hashable, Sendable {
  /// In a variable of the environment.
  case variable(String)
  /// In a file that only its owner can read.
  case file(String)
  /// In a credential of systemd, by its name.
  case credential(String)

  /// The largest file in bytes.
  private static let limit = 64 << 10

  /// Reads the secret, without the line break at its end.
  package func text(_ environment: [String: String]) throws(SpoolError) -> String {
    let text: String
    switch self {
    case .variable(let name):
      guard let value = environment[name] else {
        throw refusal("the environment has no such variable", "set it for this program")
      }
      text = value
    case .file(let path): text = try content(of: path, mustBePrivate: true)
    case .credential(let name):
      guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        throw refusal(
          "this program has no credentials of systemd",
          "start it from a unit with LoadCredential=\(name):FILE")
      }
      guard !name.isEmpty, name != ".", name != "..", !name.contains("/") else {
        throw refusal("it is no valid name", nil)
      }
      text = try content(of: "\(folder)/\(name)", mustBePrivate: false)
    }
    guard !text.isEmpty else { throw refusal("it is empty", nil) }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw refusal("it has more than one line, or a control character", nil)
    }
    return text
  }

  private func content(of path: String, mustBePrivate: Bool) throws(SpoolError) -> String {
    let advice = "name a file that holds the secret alone"
    let file = try doing("read the secret in", path, advice: advice) { () throws(SystemError) in
      try OpenFile(path, O_RDONLY | O_NONBLOCK)
    }
    let stamp = try doing("read the secret in", path) { () throws(SystemError) in try file.stamp }
    if let complaint = stamp.complaint { throw refusal(complaint, advice) }
    if mustBePrivate, stamp.permissions & 0o077 != 0 {
      throw refusal("others can read it", "chmod 600 \(ShellWords.line([path]))")
    }
    let content = try doing("read the secret in", path) { () throws(SystemError) in
      try file.bytes(Self.limit + 1)
    }
    guard content.count <= Self.limit, let text = String(validating: content, as: UTF8.self) else {
      throw refusal("it is no text of at most 64 KiB", advice)
    }
    return text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private func refusal(_ reason: String, _ advice: String?) -> SpoolError {
    SpoolError("cannot use \(self)", reason: reason, advice: advice, cause: .blocked, kind: .denied)
  }
}

extension Secret: CustomStringConvertible {
  /// The reference: `the secret in the variable KEY`.
  package var description: String {
    switch self {
    case .variable(let name): "the secret in the variable \(name)"
    case .file(let path): "the secret in \(ShellWords.visible(path: path))"
    case .credential(let name): "the secret in the credential \(name)"
    }
  }
}
