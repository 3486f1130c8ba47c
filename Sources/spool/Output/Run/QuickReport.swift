import PipelineEngine
import PipelineModel
import Platform
import Synchronization

/// What became of the files of one quick run, as a line of text or of JSON.
struct QuickReport {
  /// The recordings as typed.
  let inputs: [String]
  /// The files to write, as the user would type them.
  let outputs: [String]
  /// Nil where it was only planned.
  var run: RunRecord?
  var error: SpoolError?
  var warnings: [String] = []
  /// Whether the run was recorded in the user's store.
  var isKept = false

  /// `note.m4a → clean.m4a`.
  var title: String { "\(Self.list(inputs, " + ")) → \(Self.list(outputs, ", "))" }

  private static func list(_ names: [String], _ separator: String) -> String {
    names.count > 3
      ? "\(names.count) files" : names.map(ShellWords.visible(path:)).joined(separator: separator)
  }

  /// `note.m4a → clean.m4a   -31.2 → -16.0 LUFS   true peak -8.3 → -1.0 dBTP   1.2 MB   0.8 s`.
  var line: String {
    guard let run else { return title }
    let (before, after) = RunSummary(run).change
    let levels = [before, after].compactMap(\.self)
    var parts = [title]
    if let loudness = Self.change(levels.map(\.integratedLoudness), "LUFS") {
      parts.append(loudness)
    }
    if let peak = Self.change(levels.map(\.truePeak), "dBTP") {
      parts.append("true peak " + peak)
    }
    parts.append(ByteCount(run.published.reduce(0) { $0 + $1.byteCount }).description)
    parts.append(Format.duration(run.seconds ?? 0))
    parts += run.findings.untoldEnd
    if isKept { parts.append("run \(run.id)") }
    return parts.joined(separator: "   ")
  }

  /// `-31.2 → -16.0 LUFS` of the first and the last of some levels; nil without any.
  private static func change(_ levels: [Double?], _ unit: String) -> String? {
    let known = levels.compactMap(\.self)
    guard let last = known.last else { return nil }
    let ends = known.count > 1 ? [known[0], last] : [last]
    return ends.map { Format.decimal($0, places: 1) }.joined(separator: " → ") + " \(unit)"
  }

  /// The line of `--json`.
  var json: JSONLine {
    let change = run.map { RunSummary($0).change }
    return JSONLine(
      "file",
      [
        "inputs": inputs, "outputs": outputs,
        "outcome": error == nil ? run == nil ? "planned" : "done" : "failed",
        "before": change?.before, "after": change?.after,
        "files": run?.published, "mediaSeconds": run?.mediaSeconds, "seconds": run?.seconds,
        "warnings": warnings.isEmpty ? nil : warnings,
        "error": error.map {
          JSONLine(["message": $0.message, "reason": $0.reason, "advice": $0.advice])
        },
        "run": isKept ? run?.id : nil,
      ])
  }
}

/// Shows a quick run as one live line on a terminal, and collects its warnings.
final class QuickRecorder: RunRecorder {
  private let title: String
  private let isSilent: Bool
  private let console: Console
  private let clock: SystemClock
  private let state: Mutex<State>

  private struct State {
    var lines: LiveLines
    var mediaSeconds: Double?
    var warnings: [String] = []
  }

  /// - Parameters:
  ///   - title: what is made.
  ///   - isSilent: whether nothing is drawn.
  init(_ title: String, isSilent: Bool, clock: SystemClock, console: Console) {
    self.title = title
    self.isSilent = isSilent
    self.console = console
    self.clock = clock
    state = Mutex(State(lines: LiveLines(console, interval: 0.1)))
  }

  /// The warnings so far.
  var warnings: [String] { state.withLock { $0.warnings } }

  func record(_ event: RunEvent) {
    state.withLock { state in
      switch event {
      case .warning(_, let text): state.warnings.append(text)
      case .passStarted(_, _, let seconds): state.mediaSeconds = seconds
      case .progress(_, let done, let total): draw(done, of: total ?? state.mediaSeconds, &state)
      case .ended: state.lines.erase()
      default: break
      }
    }
  }

  private func draw(_ done: Double, of total: Double?, _ state: inout State) {
    let now = clock.elapsed
    guard !isSilent, state.lines.isDue(now), let total, total > 0 else { return }
    let fraction = min(done / total, 1)
    let bar = "\(Format.bar(fraction, width: 16))  \(Int(fraction * 100)) %"
    let room = max(12, console.width - 26)
    let name = title.count > room ? title.prefix(room - 1) + "…" : title[...]
    state.lines.draw(["\(name)  \(bar)"], now: now)
  }
}
