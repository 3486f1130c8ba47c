import PipelineEngine
import PipelineModel
import Platform

/// A run's summary: levels before and after, files, time.
struct RunSummary {
  private let run: RunRecord

  init(_ run: RunRecord) { self.run = run }

  /// The summary's lines, with an empty line before each part.
  var lines: [String] { levels + facts + words + damage + files + [""] + [time] }

  /// The summary with full word reports.
  var fullLines: [String] {
    levels + facts + wordReports + damage + warnings + files + [""] + [time]
  }

  /// The files that a run has written that did not come to its end.
  var filesLeft: [String] { files + ["", "written before the run ended; they stay"] }

  private var damage: [String] {
    let lines = RecordingDamage.lines(run.damage) + run.findings.untoldEnd
    return lines.isEmpty ? [] : [""] + lines.map { Format.visible($0) }
  }

  /// What the steps warned of: a run that ends says it while it works.
  private var warnings: [String] {
    let lines = run.steps.flatMap { step in
      (step.warnings ?? []).map { "warning: \(step.id): \($0)" }
    }
    return lines.isEmpty ? [] : [""] + lines.map { Format.visible($0) }
  }

  private var words: [String] {
    let reports = WordQuality.all(of: run)
    let lines = reports.map { Format.visible($0.titledLine(isOne: reports.count == 1)) }
    guard !lines.isEmpty else { return [] }
    // Where each word is, is a list of its own.
    let unsure = reports.reduce(0) { $0 + $1.counts.unsure }
    let way =
      unsure == 0
      ? [] : ["unsure words that are not corrected: spool words show \(run.id) --unsure"]
    return [""] + lines + cutWords + way
  }

  /// What became of words whose sound was moved: captions have fewer than were aligned.
  private var cutWords: [String] {
    run.steps.compactMap { step in
      guard step.kind == "retime", let found = step.foundValue,
        let removed = found["removed"]?.integer, removed > 0, let all = found["words"]?.integer
      else { return nil }
      return
        "words after \(step.id)  \(Count.grouped(all - removed)) of \(Count.grouped(all)): the sound "
        + "of the others was cut out"
    }
  }

  private var wordReports: [String] {
    WordQuality.all(of: run).flatMap { [""] + $0.section.map { Format.visible($0) } }
  }

  /// Levels as measuring stages report them; nil if not measured.
  struct Levels: Codable {
    var integratedLoudness: Double?
    var loudnessRange: Double?
    var truePeak: Double?
    var samplePeak: Double?
    var rms: Double?
    var clippedSamples: Int?
  }

  /// The report of a normalizing stage.
  private struct Change: Decodable {
    var before: Levels
    var after: Levels
  }

  /// The report of a stage that measures decoded exports.
  private struct Exports: Decodable {
    struct File: Decodable {
      var codec: String
      var levels: Levels
    }

    var files: [File]
  }

  /// The levels of the run's measuring stages by their names, in order; without any, those of a
  /// normalizing stage as `before` and `after`.
  var columns: [(title: String, levels: Levels)] {
    let measured = measuredColumns
    guard measured.isEmpty, let (_, change) = normalization else { return measured }
    return [("before", change.before), ("after", change.after)]
  }

  /// The first normalizing stage, with its report; nil if there is none.
  private var normalization: (step: StepID, change: Change)? {
    run.steps.lazy.compactMap { step in
      decode(Change.self, step.findings).map { (step.id, $0) }
    }.first
  }

  private var measuredColumns: [(title: String, levels: Levels)] {
    var columns: [(title: String, levels: Levels)] = []
    for step in run.steps {
      if step.kind == "measure-exports", let exports = decode(Exports.self, step.findings) {
        columns += exports.files.map { ($0.codec, $0.levels) }
      }
      guard step.kind == "measure", let levels = decode(Levels.self, step.findings) else {
        continue
      }
      columns.append((step.id.name, levels))
    }
    return columns
  }

  /// The levels of the recording, if they were measured, and of the first file as it decodes, else
  /// those of the sound that was written.
  var change: (before: Levels?, after: Levels?) {
    let changes = run.steps.compactMap { decode(Change.self, $0.findings) }
    let exports = run.steps.filter { $0.kind == "measure-exports" }
      .compactMap { decode(Exports.self, $0.findings)?.files.first?.levels }
    let measured = run.steps.filter { $0.kind == "measure" }
      .compactMap { step in decode(Levels.self, step.findings).map { (step.id.name, $0) } }
    let before = measured.first { $0.0 == "before" }?.1 ?? changes.first?.before
    return (before, exports.first ?? measured.last?.1 ?? changes.last?.after)
  }

  /// Where the levels were taken that are a normalizing stage's own: `before` is what comes into it,
  /// behind all stages above.
  private var levelsTitle: String {
    guard measuredColumns.isEmpty, let name = normalization?.step.name, name.count <= 10 else {
      return "levels"
    }
    return "at \(name)"
  }

  private var levels: [String] {
    let columns = columns
    guard !columns.isEmpty else { return [] }
    let rows: [(String, (Levels) -> String?)] = [
      ("loudness", { figure($0.integratedLoudness, "LUFS") }),
      ("range", { figure($0.loudnessRange, "LU") }),
      ("true peak", { figure($0.truePeak, "dBTP") }),
      ("sample peak", { figure($0.samplePeak, "dBFS") }),
      ("RMS", { figure($0.rms, "dBFS") }),
      ("clipped", { levels in levels.clippedSamples.map { "\($0) samples" } }),
    ]
    func figure(_ value: Double?, _ unit: String) -> String? {
      value.map { "\(Format.decimal($0, places: 1)) \(unit)" }
    }
    var lines = [
      "", Format.pad(levelsTitle, 14) + columns.map { Format.padLeft($0.title, 13) }.joined(),
    ]
    for (name, read) in rows {
      let cells = columns.map { read($0.levels) }
      guard cells.contains(where: { $0 != nil }) else { continue }
      lines.append(
        "  \(Format.pad(name, 12))" + cells.map { Format.padLeft($0 ?? "–", 13) }.joined())
    }
    return lines
  }

  /// The report of a stage that states what must hold.
  private struct Facts: Decodable {
    struct Fact: Decodable {
      var name: String
      var measured: String
      var allowed: String
      var holds: Bool
    }

    var facts: [Fact]
  }

  private var facts: [String] {
    run.steps.flatMap { step -> [String] in
      guard step.kind == "assert", let report = decode(Facts.self, step.findings) else { return [] }
      let width = max(12, (report.facts.map(\.name.count).max() ?? 0) + 2)
      let measured = (report.facts.map(\.measured.count).max() ?? 0) + 2
      let rows = report.facts.map { fact in
        "  \(Format.pad(fact.name, width))\(Format.pad(fact.measured, measured))"
          + (fact.holds ? "holds" : "out of bounds") + ": \(fact.allowed)"
      }
      return ["", step.id.name] + rows.map { Format.visible($0) }
    }
  }

  private func decode<T: Decodable>(_ type: T.Type, _ text: String?) -> T? {
    text.flatMap { try? T(jsonText: $0) }
  }

  private var files: [String] {
    guard !run.published.isEmpty else { return [] }
    let folder = folder
    var lines = ["", Format.visible("files in /\(folder.joined(separator: "/"))")]
    let width = (run.published.map { name(of: $0, in: folder).count }.max() ?? 0) + 2
    for file in run.published {
      lines.append(
        "  \(Format.pad(name(of: file, in: folder), width))"
          + Format.padLeft(ByteCount(file.byteCount).description, 9)
          + (file.wasThere ? "   unchanged" : ""))
    }
    return lines + pictures
  }

  /// Pictures to mention; of several formats of one picture, the one that every viewer opens.
  private var pictures: [String] {
    let names = run.published.map { name(of: $0, in: folder) }
    let shown = names.filter { name in
      name.hasSuffix(".png")
        || (name.hasSuffix(".svg") && !names.contains(name.dropLast(4) + ".png"))
    }
    return shown.isEmpty ? [] : ["", "look at  \(shown.joined(separator: "  "))"]
  }

  /// The common folder of all files.
  private var folder: [String] {
    let folders = run.published.map { Array($0.path.pathNames.dropLast()) }
    return folders.dropFirst().reduce(folders.first ?? []) { common, other in
      zip(common, other).prefix { $0 == $1 }.map(\.0)
    }
  }

  /// A file's path relative to that folder.
  private func name(of file: PublishedFile, in folder: [String]) -> String {
    Format.visible(file.path.pathNames.dropFirst(folder.count).joined(separator: "/"))
  }

  private var time: String {
    let seconds = run.seconds ?? 0
    let made = run.steps.filter { $0.outcome == .made }
    let pause = run.stoppedSeconds.map { ", \(Format.duration($0)) of them stopped" } ?? ""
    let took = "in \(Format.duration(seconds))\(pause)"
    let name = "run \(run.id)"
    switch run.state {
    case .running: return "under way   \(name)"
    case .failed, .refused, .interrupted, .cutOff, .paused, .dropped:
      let after = run.seconds.map { " after \(Format.duration($0))" } ?? ""
      return run.status + after + "   \(name)"
    case .done:
      let written = run.published.filter { !$0.wasThere }.count
      guard !made.isEmpty else {
        if run.steps.allSatisfy({ $0.outcome == .skipped }) {
          return "nothing was made: no stage was given what it needs, \(took)   \(name)"
        }
        let news =
          written == 0
          ? "everything was there already"
          : "nothing to compute, \(written) \(written == 1 ? "file" : "files") written again"
        return "\(news), \(took)   \(name)"
      }
      let reused = run.steps.count { $0.outcome == .reused && $0.workSeconds == nil }
      let speed =
        run.mediaSeconds.map {
          ", \(Format.speed(media: $0, wall: seconds - (run.stoppedSeconds ?? 0)))"
        } ?? ""
      return "done \(took)\(speed)"
        + (reused > 0 ? ", \(reused) \(reused == 1 ? "step" : "steps") reused" : "") + "   \(name)"
    }
  }
}

extension RunRecord.State {
  /// `running`, `done`, `failed`, `refused`, `interrupted`, `cut off`, `paused: disk full` or
  /// `dropped`.
  var words: String {
    switch self {
    case .running: "running"
    case .done: "done"
    case .failed: "failed"
    case .refused: "refused"
    case .interrupted: "interrupted"
    case .cutOff: "cut off"
    case .paused: "paused: disk full"
    case .dropped: "dropped"
    }
  }
}

extension RunRecord {
  var status: String { state.words }

  /// The command that continues it; nil if it is done or still running, or if resuming it fails
  /// again.
  var wayOn: String? { isResumable ? "spool resume \(id)" : nil }

  /// Seconds from start to end, including those in which the process was stopped; nil before the
  /// end. At least the working time, even if the system clock was set back.
  var seconds: Double? {
    guard let finishedAt else { return activeSeconds }
    return max(finishedAt - startedAt, activeSeconds ?? 0)
  }

  /// Seconds in which the process was stopped or the machine slept; nil if negligible.
  var stoppedSeconds: Double? {
    guard let seconds, let activeSeconds, seconds - activeSeconds >= 1 else { return nil }
    return seconds - activeSeconds
  }
}

extension [String: JSONValue] {
  /// A line where a step's findings say that nothing tells where its recording was to end.
  var untoldEnd: [String] {
    let steps = filter { $0.value["isEndUntold"] == .boolean(true) }.keys.sorted()
    guard !steps.isEmpty else { return [] }
    return [
      "nothing in the file tells where it was to end"
        + (count { $0.value["container"] != nil } > 1
          ? ", says \(steps.joined(separator: ", "))" : "")
    ]
  }
}

extension RecordingDamage {
  /// One line for each step that met damage, with its name if there are several.
  static func lines(_ damage: [String: RecordingDamage]) -> [String] {
    damage.sorted { $0.key < $1.key }.map { step, found in
      "the recording is \(found)" + (damage.count > 1 ? ", says \(step)" : "")
    }
  }
}

/// Prints only warnings.
struct SilentRecorder: RunRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: RunEvent) {
    if case .warning(let step, let text) = event {
      console.report("warning: \(step): \(Format.visible(text))")
    }
  }
}
