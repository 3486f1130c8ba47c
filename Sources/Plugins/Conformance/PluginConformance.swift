import FoundationEssentials
import Glibc
import PipelineModel
package import Platform
import Transcripts

/// Tests a plugin against the protocol. Every check starts a new process, confined as in a run.
package struct PluginConformance {
  private let plugin: Plugin
  private let launcher: String
  private let parameters: [String: Value]
  private let only: [String]
  private let chosen: [String: String]

  /// - Parameters:
  ///   - set: parameter values in pipeline syntax, by name; the others keep their defaults.
  ///   - only: names of the checks to run; empty for all.
  ///   - launcher: the program that confines plugins (Spool's own).
  /// - Throws: If the manifest rejects the parameters.
  package init(
    _ plugin: Plugin, set: [String: String] = [:], only: [String] = [],
    launcher: String = "/proc/self/exe"
  ) throws(SpoolError) {
    self.plugin = plugin
    self.launcher = launcher
    self.only = only
    chosen = set
    var parameters: [String: Value] = [:]
    for kind in plugin.manifest.kinds {
      parameters[kind.kind] = try ParameterTrial.defaults(
        of: kind,
        set: set.filter { name, _ in
          plugin.manifest.kinds.count == 1 || kind.parameters.contains { $0.name == name }
        })
    }
    self.parameters = parameters
  }

  /// Runs the checks in order. After one that hangs, the kind's other checks are skipped.
  /// - Parameter report: receives each result as soon as its check ends.
  @discardableResult
  package func run(report: (ConformanceResult) -> Void = { _ in }) -> [ConformanceResult] {
    var results: [ConformanceResult] = []
    for kind in plugin.manifest.kinds {
      var hurdle = lack(of: kind)
      for check in checks(of: kind) where only.isEmpty || only.contains(check.name) {
        let result =
          hurdle.map { hurdle in
            ConformanceResult(
              kind: kind.kind, check: check.name, outcome: .skipped, detail: "not tried: \(hurdle)")
          }
          ?? Self.result(of: check, kind.kind) { failure in
            if failure.isHang { hurdle = "it kept Spool waiting" }
            if results.last?.kind != kind.kind { hurdle = "it does not even start and end" }
          }
          .adding(results.last?.kind != kind.kind ? hint(for: kind) : nil)
        results.append(result)
        report(result)
      }
    }
    return results
  }

  /// The programs that a kind calls and that were not named; nil if none.
  private func lack(of kind: PluginManifest.Kind) -> String? {
    let names = ParameterTrial.madeUp(in: kind, set: chosen).filter(kind.commands.contains)
    guard !names.isEmpty else { return nil }
    return "it calls a program of your choice; "
      + names.map { "\(option: .set) \($0)='PROGRAM …'" }.joined(separator: " ") + " names it"
  }

  /// The option that sets a required parameter whose value cannot be guessed.
  private func hint(for kind: PluginManifest.Kind) -> String? {
    let names = ParameterTrial.madeUp(in: kind, set: chosen)
    guard !names.isEmpty else { return nil }
    return "it was given something made up for \(names.joined(separator: ", ")): "
      + names.map { "\(option: .set) \($0)=…" }.joined(separator: " ") + " gives it what "
      + "makes sense"
  }

  /// The distinct names of the checks of all kinds.
  package var checkNames: [String] {
    plugin.manifest.kinds.flatMap { checks(of: $0).map(\.name) }.reduce(into: []) { names, name in
      if !names.contains(name) { names.append(name) }
    }
  }

  private func checks(of kind: PluginManifest.Kind) -> [SoundConformance.Check] {
    let values = parameters[kind.kind] ?? .group([:])
    return switch kind.work {
    case .sound:
      SoundConformance(plugin, kind, launcher: launcher, parameters: values).checks
    case .file: FileConformance(plugin, kind, launcher: launcher, parameters: values).checks
    }
  }

  private static func result(
    of check: SoundConformance.Check, _ kind: String, failed: (ConformanceFailure) -> Void
  ) -> ConformanceResult {
    do throws(ConformanceFailure) {
      return ConformanceResult(
        kind: kind, check: check.name, outcome: .passed, detail: try check.body())
    } catch {
      if case .notApplicable(let why) = error {
        return ConformanceResult(kind: kind, check: check.name, outcome: .skipped, detail: why)
      }
      failed(error)
      return ConformanceResult(
        kind: kind, check: check.name, outcome: .failed, detail: error.words)
    }
  }
}

/// The checks of a file stage.
struct FileConformance {
  private let trial: FileTrial
  private let isDeterministic: Bool

  init(_ plugin: Plugin, _ kind: PluginManifest.Kind, launcher: String, parameters: Value) {
    trial = FileTrial(plugin: plugin, kind: kind, launcher: launcher, parameters: parameters)
    isDeterministic = plugin.manifest.isDeterministic
  }

  /// The checks, most informative first.
  var checks: [SoundConformance.Check] {
    [
      ("start and end", start), ("outputs", outputs), ("optional inputs", optionalInputs),
      ("empty input", { () throws(ConformanceFailure) in try unusual(.empty) }),
      ("odd input", { () throws(ConformanceFailure) in try unusual(.odd) }),
      ("progress", progress), ("two equal runs", equalRuns), ("notes", notes),
      ("kill and resume", killAndResume), ("parameters", parameters),
    ]
  }

  private func start() throws(ConformanceFailure) -> String {
    let begin = ContinuousClock.now
    _ = try trial.answer()
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    return "done after \(Int((seconds * 1000).rounded())) ms; ends when it is told to"
  }

  private func outputs() throws(ConformanceFailure) -> String {
    let answer = try trial.answer()
    for port in trial.kind.outputs {
      guard let bytes = answer.outputs[port.name] else { continue }
      switch port.carries {
      case .transcript:
        do throws(SpoolError) { _ = try Transcript(ofStage: bytes) } catch {
          throw .wrong("its \(port.name) is no transcript: \(error.why)")
        }
      case .measurement:
        guard case .object? = try? JSONReader.value(of: bytes, depthLimit: 64).value else {
          throw .wrong("its \(port.name) is no JSON object")
        }
      default: break
      }
    }
    return answer.outputs.sorted { $0.key < $1.key }
      .map { "\($0.key) of \($0.value.count) bytes" }.joined(separator: ", ")
  }

  private func optionalInputs() throws(ConformanceFailure) -> String {
    let names = trial.kind.inputs.filter(\.optional).map(\.name)
    guard !names.isEmpty else { throw .notApplicable("it has none") }
    _ = try trial.answer(withOptional: false)
    return "goes without \(names.joined(separator: ", "))"
  }

  /// The plugin may refuse unusual input with an `error` message.
  private func unusual(_ form: FileSample.Form) throws(ConformanceFailure) -> String {
    do throws(ConformanceFailure) { _ = try trial.answer(to: form) } catch {
      guard error.isOwnWords else { throw error }
      return "refused in its own words: \(error.words)"
    }
    return "done"
  }

  private func progress() throws(ConformanceFailure) -> String {
    let told = try trial.answer().progress
    guard !told.isEmpty else { throw .notApplicable("it tells none") }
    if let wrong = told.first(where: { !(0...1).contains($0) }) {
      throw .wrong("it says that it is at \(wrong); 0 to 1 is allowed")
    }
    if let (before, after) = zip(told, told.dropFirst()).first(where: { $0 > $1 }) {
      throw .wrong("it goes back from \(before) to \(after)")
    }
    return "told \(told.count == 1 ? "once" : "\(told.count) times"), from 0 to 1"
  }

  private func equalRuns() throws(ConformanceFailure) -> String {
    guard isDeterministic else { throw .notApplicable("its manifest says deterministic: false") }
    try same(try trial.answer(), try trial.answer(), "a second time")
    return "the same bytes twice"
  }

  private func notes() throws(ConformanceFailure) -> String {
    let whole = try trial.answer()
    guard !whole.notes.isEmpty else { throw .notApplicable("it notes nothing") }
    let cut = try trial.answer(isKilledAtNote: true)
    let rest = try trial.answer(note: cut.notes.first)
    if isDeterministic { try same(whole, rest, "gone on with after its first note") }
    return "goes on behind its first of \(whole.notes.count)"
  }

  private func killAndResume() throws(ConformanceFailure) -> String {
    let whole = try trial.answer()
    try trial.killSoon()
    let again = try trial.answer()
    if isDeterministic { try same(whole, again, "after it was killed") }
    return "works again after it was killed"
  }

  private func parameters() throws(ConformanceFailure) -> String {
    try ParameterTrial(trial.kind, parameters: trial.parameters).run {
      (values) throws(ConformanceFailure) in
      var trial = trial
      trial.parameters = values
      _ = try trial.answer()
    }
  }

  private func same(
    _ one: FileTrial.Answer, _ other: FileTrial.Answer, _ when: String
  ) throws(ConformanceFailure) {
    for port in Set(one.outputs.keys).union(other.outputs.keys).sorted() {
      let (first, second) = (one.outputs[port], other.outputs[port])
      guard first != second else { continue }
      guard let first, let second else {
        throw .wrong("\(when), \(port) is there once and once not")
      }
      let place = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      throw .wrong(
        "\(when), \(port) is another from byte \(place ?? min(first.count, second.count)) on")
    }
  }
}

/// Runs one file stage as a pipeline does, each time in a new process.
struct FileTrial {
  let plugin: Plugin
  let kind: PluginManifest.Kind
  let launcher: String
  /// The parameters, by default those of a pipeline that sets nothing.
  var parameters: Value

  struct Answer {
    /// The bytes of each output that was written.
    var outputs: [String: [UInt8]] = [:]
    /// The reported progress values.
    var progress: [Double] = []
    /// The notes that it recorded.
    var notes: [String] = []
  }

  func answer(
    to form: FileSample.Form = .ordinary, withOptional: Bool = true, note: String? = nil,
    isKilledAtNote: Bool = false
  ) throws(ConformanceFailure) -> Answer {
    let scratch = try TrialFolder()
    defer { scratch.clear() }
    let inputs = try scratch.lay(
      kind.inputs.filter { withOptional || !$0.optional }.map { FileSample(port: $0, form: form) })
    var answer = Answer()
    let session = try open(
      inputs, scratch, note: note
    ) { (message) throws(SpoolError) in
      switch message.type {
      case "progress": answer.progress.append(message.number("done") ?? .nan)
      case "note":
        answer.notes.append(message.members["text"]?.text ?? "")
        if isKilledAtNote { throw SpoolError("killed by the test", cause: .cancelled) }
      default: break
      }
    }
    do throws(ConformanceFailure) { try session.awaitEnd() } catch {
      if case .stage(let error) = error, error.cause == .cancelled { return answer }
      throw error
    }
    answer.outputs = try scratch.collect(kind.outputs)
    return answer
  }

  /// Starts the process and kills it soon after it is ready.
  func killSoon() throws(ConformanceFailure) {
    let scratch = try TrialFolder()
    defer { scratch.clear() }
    let inputs = try scratch.lay(kind.inputs.map { FileSample(port: $0, form: .ordinary) })
    let session = try open(inputs, scratch, note: nil) { _ in }
    usleep(3000)
    withExtendedLifetime(session) {}
  }

  private func open(
    _ inputs: [String: String], _ scratch: TrialFolder, note: String?,
    _ hear: @escaping (PluginMessage) throws(SpoolError) -> Void
  ) throws(ConformanceFailure) -> PluginSession {
    var outputs: [String: JSONValue] = [:]
    for port in kind.outputs { outputs[port.name] = .text(scratch.output(port.name)) }
    do throws(SpoolError) {
      return try PluginSession(
        plugin, kind: kind.kind, parameters: kind.message(parameters),
        work: [
          "inputs": .object(inputs.mapValues { .text($0) }), "outputs": .object(outputs),
          "note": note.map { .text($0) } ?? .null,
        ],
        setting: PluginSession.Setting(
          launcher: launcher, reads: inputs.values + kind.reads(parameters),
          writes: [scratch.outputFolder],
          hear: hear))
    } catch { throw .stage(error) }
  }

  /// The folder of one trial: inputs, and a folder for outputs.
  private struct TrialFolder {
    private let folder: PrivateFolder
    let outputFolder: String

    init() throws(ConformanceFailure) {
      do throws(SpoolError) {
        folder = try PrivateFolder("trial", for: "a trial")
        outputFolder = try folder.makeFolder("out")
      } catch { throw .stage(error) }
    }

    func clear() { folder.remove() }

    func output(_ port: String) -> String { "\(outputFolder)/\(port)" }

    func lay(_ samples: [FileSample]) throws(ConformanceFailure) -> [String: String] {
      var paths: [String: String] = [:]
      for sample in samples {
        let path = folder.file("\(sample.port.name).\(sample.ending)")
        guard
          FileManager.default.createFile(atPath: path, contents: Data(sample.bytes))
        else { throw .wrong("\(path) could not be written") }
        paths[sample.port.name] = path
      }
      return paths
    }

    func collect(
      _ ports: [PluginManifest.FilePort]
    ) throws(ConformanceFailure) -> [String: [UInt8]] {
      var outputs: [String: [UInt8]] = [:]
      for port in ports {
        guard let stamp = try? FileStamp(at: output(port.name)) else {
          guard port.optional else { throw .wrong("it is done and has not written \(port.name)") }
          continue
        }
        guard stamp.isRegularFile,
          let bytes = FileManager.default.contents(atPath: output(port.name))
        else { throw .wrong("its \(port.name) is no plain file") }
        outputs[port.name] = Array(bytes)
      }
      return outputs
    }
  }
}

/// The result of one check of a plugin.
package struct ConformanceResult: Hashable, Sendable {
  package enum Outcome: String, Hashable, Sendable {
    case passed
    case failed
    /// The check does not apply, or an earlier failure made it impossible.
    case skipped
  }

  package let kind: String
  /// The check's name: `block sizes`.
  package let check: String
  package let outcome: Outcome
  /// What was tried, or what went wrong.
  package let detail: String

  /// Adds a hint to a failed result.
  func adding(_ hint: String?) -> ConformanceResult {
    guard let hint, outcome == .failed else { return self }
    return ConformanceResult(
      kind: kind, check: check, outcome: outcome, detail: "\(detail); \(hint)")
  }
}
