import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store

extension SpoolError {
  /// A wrong command line.
  static func usage(_ message: String, reason: String? = nil, advice: String? = nil) -> SpoolError {
    SpoolError(message, reason: reason, advice: advice, kind: .usage)
  }

  /// The same error, with the exit code of a wrong command line.
  var asUsage: SpoolError { kind == .invalid ? self : with(kind: .usage) }

  /// The same error as one of another kind, which decides the exit code.
  func with(kind: Kind) -> SpoolError {
    var error = SpoolError(message, reason: reason, advice: advice, cause: cause, kind: kind)
    error.others = others
    return error
  }

  /// An error of a run, with its step and its recording.
  init(_ failure: RunError) {
    let (error, message) = (failure.error, failure.error.message)
    var place = ""
    // The stage's name is not repeated.
    if let step = failure.step?.name,
      failure.kind != step || !message.hasPrefix("\(step) ") && !message.hasPrefix("\(step)'")
    {
      place = failure.kind == step ? "\(step): " : "\(step) (\(failure.kind ?? "")): "
    }
    // An error of another file than the recording names that file.
    let recording =
      error.scope.isEmpty
      ? failure.recording.map(ShellWords.visible(path:))
        .map { message.contains($0) ? "" : " — \($0)" } ?? "" : ""
    self.init(
      place + message + recording, reason: error.reason, advice: error.advice, cause: error.cause)
  }

  /// The exit code of a command that ends with it.
  var exitCode: ExitCode {
    switch kind {
    case .usage, .invalid: .usage
    case .broken: .verificationFailed
    default: .failed
    }
  }

  /// The message, the reason and the advice, for a terminal.
  func text(_ console: Console) -> String {
    var lines: [String]
    if kind == .invalid {
      lines = [reason ?? "", Format.visible(message)]
    } else {
      lines = [console.red("error:") + " " + console.bold(Format.visible(message))]
      if let reason { lines.append("why:   \(Format.visible(reason))") }
      if let advice { lines.append("help:  \(Format.visible(advice))") }
    }
    if exitCode == .usage { lines += others.map { $0.text(console) } }
    return lines.joined(separator: "\n")
  }
}

extension SpoolError {
  /// For a log: of problems in files, their places and what is wrong, without the lines of the files.
  var oneLine: String {
    guard kind == .invalid else { return description }
    let texts = ([self] + others).filter { $0.kind == .invalid }.compactMap(\.reason)
    let places: [Substring] = texts.flatMap { (text: String) -> [Substring] in
      text.split(separator: "\n").filter { $0.contains(": error: ") }
    }
    return places.isEmpty ? message : places.joined(separator: "; ")
  }
}

/// Inspection findings as text: damage first; frequent kinds are abbreviated.
struct FindingList {
  private static let shownCount = 5
  private let findings: [InspectionFinding]
  private let store: StoreOption

  /// - Parameter option: `--store` as typed, for the commands that are advised.
  init(_ findings: [InspectionFinding], store option: String?) {
    self.findings = findings
    store = StoreOption(option)
  }

  /// Advice with the store in each command about the store.
  static func completed(_ advice: String, _ store: StoreOption) -> String {
    [CommandName.check, .repair, .restore].reduce(advice) { advice, name in
      advice.replacing("\(command: name)", with: store.completing("\(command: name)"))
    }
  }

  var lines: [String] {
    var lines: [String] = []
    for isDamage in [true, false] {
      for kind in InspectionFinding.Kind.allCases {
        let some = findings.filter { $0.kind == kind && $0.isDamage == isDamage }
        if let line = Self.folded(kind, some) {
          lines.append(line)
          continue
        }
        for finding in some.prefix(Self.shownCount) { lines += self.lines(finding) }
        if some.count > Self.shownCount {
          lines.append("  … and \(some.count - Self.shownCount) more like this")
        }
      }
    }
    return lines
  }

  /// Changes by the user to exports, in one line, so that they do not bury damage.
  private static func folded(
    _ kind: InspectionFinding.Kind, _ some: [InspectionFinding]
  ) -> String? {
    guard let first = some.first else { return nil }
    let example = Format.visible(first.path)
    let which = some.count == 1 ? example : "such as \(example)"
    switch kind {
    case .exportMissing:
      return "remark:  \(Count.of(some.count, "export")) moved or deleted since, \(which)"
    case .exportChanged:
      return "remark:  \(Count.of(some.count, "export")) changed since, \(which)"
    default: return nil
    }
  }

  private func lines(_ finding: InspectionFinding) -> [String] {
    let label = finding.isDamage ? "damaged:" : "remark: "
    var lines = [
      "\(label) \(Format.visible(finding.path))", "  why:   \(Format.visible(finding.problem))",
      "  means: \(Format.visible(finding.meaning))",
    ]
    if let advice = finding.advice {
      let advice = Self.completed(advice, store)
      let line = NextCommand(advice)?.text ?? "help:  \(Format.visible(advice))"
      lines.append("  " + line)
    }
    return lines
  }
}
