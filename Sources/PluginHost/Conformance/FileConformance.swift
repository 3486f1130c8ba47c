import JSONText
import PipelineModel

/// The checks of a kind that reads and writes files.
struct FileConformance {
  private let trial: FileTrial
  private let isDeterministic: Bool

  init(_ plugin: Plugin, _ kind: PluginManifest.Kind, launcher: String, parameters: Value) {
    trial = FileTrial(plugin: plugin, kind: kind, launcher: launcher, parameters: parameters)
    isDeterministic = plugin.manifest.isDeterministic
  }

  /// The checks in the order in which they say most.
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
    for port in trial.kind.outputs where [.transcript, .measurement].contains(port.carries) {
      guard let bytes = answer.outputs[port.name] else { continue }
      guard case .object? = try? JSONReader.value(of: bytes, depthLimit: 64).value else {
        throw .wrong("its \(port.name) is no JSON object")
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

  /// What nobody expects may be refused, in the plugin's own words.
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
