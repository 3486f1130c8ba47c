import Delivery
import Intake
import PipelineEngine
import PipelineModel
import Platform
import Proof
import Store

/// Brings everything back that a destination has: originals into the store, other files into a folder.
/// The documents of recordings say what there is; see ``DeliveredRecording``.
struct DestinationRestoration: ~Copyable {
  let context: CommandContext
  let destination: Destination
  private let store: DiskStore
  let folder: String
  let meter: ReadingMeter
  var reader: DestinationReader
  /// The files that no document has named yet, with their sizes where these are known.
  var unnamed: [RemotePath: Int?] = [:]
  /// The folders with what Spool delivered.
  var folders: Set<[String]> = []
  /// The receipts that documents name, by the SHA-256 of their bytes.
  private(set) var receipts: [String: Receipt] = [:]
  private var restored: Set<RecordingKey> = []
  /// The files that arrived with a recording, as its documents have them, the newest one first; by the
  /// SHA-256 of the recording.
  var companions: [String: [[DeliveredRecording.File]]] = [:]
  private var toldPaths: Set<RemotePath> = []
  private var (doneBytes, totalBytes) = (0, 0)
  private var (recordingCount, fileCount, receiptCount) = (0, 0, 0)
  var unnamedCount = 0
  private(set) var problemCount = 0

  /// Bytes of a document.
  static let documentLimit = 4 << 20
  /// Bytes of a file that the destination does not tell the size of.
  static let fileLimit = 1 << 42

  /// A file of a recording, as it is at the destination.
  typealias Kept = (file: DeliveredRecording.File, kind: DeliveryRequest.Content)

  /// A receipt, and what it is of.
  struct Receipt {
    /// Where it lies in the folder.
    let path: String
    /// Nil if it is not in the store.
    let recording: RestoredRecording?
    let document: DeliveredRecording
    /// Of the recording.
    let digest: Digest?
  }

  init(
    _ context: CommandContext, _ destination: Destination, into store: DiskStore,
    _ folder: String, _ stop: StopRequest
  ) {
    (self.context, self.destination, self.store) = (context, destination, store)
    self.folder = folder
    meter = context.readingMeter()
    reader = DestinationReader(destination, Environment.variables, scratch: folder) {
      !stop.isRequested
    }
  }

  func end() { meter.clear() }

  /// Brings everything back. Blocks.
  /// - Throws: if the destination or the disk cannot be used. What is wrong with single files is reported.
  mutating func run() throws(SpoolError) {
    var documents: [RemotePath] = []
    var (unnamed, folders, total) = (unnamed, folders, totalBytes)
    var unusable: [(name: String, reason: String)] = []
    let isEncrypted = destination.encryption != nil
    try reader.list { file in
      switch file {
      case .unusable(let name, let reason): unusable.append((name, reason))
      case .file(let path, let byteCount):
        total += byteCount ?? 0
        if DeliveredRecording.isDocument(path.names.last ?? "", isEncrypted: isEncrypted) {
          documents.append(path)
          folders.insert(path.names.dropLast())
        } else {
          unnamed[path] = .some(byteCount)
          if let place = path.names.lastIndex(of: DeliveredRecording.originals),
            place < path.names.count - 1
          {
            folders.insert(Array(path.names[..<place]))
          }
        }
      }
    }
    (self.unnamed, self.folders, totalBytes) = (unnamed, folders, total)
    for (name, reason) in unusable { warn(name, reason) }
    for path in try inOrder(documents) { try restore(documentAt: path) }
    try restoreUnnamed()
    finish(documents.count)
  }

  // MARK: Documents

  /// Brings a document into the folder.
  /// - Returns: where it lies there: with a number where another one is, as that of another destination.
  private mutating func fetch(
    _ document: DeliveredRecording, _ bytes: [UInt8], at path: RemotePath
  ) throws(SpoolError) -> RemotePath {
    let usual = destination.encryption == nil ? path : try document.clearPlace ?? path
    var number = 1
    while true {
      let place = try RemotePath(QueuedDelivery.numbered(usual.description, number))
      do throws(SpoolError) {
        _ = try reader.fetch(
          DestinationReader.Expectation(
            path, byteCount: bytes.count, digest: SHA256.digest(of: bytes), at: place),
          into: folder)
        return place
      } catch {
        guard error.kind == .occupied, number < 1000 else { throw error }
        number += 1
      }
    }
  }

  private mutating func restore(documentAt path: RemotePath) throws(SpoolError) {
    let document: DeliveredRecording
    let bytes: [UInt8]
    let place: RemotePath
    do throws(SpoolError) {
      (document, bytes) = try read(documentAt: path)
      place = try fetch(document, bytes, at: path)
    } catch {
      return try report(path.description, error)
    }
    let sounds = document.originals.filter(\.isSound)
    var kept: [Kept] = []
    var restored: RestoredRecording?
    var others: [RestoredRecording] = []
    for file in sounds {
      guard let back = try restoreToStore(file, as: .sound) else { continue }
      kept.append((file, .original))
      let recording = RestoredRecording(back, describedBy: bytes)
      // What arrived with several belongs to the first.
      if restored == nil, file == sounds.first {
        restored = recording
      } else {
        others.append(recording)
      }
    }
    // Without their recording, the store would not keep them.
    let arrived =
      sounds.first.map { companions(of: $0) }
      ?? document.originals.filter { !$0.isSound }
    for file in restored == nil ? [] : arrived {
      guard let back = try restoreToStore(file, as: .file) else { continue }
      kept.append((file, .original))
      let beginning = try doing("read", file.name) { () throws(SystemError) in
        try FileOperations.system.beginning(
          of: (try? store.path(of: back.artifact)) ?? "", byteCount: Sidecar.byteLimit + 1)
      }
      let companion = RestoredRecording.Companion(back.name, beginning: beginning)
      restored?.add(back, companion, bytes: beginning)
    }
    // What an earlier document says beside that is kept as it is.
    for file in document.originals where !file.isSound && restored != nil && !arrived.contains(file)
    {
      if try restoreToStore(file, as: .file) != nil { kept.append((file, .original)) }
    }
    let lists: [([DeliveredRecording.File], DeliveryRequest.Content)] = [
      (restored == nil ? arrived : [], .original), (document.exports, .exports),
      (document.transcripts, .transcript), (document.receipts, .receipt),
    ]
    for (files, kind) in lists {
      for file in files where try restoreToFolder(file) { kept.append((file, kind)) }
    }
    let digest = sounds.first.flatMap { Digest(hex: $0.sha256) }
    for file in document.receipts {
      receipts[file.sha256] = Receipt(
        path: file.clearPath ?? file.path, recording: restored, document: document, digest: digest)
    }
    kept += try restoreConfirmations(beside: path)
    let name = path.names.last ?? ""
    var own = DeliveredRecording.File(
      path: path.description, name: name, contentType: "application/json",
      byteCount: bytes.count, sha256: SHA256.digest(of: bytes).hex)
    if place != path { own.clearPath = place.description }
    kept.append((own, .metadata))
    receiptCount += document.receipts.count { $0.name.hasSuffix(".receipt.json") }
    try record(restored, document, kept, of: digest)
    for other in others {
      let arrival = other.arrival(pipeline: document.pipeline, inbox: folder)
      let own = kept.filter { $0.file.sha256 == arrival.recording.digest.hex }
      try record(other, document, own, of: digest)
    }
  }

  /// Brings a file into the store; nil if it cannot be had.
  private mutating func restoreToStore(
    _ file: DeliveredRecording.File, as kind: ArtifactKind
  ) throws(SpoolError) -> RestoredRecording.File? {
    do throws(SpoolError) {
      let expected = try take(file)
      let artifact = Artifact(
        kind: kind, digest: expected.digest, byteCount: expected.byteCount)
      if (try? store.path(of: artifact)) == nil {
        var draft: ArtifactDraft? = nil
        try unsafe reader.read(expected) { () throws(SpoolError) in
          draft = try store.makeDraft(kind)
        } to: { (bytes) throws(SpoolError) in
          try unsafe draft?.append(bytes)
        }
        guard let draft = draft.take(), try draft.seal() == artifact else {
          throw SpoolError(
            "take in", file.path, reason: "the store read other bytes than were written",
            advice: "check the disk", cause: .environment, kind: .broken)
        }
      }
      told(expected)
      let path = try store.path(of: artifact)
      let stamp = try doing("look at", path) { () throws(SystemError) in
        try FileStamp(following: path)
      }
      return RestoredRecording.File(
        name: file.name.pathNames.last ?? file.name, artifact: artifact, stamp: stamp)
    } catch {
      try report(file.path, error)
      return nil
    }
  }

  /// - Returns: whether the file is there now.
  private mutating func restoreToFolder(
    _ file: DeliveredRecording.File
  ) throws(SpoolError) -> Bool {
    do throws(SpoolError) {
      let expected = try take(file)
      _ = try reader.fetch(expected, into: folder)
      told(expected)
      return true
    } catch {
      try report(file.path, error)
      return false
    }
  }

  /// What a document says of a file, checked; from now on it is named.
  private mutating func take(
    _ file: DeliveredRecording.File
  ) throws(SpoolError) -> DestinationReader.Expectation {
    let path = try RemotePath(file.path)
    unnamed[path] = nil
    guard let digest = Digest(hex: file.sha256), file.byteCount >= 0 else {
      throw SpoolError(
        "restore", file.path, reason: "its document has no valid SHA-256 or length of it",
        cause: .input, kind: .broken)
    }
    return DestinationReader.Expectation(
      path, byteCount: file.byteCount, digest: digest,
      at: try file.clearPath.map { (text) throws(SpoolError) in try RemotePath(text) })
  }

  /// Records a recording with what the destination has of it.
  mutating func record(
    _ recording: RestoredRecording?, _ document: DeliveredRecording,
    _ kept: [Kept],
    of digest: Digest?
  ) throws(SpoolError) {
    guard let recording else { return }
    var facts = ["pipeline": document.pipeline]
    facts["noteId"] = document.noteId
    facts["title"] = document.title
    facts["createdAt"] = document.createdAt
    facts["durationMs"] = document.durationMs.map { "\($0)" }
    let orders = kept.compactMap { file, kind -> DeliveryQueue.Order? in
      guard let own = Digest(hex: file.sha256) else { return nil }
      return DeliveryQueue.Order(
        QueuedDelivery.File(
          name: file.name, kind, digest: own, byteCount: file.byteCount, recording: digest,
          path: kind == .original ? nil : "\(folder)/\(file.clearPath ?? file.path)",
          facts: facts.merging(
            file.clearPath.map { [QueuedDelivery.File.clearPath: $0] } ?? [:]
          ) { $1 }),
        to: destination.name, at: file.path, versionDepth: 0, encounter: .same, isRequired: false)
    }
    let uploadedAt = DateTime(iso8601: document.uploadedAt)?.seconds ?? SystemClock().now
    let receivedAt = document.receivedAt.flatMap { DateTime(iso8601: $0)?.seconds } ?? uploadedAt
    let back = try store.recordings.restore(
      recording.arrival(pipeline: document.pipeline, inbox: folder), receivedAt: receivedAt,
      uploadedAt: uploadedAt, because: "it came back from \(destination.name)", delivered: orders)
    // Another version, or a recording with the same bytes, is the same one.
    guard restored.insert(back.key).inserted else { return }
    recordingCount += 1
    if context.isJSON {
      context.console.print(
        json: JSONLine([
          "note": back.key.name, "file": back.fileName, "title": back.title,
          "digest": back.content.digest.hex, "files": orders.count,
        ]))
    } else if !context.isQuiet {
      meter.clear()
      context.console.print(
        Format.visible("\(back.key)  \(back.fileName), with \(Count.of(orders.count, "file"))"))
    }
  }

  // MARK: Reports

  mutating func told(_ file: DestinationReader.Expectation) {
    // Several documents may name it.
    guard toldPaths.insert(file.path).inserted else { return }
    fileCount += 1
    doneBytes += file.byteCount
    meter.show(doneBytes, of: max(doneBytes, totalBytes))
  }

  /// Tells what is wrong with a file.
  /// - Throws: what is wrong with all of them.
  mutating func report(_ path: String, _ error: SpoolError) throws(SpoolError) {
    if error.cause == .cancelled || error.remedy == .hold || error.isFullDisk { throw error }
    problemCount += 1
    let finding =
      switch error.kind {
      case .missing: "missing"
      case .broken: "damaged"
      default: "failed"
      }
    say(path, finding, finding == "failed" ? error.account : error.why)
  }

  private func warn(_ name: String, _ reason: String) { say(name, "refused", reason) }

  func say(_ path: String, _ finding: String, _ reason: String) {
    meter.clear()
    if context.isJSON {
      context.console.print(
        json: JSONLine(["path": path, "finding": finding, "reason": reason]))
    } else {
      context.console.report(
        Format.visible("\(Format.pad(finding, 9))\(destination.name):\(path): \(reason)"))
    }
  }

  private func finish(_ documentCount: Int) {
    meter.clear()
    if context.isJSON {
      context.console.print(
        json: JSONLine([
          "destination": destination.name, "folder": folder, "documents": documentCount,
          "recordings": recordingCount, "files": fileCount, "unnamed": unnamedCount,
          "problems": problemCount, "byteCount": doneBytes,
        ]))
      return
    }
    if context.isQuiet, problemCount == 0 { return }
    context.console.print(
      Format.visible(
        "\(Count.of(recordingCount, "recording")) and \(Count.of(fileCount, "file")) are back from "
          + "\(destination.name), \(ByteCount(doneBytes)), in the store and in \(folder)"
          + (problemCount == 0
            ? "" : "; \(Count.of(problemCount, "file")) could not be had, as was told above")))
    if receiptCount > 0 {
      context.console.report(
        "note: private keys are in no delivery: \(command: .verify) takes the receipts once "
          + "\(command: .keyImport) has taken the public key of the old computer")
    }
  }
}
