import FoundationEssentials

/// What a launcher tells Spool of the program that it confines. It goes over the lifeline, which the
/// program never has: nothing that the program writes looks like it or drowns it.
struct LauncherReport {
  /// One thing that it tells.
  enum Notice: Codable, Equatable {
    /// What the machine cannot take away from the program, in words that follow "cannot keep it from".
    case missing(String)
    /// Why the program could not be started.
    case failed(String)
    /// How many processes that the program started could not be ended.
    case left(Int)

    /// As a line of JSON.
    var line: [UInt8] {
      ((try? JSONEncoder().encode(self)).map { Array($0) } ?? []) + [10]
    }
  }

  /// What the machine could not take away from the program.
  private(set) var missing: [String] = []
  /// Why the program could not be started; nil where it was.
  private(set) var trouble: String?
  /// How many processes of the program run on.
  private(set) var left = 0

  private var rest: [UInt8] = []

  /// Takes what came next.
  mutating func take(_ bytes: some Sequence<UInt8>) {
    rest += bytes
    while let end = rest.firstIndex(of: 10) {
      let notice = try? JSONDecoder().decode(Notice.self, from: Data(rest[..<end]))
      rest.removeSubrange(...end)
      switch notice {
      case .missing(let name): missing.append(name)
      case .failed(let reason): trouble = reason
      case .left(let count): left = count
      case nil: break
      }
    }
  }

  /// What people should know of a program that goes by this name.
  func warnings(of name: String) -> [String] {
    guard !missing.isEmpty else { return [] }
    return [
      "\(name) is not confined as far as it should be: this machine's kernel cannot keep it from "
        + missing.joined(separator: ", ")
    ]
  }

  /// What is left of the program, for people; nil where that is nothing.
  var remnant: String? {
    guard left > 0 else { return nil }
    return left == 1
      ? "1 process that it started could not be ended, and may run on"
      : "\(left) processes that it started could not be ended, and may run on"
  }

  /// How the user finds them.
  static let adviceForRemnant =
    "ps -u \"$USER\" -o pid,ppid,etime,args shows them; end them with kill"
}
