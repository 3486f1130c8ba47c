import AudioModel
import FoundationEssentials
import Glibc
import PipelineModel
import PluginHost

/// The folder on which a file stage's work lies: sound that was written out for it, and what it
/// writes.
struct PluginDesk {
  /// Where the program writes.
  let outputFolder: String
  private let folder: PrivateFolder
  private let title: String

  /// - Parameter title: who works at it, for people: `the plugin summary 1.0.0`.
  init(claim step: StepID, title: String) throws(StageError) {
    self.title = title
    folder = try PrivateFolder("\(step)", for: title)
    outputFolder = try folder.makeFolder("out")
  }

  /// Where the program writes one output: with the ending by which many tell what to write.
  func outputPath(of port: PluginManifest.FilePort) -> String {
    "\(outputFolder)/\(port.name)\(Self.ending(of: port))"
  }

  private static func ending(of port: PluginManifest.FilePort) -> String {
    switch port.carries {
    case .sound: ".wav"
    case .transcript, .measurement: ".json"
    default:
      port.fileName.flatMap { name in
        name.lastIndex(of: ".").map { String(name[$0...]) }.flatMap { $0.contains("}") ? nil : $0 }
      } ?? ""
    }
  }

  /// Removes everything.
  func clear() { folder.remove() }

  /// Where an input lies; nil where it was not given.
  func path(
    of port: PluginManifest.FilePort, in context: StageContext
  ) throws(StageError) -> String? {
    let name = PortName(port.name)
    if let path = context.files[name] { return path }
    guard let artifact = context.inputs[name]?.artifact else { return nil }
    if port.carries == .sound {
      let path = folder.file("\(port.name).wav")
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
    _ port: PluginManifest.FilePort, in context: StageContext
  ) throws(StageError) -> Artifact? {
    let path = outputPath(of: port)
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StageError(
        "\(title) failed", reason: "its \(port.name) is no plain file",
        advice: "let it write the file itself, not a folder or a link", cause: .environment)
    }
    if port.carries == .sound {
      return try FileSound(path: path, maker: title).keep(in: context)
    }
    try OutputForm(port: port, maker: title).check(path, byteCount: Int(status.st_size))
    let file = try FileReader(path)
    do throws(StoreError) {
      let draft = try context.store.makeDraft(port.carries)
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
