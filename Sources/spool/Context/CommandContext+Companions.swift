import FoundationEssentials
import Intake
import PipelineModel
import Platform
import Store

/// Transcripts and sidecars beside recordings.
extension CommandContext {
  /// If a pipeline takes a transcript, uses the one beside the recording, unless the user named
  /// one, or none with `name=`.
  ///
  /// Ignores transcripts that a store published there: recognised words are not a source text.
  /// - Throws: where the sidecar names a transcript that is not there, and no other one lies beside it.
  func withTranscript(
    _ bound: [String: String], in pipeline: Pipeline, declined: Set<String>
  ) throws(SpoolError) -> [String: String] {
    let inputs = pipeline.definition.inputs
    let texts = inputs.filter { $0.kind == .transcript && !$0.isList }
    let sounds = inputs.filter { $0.kind == .sound }
    guard texts.count == 1, let text = texts.first, bound[text.name] == nil,
      !declined.contains(text.name), sounds.count == 1, let sound = sounds.first, !sound.isList,
      let recording = bound[sound.name], let path = try transcript(beside: recording)
    else { return bound }
    return bound.merging([text.name: path]) { given, _ in given }
  }

  /// What the sidecars beside recordings tell of exports, by input; nil if none does. Warns of
  /// chapters that cannot be used, and of variables that only a batch or a watch takes from a sidecar;
  /// a JSON file without any is nothing to a single run.
  ///
  /// - Parameter overridden: the variables that the user sets.
  /// - Throws: for a sidecar that is no JSON: the chapters of earlier exports would go with a slip.
  func sidecars(
    of bound: [String: String], in pipeline: Pipeline, overridden: Set<String> = []
  ) throws(SpoolError) -> (chapters: [String: [RunRequest.Chapter]]?, titles: [String: String]?) {
    let sounds = pipeline.definition.inputs.filter { $0.kind == .sound }
    var chapters: [String: [RunRequest.Chapter]] = [:]
    var titles: [String: String] = [:]
    for name in sounds.flatMap({ $0.names(in: Set(bound.keys)) }).sorted() {
      guard let path = bound[name], let place = Neighbours(of: path), let file = place.sidecar,
        let bytes = place.read(file)
      else { continue }
      let sidecar = Sidecar(json: bytes)
      if let problem = sidecar.syntaxProblem {
        throw SpoolError(
          "cannot use the sidecar \(place.path(file))", reason: "it is no JSON: \(problem)",
          advice: "mend the sidecar, or take it away")
      }
      for problem in sidecar.exportProblems {
        console.report(Format.visible("warning: in \(place.path(file)), \(problem)"))
      }
      chapters[name] = sidecar.chapters
      titles[name] = sidecar.title
      warn(
        of: sidecar.settings.filter { !overridden.contains($0.key) }, at: place.path(file),
        variables: pipeline.definition.variables)
    }
    return (chapters.isEmpty ? nil : chapters, titles.isEmpty ? nil : titles)
  }

  /// Warns of the variables that a sidecar sets in a batch or an inbox, where each run is of one
  /// recording.
  private func warn(
    of settings: [String: String], at path: String, variables: [VariableDefinition]
  ) {
    let allowed = variables.filter(\.isOverridable).map(\.name)
    let ignored = allowed.compactMap { name in settings[name].map { (name, $0) } }
    if !ignored.isEmpty {
      let words = ignored.map { "--set \(ShellWords.line(["\($0)=\($1)"]))" }
      console.report(
        Format.visible(
          "warning: \(path) sets \(ignored.map(\.0).joined(separator: ", ")) for batches and inboxes; "
            + "for this run, add \(words.joined(separator: " "))"))
    }
    let others = Set(settings.keys).subtracting(allowed).sorted()
    if !others.isEmpty {
      let choice = allowed.isEmpty ? "nothing" : "only " + allowed.joined(separator: ", ")
      console.report(
        Format.visible(
          "warning: \(path) sets \(others.joined(separator: ", ")), and the pipeline lets a "
            + "recording set \(choice)"))
    }
  }

  private func transcript(beside recording: String) throws(SpoolError) -> String? {
    guard let place = Neighbours(of: recording) else { return nil }
    var refusal: SpoolError?
    if let sidecar = place.sidecar, let bytes = place.read(sidecar) {
      switch Sidecar(json: bytes).transcript(exists: place.exists) {
      case .file(let name): return place.path(name)
      case .itself: return place.path(sidecar)
      case .missing(let name): refusal = Sidecar.refusal(naming: name, at: place.path(sidecar))
      case nil: break
      }
    }
    let readable = place.transcripts.isEmpty ? nil : try? readableStore()
    let found = place.transcripts.map(place.path).first {
      readable?.store.byteCount(ofPublished: $0) == nil
    }
    guard let refusal else { return found }
    guard let found else { throw refusal }
    console.report(Format.visible("warning: \(refusal.message): \(found) is used"))
    return found
  }
}

/// The files beside a recording.
private struct Neighbours {
  private let folder: String
  private let companions: Companions

  /// Nil if the path names no file.
  init?(of recording: String) {
    let url = URL(filePath: recording)
    guard let name = FileName(url.lastPathComponent) else { return nil }
    let folder = url.deletingLastPathComponent().path
    self.folder = folder
    companions = Companions(of: name, exists: { Self.exists(Self.path($0, folder)) }) {
      name, byteCount in
      Self.read(Self.path(name, folder), byteCount)
    }
  }

  var sidecar: FileName? { companions.sidecar }
  var transcripts: [FileName] { companions.transcripts }

  func path(_ name: FileName) -> String { Self.path(name, folder) }
  func exists(_ name: FileName) -> Bool { Self.exists(path(name)) }
  /// A sidecar's bytes; one more than is allowed, so that too long a file shows.
  func read(_ name: FileName) -> [UInt8]? { Self.read(path(name), Sidecar.byteLimit + 1) }

  private static func path(_ name: FileName, _ folder: String) -> String {
    folder + "/" + name.description
  }

  private static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  private static func read(_ path: String, _ byteCount: Int) -> [UInt8]? {
    try? FileOperations.system.beginning(of: path, byteCount: byteCount)
  }
}
