import FoundationEssentials
import PipelineModel
import Sidecars
import Store

/// What is said in a recording, where a file beside it tells.
extension Workbench {
  /// Gives a pipeline that takes a transcript the one that lies beside its recording, unless the user
  /// named one, or none with `name=`.
  ///
  /// What a store published there is none: words that were recognised are not what was said.
  func withTranscript(
    _ bound: [String: String], in pipeline: Pipeline, declined: Set<String>, store: String?
  ) -> [String: String] {
    let inputs = pipeline.definition.inputs
    let texts = inputs.filter { $0.kind == .transcript && !$0.isList }
    let sounds = inputs.filter { $0.kind == .sound }
    guard texts.count == 1, let text = texts.first, bound[text.name] == nil,
      !declined.contains(text.name), sounds.count == 1, let sound = sounds.first, !sound.isList,
      let recording = bound[sound.name], let path = transcript(beside: recording, store: store)
    else { return bound }
    return bound.merging([text.name: path]) { given, _ in given }
  }

  private func transcript(beside recording: String, store: String?) -> String? {
    let url = URL(filePath: recording)
    guard let name = FileName(url.lastPathComponent) else { return nil }
    let folder = url.deletingLastPathComponent().path
    func path(_ name: FileName) -> String { folder + "/" + name.description }
    func exists(_ name: FileName) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
    func read(_ name: FileName) -> [UInt8]? {
      (try? Data(contentsOf: URL(filePath: path(name)))).map(Array.init)
    }
    let companions = Companions(of: name, exists: exists) { name, byteCount in
      read(name).map { Array($0.prefix(byteCount)) }
    }
    if let sidecar = companions.sidecar, let bytes = read(sidecar) {
      switch Sidecar(json: bytes).transcript(exists: exists) {
      case .file(let name): return path(name)
      case .itself: return path(sidecar)
      case nil: break
      }
    }
    guard !companions.transcripts.isEmpty else { return nil }
    let readable = try? readableStore(at: store)
    return companions.transcripts.map(path).first {
      readable?.store.byteCount(ofPublished: $0) == nil
    }
  }
}
