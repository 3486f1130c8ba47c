import AudioModel
import FoundationEssentials
import Glibc
import PipelineModel
import PluginHost

/// The folder on which a file stage's work lies: sound that was written out for it, and what it
/// writes.
struct PluginDesk {
  private let folder: String
  private let title: String

  init(claim step: StepID, title: String) throws(StageError) {
    self.title = title
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/spool-\(step)-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
      throw StageError(
        "cannot make a folder for the plugin \(title) in \(base)",
        reason: unsafe String(cString: strerror(errno)),
        advice: "make room in \(base), or set TMPDIR", cause: .environment)
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    unsafe mkdir(outputFolder, 0o700)
  }

  /// Where the plugin writes.
  var outputFolder: String { "\(folder)/out" }
  /// Where the plugin writes one output.
  func outputPath(_ port: String) -> String { "\(outputFolder)/\(port)" }

  /// Removes everything.
  func clear() { try? FileManager.default.removeItem(atPath: folder) }

  /// Where an input lies; nil where it was not given.
  func path(
    of port: PluginManifest.FilePort, in context: StageContext
  ) throws(StageError) -> String? {
    let name = PortName(port.name)
    if let path = context.files[name] { return path }
    guard let artifact = context.inputs[name]?.artifact else { return nil }
    if port.carries == .sound {
      let path = "\(folder)/\(port.name).wav"
      try WaveCopy(
        sound: try KeptSound(artifact, in: context.store),
        rate: port.sampleRate.map { Hertz($0) }, isMono: port.channels == 1
      ).write(to: path) { () throws(StageError) in try context.stop.check() }
      return path
    }
    do throws(StoreError) { return try context.store.path(of: artifact) } catch {
      throw StageError(error)
    }
  }

  /// Keeps an output; nil where it is not there.
  func keep(
    _ port: PluginManifest.FilePort, in store: any ArtifactStore
  ) throws(StageError) -> Artifact? {
    let path = outputPath(port.name)
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StageError("the plugin \(title) failed", reason: "its \(port.name) is no plain file")
    }
    let file = try FileReader(path)
    do throws(StoreError) {
      let draft = try store.makeDraft(port.carries)
      var remaining = Int(status.st_size)
      while remaining > 0 {
        let piece: [UInt8]
        do throws(StageError) { piece = try file.read(min(remaining, 1 << 20)) } catch {
          throw StoreError("read", path: path, reason: error.reason ?? error.message)
        }
        try unsafe draft.append(piece.span.bytes)
        remaining -= piece.count
      }
      return try draft.seal()
    } catch { throw StageError(error) }
  }
}
