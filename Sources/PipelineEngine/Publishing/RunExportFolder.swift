package import PipelineModel
package import Platform
import Synchronization

/// A run's view of the user's folder. What folders are missing are created for the first file. The run's
/// own folder, if it has one, is unsealed before any file in it changes, so that a seal is never on an
/// incomplete folder.
struct RunExportFolder: ExportFolder {
  let base: any ExportFolder
  let pipeline: String
  let exports: Execution.EarlyExports
  /// The paths of the run's receipts and their companions.
  var receipts: Set<String> = []
  /// The path of the seal of the run's own folder; nil for the output folder.
  var seal: String?
  /// The output folder, which is made for the first file; nil if it was there before the run.
  var missingFolder: String?
  /// The run's sound inputs, by name: their paths and their bytes.
  var inputs: [String: RecordingIdentity] = [:]
  /// The paths that are written, none for forecasts; nil for all.
  var only: Set<String>?
  /// Takes the place of an export; where another run of the same batch has it, returns that one's
  /// recording.
  var takePlace: (@Sendable (_ path: String) -> String?)?
  /// The kind of the step whose files they are; nil while that is open.
  private var descriptor: StageDescriptor?
  /// The file that the step's exports are named after; nil where the user gave them names.
  private var namesake: String?

  init(
    base: any ExportFolder, pipeline: String, exports: Execution.EarlyExports, seal: String?
  ) {
    self.base = base
    self.pipeline = pipeline
    self.exports = exports
    self.seal = seal
  }

  /// The folder as one step sees it: its errors advise what the step can do.
  func of(_ step: BoundStep, namesake: String?) -> RunExportFolder {
    var folder = self
    folder.descriptor = step.descriptor
    folder.namesake = namesake
    return folder
  }

  func publish(
    _ content: Digest, at path: String, of source: ExportSource, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int {
    if only?.contains(path) == false { return 0 }
    // Files of no recording, such as a public key, are of all of them.
    if source.recording != nil, let refusal = refusal(toTake: path) { throw refusal }
    let source = completed(source, at: path)
    let refusal = try base.refusal(toReplace: path, with: source)
    // A refused export leaves the folder sealed.
    if let refusal, !isReplacing, seal != nil { throw refusal }
    // What a receipt of this run says that it replaced; nil without a file, and for the receipt itself.
    let replaced =
      receipts.isEmpty || receipts.contains(path) ? nil : try? base.digest(ofFile: path)
    if let missingFolder { try base.makeFolder(missingFolder) }
    if seal != nil {
      try base.makeFolder(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
    }
    var whole = source
    whole.companions = isReplacing || receipts.contains(path) ? [:] : companions(of: path)
    let wasFree = (try? FileStamp(at: path)) == nil
    var written: FileStamp?
    let byteCount = try base.publish(content, at: path, of: whole, isReplacing: isReplacing) {
      (temporary) throws(SpoolError) in
      try write(temporary)
      written = try? FileStamp(at: temporary)
      if let seal, path != seal {
        // Only where an unknown file is in the way are both read. The same bytes stay, and the seal.
        if !isReplacing, !wasFree, base.byteCount(ofPublished: path) == nil {
          guard !base.isForeign(path, to: try base.digest(ofFile: temporary)) else {
            throw SpoolError(isForeign: path)
          }
          return
        }
        try base.withdraw(seal, isReplacing: isReplacing)
      }
    }
    if wasFree, let written, (try? FileStamp(at: path))?.isSameFile(as: written) == true {
      exports.placed.withLock { _ = $0.insert(path) }
    }
    if !wasFree { exports.overwritten.withLock { _ = $0.insert(path) } }
    if let replaced { exports.replaced.withLock { $0[path] = $0[path] ?? replaced } }
    return byteCount
  }

  func refusal(
    toReplace path: String, with source: ExportSource
  ) throws(SpoolError) -> SpoolError? {
    try base.refusal(toReplace: path, with: completed(source, at: path))
  }

  /// Takes the place of an export among the runs of a batch; an error where another one has it.
  func refusal(toTake path: String) -> SpoolError? {
    takePlace?(path).map {
      SpoolError(
        path, isAlsoOf: $0, naming: descriptor?.naming(pipeline, insteadOf: path))
    }
  }

  /// A source as this run's; a file of no recording, such as a public key, is no pipeline's alone.
  private func completed(_ source: ExportSource, at path: String) -> ExportSource {
    let isOfRecording = source.recording != nil
    return ExportSource(
      source.recording, sounds: isOfRecording ? sounds : [],
      pipeline: isOfRecording ? pipeline : nil, receipts: receipts,
      naming: descriptor?.naming(pipeline, insteadOf: path), namesake: namesake)
  }

  /// The sources of the run's other exports, which must all be free for one to get its name.
  private func companions(of path: String) -> [String: ExportSource] {
    var companions: [String: ExportSource] = [:]
    for (other, recording) in exports.companions.withLock({ $0 }) where other != path {
      companions[other] = completed(ExportSource(recording), at: other)
    }
    return companions
  }

  /// The run's sound inputs, with what is known of their samples.
  var sounds: [RecordingIdentity] {
    let samples = exports.samples.withLock { $0 }
    return inputs.sorted { $0.key < $1.key }.map {
      RecordingIdentity(path: $0.value.path, digest: $0.value.digest, sound: samples[$0.key])
    }
  }

  private var isRehearsal: Bool { only?.isEmpty == true }

  func attribute(_ paths: [String], to sounds: [RecordingIdentity]) throws(SpoolError) {
    if !isRehearsal { try base.attribute(paths, to: sounds) }
  }

  func mayBeCopy(_ path: String) -> Bool { base.mayBeCopy(path) }

  func refusal(toReplaceRecording path: String) throws(SpoolError) -> SpoolError? {
    try base.refusal(toReplaceRecording: path)
  }

  func protect(_ paths: [String], by receipt: String) throws(SpoolError) {
    if !isRehearsal { try base.protect(paths, by: receipt) }
  }

  func makeFolder(_ path: String) throws(SpoolError) {
    if !isRehearsal { try base.makeFolder(path) }
  }

  func withdraw(_ path: String, isReplacing: Bool) throws(SpoolError) {
    guard only == nil else { return }
    if let seal, path != seal, FilePath.exists(path) {
      try base.withdraw(seal, isReplacing: isReplacing)
    }
    try base.withdraw(path, isReplacing: isReplacing)
  }

  func copyFile(from source: String, to destination: String) throws(SpoolError) {
    if !isRehearsal { try base.copyFile(from: source, to: destination) }
  }

  func digest(
    ofFile path: String, reading: (_ done: Int, _ of: Int) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Digest { try base.digest(ofFile: path, reading: reading) }

  func isPublished(_ content: Digest, at path: String) throws(SpoolError) -> Bool {
    try base.isPublished(content, at: path)
  }

  func recording(ofPublished path: String) throws(SpoolError) -> RecordingIdentity? {
    try base.recording(ofPublished: path)
  }

  func byteCount(ofPublished path: String) -> Int? { base.byteCount(ofPublished: path) }

  func recognize(_ path: String, holding digest: Digest) throws(SpoolError) -> Bool {
    try base.recognize(path, holding: digest)
  }

  func isSameFile(_ path: String, _ other: String) -> Bool { base.isSameFile(path, other) }

  func sharesDisk(with folder: String) -> Bool { base.sharesDisk(with: folder) }

  func freeByteCount(at folder: String) throws(SpoolError) -> Int {
    try base.freeByteCount(at: folder)
  }
}

extension ExportFolder {
  /// Whether a path holds anything but what was published there or the bytes of this digest: it
  /// must not be replaced. O(bytes) for an unknown file.
  package func isForeign(_ path: String, to digest: Digest) -> Bool {
    guard let stamp = try? FileStamp(at: path), byteCount(ofPublished: path) == nil else {
      return false
    }
    return !stamp.isRegularFile || (try? self.digest(ofFile: path)) != digest
  }

  /// Publishes a file to the user's folder, unless the same is already there.
  /// - Parameters:
  ///   - content: the identity of the content, independent of who writes it and when.
  ///   - digest: of the file's bytes, if known.
  ///   - write: writes the file at a path beside its final one, and returns its digest if known.
  package func deliver(
    _ content: Digest, digest: Digest?, to path: String, of recording: RecordingIdentity?,
    step: StepID, isReplacing: Bool, write: (String) throws(SpoolError) -> Digest?
  ) throws(SpoolError) -> PublishedFile {
    // What takes another's place is recorded anew, though its bytes may be the same.
    let refusal = isReplacing ? try refusal(toReplace: path, with: ExportSource(recording)) : nil
    if refusal == nil, try isPublished(content, at: path),
      let byteCount = byteCount(ofPublished: path)
    {
      return PublishedFile(
        path: path, byteCount: byteCount, step: step, wasThere: true, digest: digest)
    }
    var written = digest
    let byteCount = try publish(
      content, at: path, of: ExportSource(recording), isReplacing: isReplacing
    ) { (temporary) throws(SpoolError) in written = try write(temporary) ?? digest }
    return PublishedFile(
      path: path, byteCount: byteCount, step: step, wasThere: false, digest: written)
  }
}
