internal import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform
import Store

/// One attempt to deliver one file.
struct DeliveryAttempt {
  private let worker: DeliveryWorker
  private let delivery: QueuedDelivery

  /// Seconds between two records of the bytes sent, for other processes to show.
  private static let notePeriod = 1.0
  /// Seconds between two events of progress.
  private static let eventPeriod = 0.25
  /// How many names are tried where the destination has other files.
  private static let nameLimit = 1000

  init(_ worker: DeliveryWorker, _ delivery: QueuedDelivery) {
    self.worker = worker
    self.delivery = delivery
  }

  /// Sends the file, or continues sending it, until the destination has given all of it back.
  /// - Returns: what it gave back, and the path there, which may have got a number.
  func run(
    over lane: inout Lane
  ) throws(SpoolError) -> (confirmation: QueuedDelivery.Confirmation, path: String) {
    try lane.destination.requireMounted(worker.queue)
    let source = try worker.queue.source(of: delivery.file)
    var path = try RemotePath(delivery.path)
    var state = delivery.upload.flatMap(Self.state)
    let file: OutgoingFile
    if let encryption = lane.destination.encryption {
      file = try encrypted(source, by: encryption, &state)
    } else {
      file = try OutgoingFile(
        source, digest: delivery.file.digest, contentType: ContentType.of(delivery.file.name),
        metadata: delivery.file.statedFacts.mapValues(Self.plain))
      guard file.byteCount == delivery.file.byteCount else { throw changed(source) }
    }
    for _ in 0..<Self.nameLimit {
      do throws(SpoolError) {
        let found = try send(file, to: path, from: state, over: &lane)
        return (confirmation(found, of: file), path.description)
      } catch {
        if error.kind == .broken, error.remedy == .retry, try !isUnchanged(source) {
          // What was sent of it is of no use.
          try? beginAnew(path, over: &lane)
          throw changed(source)
        }
        // What is of no use is removed: it may fill the disk that is to be freed.
        if error.remedy == .giveUp ? error.kind != .occupied : error.kind == .broken {
          try beginAnew(path, over: &lane)
        }
        guard error.kind == .occupied else { throw error }
        // What has the name may be this file: a killed process may not have recorded it, or it is
        // sent again.
        if state != nil || delivery.encounter == .same || delivery.document != nil
          || delivery.confirmation != nil,
          let found = try same(as: path, file, over: &lane)
        {
          return (confirmation(found, of: file), path.description)
        }
        guard delivery.encounter == .rename else { throw taken(error) }
        if let state { discard(state, of: path, over: &lane) }
        state = nil
        path = try RemotePath(try worker.queue.rename(delivery))
      }
    }
    throw SpoolError(occupied: path)
  }

  /// The file's encrypted copy, which stays the same until it is delivered, so that its upload can be
  /// continued.
  private func encrypted(
    _ source: String, by encryption: Encryption, _ state: inout UploadState?
  ) throws(SpoolError) -> OutgoingFile {
    let path = try worker.queue.encryptedPath(of: delivery.id)
    let size = (try? FileStamp(at: path)).map { Int($0.byteCount) }
    let copy: Encryption.Copy
    if let made = state?.encrypted, made.byteCount == size {
      copy = made
    } else {
      var anew = UploadState()
      copy = try encryption.encrypt(source, to: path, worker.environment) { worker.mayGoOn }
      guard try isUnchanged(source) else { throw changed(source) }
      anew.encrypted = copy
      _ = try note(anew, isFlushed: true)
      state = anew
    }
    return try OutgoingFile(path, digest: copy.digest)
  }

  private func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    over lane: inout Lane
  ) throws(SpoolError) -> RemoteFile {
    var (notedAt, toldAt) = (worker.clock.elapsed, worker.clock.elapsed)
    var last = delivery.upload
    let isLarge = file.byteCount > UploadState.step
    var hasBegun = false
    return try lane.with(worker.environment) { (transport) throws(SpoolError) in
      try transport.send(file, to: path, from: state) { (state) throws(SpoolError) in
        // Of a power cut, small files need not know where they were.
        last = try note(state, isFlushed: isLarge && !hasBegun)
        hasBegun = true
      } mayGoOn: { progress in
        let now = worker.clock.elapsed
        if now - toldAt >= Self.eventPeriod {
          toldAt = now
          worker.record(.progress(delivery, progress))
        }
        if now - notedAt >= Self.notePeriod {
          notedAt = now
          try? worker.queue.note(
            delivery.id, upload: last, sentByteCount: progress.sentByteCount, isFlushed: false)
          if let states = try? worker.queue.destinations(),
            states[delivery.destination]?.isPaused == true
          {
            return false
          }
          if (try? worker.queue.matching(.of(ids: [delivery.id])))?.first?.state == .held {
            return false
          }
        }
        guard worker.mayGoOn else {
          // The next attempt goes on here, and the queue says how far it is.
          try? worker.queue.note(
            delivery.id, upload: last, sentByteCount: progress.sentByteCount, isFlushed: false)
          return false
        }
        return true
      }
    }
  }

  /// Has the next attempt use nothing of what is at the destination.
  private func beginAnew(_ path: RemotePath, over lane: inout Lane) throws(SpoolError) {
    let known = try worker.queue.matching(.of(ids: [delivery.id])).first
    if let state = known?.upload.flatMap(Self.state) { discard(state, of: path, over: &lane) }
    try worker.queue.note(delivery.id, upload: nil, sentByteCount: 0, isFlushed: false)
  }

  /// Removes what an upload has left, if that is allowed and possible.
  private func discard(_ state: UploadState, of path: RemotePath, over lane: inout Lane) {
    if lane.destination.isAppendOnly { return }
    try? lane.with(worker.environment) { (transport) throws(SpoolError) in
      try transport.discard(state, of: path)
    }
  }

  /// Records how far the upload is. A store that cannot be written to says nothing of the destination.
  private func note(_ state: UploadState, isFlushed: Bool) throws(SpoolError) -> [UInt8] {
    do throws(SpoolError) {
      let bytes: [UInt8]
      do { bytes = Array(try state.jsonText().utf8) } catch {
        throw SpoolError("record an upload", reason: "\(error)")
      }
      try worker.queue.note(
        delivery.id, upload: bytes, sentByteCount: state.byteCount, isFlushed: isFlushed)
      return bytes
    } catch {
      throw SpoolError(
        error.message, reason: error.reason, advice: error.advice, cause: .transient)
    }
  }

  /// A value as printable ASCII, as headers of HTTP hold it: other bytes as `%C3%A4`.
  private static func plain(_ value: String) -> String {
    var text = ""
    for byte in value.utf8.prefix(500) {
      if (0x20..<0x7f).contains(byte), byte != UInt8(ascii: "%") {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count < 2 ? "0" + digits : digits)
      }
    }
    return text
  }

  private static func state(_ bytes: [UInt8]) -> UploadState? {
    try? UploadState(jsonText: String(decoding: bytes, as: UTF8.self))
  }

  /// What lies at a path, if it is this file; nil for other bytes.
  private func same(
    as path: RemotePath, _ file: borrowing OutgoingFile, over lane: inout Lane
  ) throws(SpoolError) -> RemoteFile? {
    let (byteCount, digest) = (file.byteCount, file.digest)
    do throws(SpoolError) {
      return try lane.with(worker.environment) { (transport) throws(SpoolError) in
        try transport.confirm(
          path, byteCount: byteCount, digest: digest
        ) { worker.mayGoOn }
      }
    } catch {
      if error.kind == .broken { return nil }
      throw error
    }
  }

  private func confirmation(
    _ found: RemoteFile, of file: borrowing OutgoingFile
  ) -> QueuedDelivery.Confirmation {
    QueuedDelivery.Confirmation(
      byteCount: found.byteCount, digest: file.digest, at: worker.clock.now,
      identifier: found.identifier)
  }

  private func isUnchanged(_ source: String) throws(SpoolError) -> Bool {
    try doing("read", source) { () throws(SystemError) in
      let files = FileOperations.uncounted
      return try files.digest(of: files.open(source, 0)).digest == delivery.file.digest
    }
  }

  /// Sending it again has the same outcome: what helps is said with the reason, which the queue keeps.
  private func taken(_ error: SpoolError) -> SpoolError {
    SpoolError(
      "deliver", error.path,
      reason: "\(error.why); if another store has sent that, \(command: .restore) \(option: .from) "
        + "\(delivery.destination) brings back what it is of; else queue this again with another "
        + "path:, or with if-there: rename",
      advice: error.advice, cause: .input, kind: .occupied)
  }

  private func changed(_ source: String) -> SpoolError {
    SpoolError(
      "send", source, reason: "it was changed since it was queued",
      advice: "run its pipeline again, which queues what that gives", cause: .input, kind: .changed)
  }
}

/// The media type of a file by its ending (RFC 6838).
enum ContentType {
  private static let types: [String: String] = [
    "wav": "audio/wav", "w64": "audio/x-w64", "m4a": "audio/mp4", "m4b": "audio/mp4",
    "mp4": "audio/mp4", "aac": "audio/aac", "flac": "audio/flac", "mp3": "audio/mpeg",
    "opus": "audio/ogg", "ogg": "audio/ogg", "aif": "audio/aiff", "aiff": "audio/aiff",
    "amr": "audio/amr", "caf": "audio/x-caf", "mka": "audio/x-matroska", "webm": "audio/webm",
    "json": "application/json", "txt": "text/plain; charset=utf-8", "md": "text/markdown",
    "srt": "application/x-subrip", "vtt": "text/vtt", "html": "text/html", "pdf": "application/pdf",
    "csv": "text/csv", "tsv": "text/tab-separated-values", "textgrid": "text/plain",
    "ctm": "text/plain", "lrc": "text/plain", "xml": "application/xml",
    "ttml": "application/ttml+xml", "sha256": "text/plain", "pub": "text/plain",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "pem": "application/x-pem-file",
    "sh": "application/x-sh", "zip": "application/zip", "tsr": "application/timestamp-reply",
  ]

  static func of(_ name: String) -> String {
    let ending = name.lastIndex(of: ".").map { name[$0...].dropFirst().lowercased() } ?? ""
    return types[ending] ?? "application/octet-stream"
  }
}
