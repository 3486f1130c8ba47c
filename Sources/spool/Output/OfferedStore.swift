import Intake
import Platform

/// The `--store` of this call, for the commands that its output offers: without it they would look
/// into another store.
///
/// The text may be a line behind `next:` or a sentence. So the option stands right behind the
/// command's name, where both can be read and pasted: `spool resume --store work/st 20261125-…`.
struct OfferedStore: Sendable {
  private let option: StoreOption

  /// - Parameter option: `--store` as typed; nil for none.
  init(_ option: String?) { self.option = StoreOption(option) }

  /// The text with the store in each command that takes it and does not name it. O(n).
  func completing(_ text: String) -> String {
    guard !option.words.isEmpty, text.contains(Self.start) else { return text }
    let parts = text.split(separator: Self.start, omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(String(parts.first ?? "")) { $0 + Self.start + complete($1) }
  }

  /// A line of JSON with the store in the commands of its advice, whatever it is part of; anything
  /// else stays as it is. O(n).
  func completing(json line: String) -> String {
    guard !option.words.isEmpty, line.contains(Self.start),
      Self.adviceNames.contains(where: { line.contains("\"\($0)\":") }),
      let value = try? JSONReader.value(of: Array(line.utf8), depthLimit: 64).value
    else { return line }
    return completing(value).compact
  }

  private func completing(_ value: JSONValue) -> JSONValue {
    switch value {
    case .list(let values): return .list(values.map(completing))
    case .object(var members):
      for (name, member) in members {
        let advice = Self.adviceNames.contains(name) ? member.text : nil
        members[name] = advice.map { .text(completing($0)) } ?? completing(member)
      }
      return .object(members)
    case .null, .boolean, .number, .text: return value
    }
  }

  /// The members of JSON that say what to do.
  private static let adviceNames = ["advice", "failureAdvice"]

  /// How a command begins.
  private static let start = Spool.program.name + " "

  /// - Parameter line: what follows the program's name, up to the next command.
  private func complete(_ line: Substring) -> String {
    let words = line.prefix { $0.isASCII && ($0.isLowercase || $0 == " ") }
      .split(separator: " ", maxSplits: 2)
    let command = (1...2).reversed().lazy.compactMap { count in
      words.count < count
        ? nil
        : Spool.program.helpSubject(words.prefix(count).map(String.init)).flatMap(Self.command)
    }.first
    guard let (name, declaration) = command,
      declaration.options.contains(where: { $0.name == Options.store.declaration.name }),
      !line.contains("\(option: .store)")
    else { return String(line) }
    return name + " " + ShellWords.line(option.words) + line.dropFirst(name.count)
  }

  /// The words that name a command, and what it takes; nil for anything else.
  private static func command(
    _ subject: HelpSubject
  ) -> (name: String, declaration: CommandDeclaration)? {
    switch subject {
    case .command(let command): (command.name, command)
    case .family(let family):
      family.usual.flatMap { Spool.program.command(named: "\(family.name) \($0)") }
        .map { (family.name, $0) }
    case .program, .guide: nil
    }
  }
}
