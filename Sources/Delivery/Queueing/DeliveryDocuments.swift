internal import PipelineModel
package import Platform
package import Store

/// Makes the documents about delivered files once these are confirmed: they are then sent as files are.
///
/// Making one is repeatable: the same files give the same bytes, and a document that was killed on its
/// way into the queue is made again. Several processes may do it at once.
package struct DeliveryDocuments: Sendable {
  /// Signs the confirmation of files, in the order in which it names them, and returns its bytes.
  package typealias Signer =
    @Sendable (
      _ confirmation: QueuedDelivery, _ files: [QueuedDelivery], _ local: DeliveryDocument.Local
    ) throws(SpoolError) -> [UInt8]

  private let store: DiskStore
  private let sign: Signer?

  /// - Parameter sign: nil where nothing can be signed: confirmations wait then.
  package init(_ store: DiskStore, sign: Signer? = nil) {
    self.store = store
    self.sign = sign
  }

  /// Makes every document whose files are all delivered. O(documents that are pending, and the files of
  /// those that are made).
  /// - Parameters:
  ///   - blocked: the numbers of documents that are not tried.
  ///   - report: called for each one that cannot be made, which the queue then says too.
  package func makeDue(
    besides blocked: Set<Int64> = [], report: (QueuedDelivery, SpoolError) -> Void = { _, _ in }
  ) throws(SpoolError) {
    for delivery in try store.deliveries.makeable() where !blocked.contains(delivery.id) {
      guard let document = delivery.document else { continue }
      do throws(SpoolError) {
        let bytes = try bytes(of: delivery, document)
        let artifact = try store.keep(
          bytes, as: delivery.file.content == .confirmation ? .receipt : .file)
        try store.deliveries.record(artifact, for: delivery.id)
      } catch {
        try store.deliveries.refuse(delivery.id, because: error.account)
        report(delivery, error)
      }
    }
  }

  private func bytes(
    of delivery: QueuedDelivery, _ document: DeliveryDocument
  ) throws(SpoolError) -> [UInt8] {
    let parts = try store.deliveries.parts(of: document)
    guard delivery.file.content == .confirmation else {
      var recording = try DeliveredRecording(document, of: parts)
      recording.clearPath = delivery.file.facts[QueuedDelivery.File.clearPath]
      return Array(try recording.text().utf8)
    }
    guard let sign, let local = try store.deliveries.local(of: delivery.id) else {
      throw SpoolError(
        "cannot sign the confirmation \(delivery.file.name)",
        reason: "this command has no keys", advice: "\(command: .deliverRun)", cause: .blocked)
    }
    return try sign(delivery, parts, local)
  }
}

extension DeliveredRecording {
  /// What is known of a recording before its files are delivered, as a document in the queue has it:
  /// what it is made of, besides its files.
  var about: String {
    get throws(SpoolError) { try text() }
  }

  /// The same recording before its files are delivered.
  var withoutFiles: DeliveredRecording {
    var about = DeliveredRecording(uploadedAt: "", pipeline: pipeline)
    (about.noteId, about.createdAt, about.receivedAt) = (noteId, createdAt, receivedAt)
    (about.device, about.title, about.tags) = (device, title, tags)
    return about
  }

  /// - Parameters:
  ///   - document: one that says ``about`` of the recording.
  ///   - parts: the delivered files.
  init(_ document: DeliveryDocument, of parts: [QueuedDelivery]) throws(SpoolError) {
    func files(_ content: DeliveryRequest.Content) -> [File] {
      parts.filter { $0.file.content == content }.map { part in
        var file = File(part)
        if part.file.isRecording { file.name = document.recordingName ?? file.name }
        return file
      }
    }
    let known = try DeliveredRecording(text: document.about, at: "the queue")
    self.init(
      uploadedAt: DateTime.text(
        of: (parts.compactMap(\.confirmation?.at) + [document.since ?? 0]).max() ?? 0),
      pipeline: known.pipeline, originals: files(.original), exports: files(.exports),
      transcripts: files(.transcript), receipts: files(.receipt))
    (noteId, createdAt, receivedAt) = (known.noteId, known.createdAt, known.receivedAt)
    device = known.device
    // A run that finds all of its work done has not measured it: it makes no other document.
    durationMs = parts.lazy.compactMap { $0.file.facts["durationMs"].flatMap { Int($0) } }.first
    (title, tags) = (known.title, known.tags)
  }
}

extension DeliveredRecording.File {
  fileprivate init(_ delivery: QueuedDelivery) {
    self.init(
      path: delivery.path, name: delivery.file.name,
      contentType: ContentType.of(delivery.file.name), byteCount: delivery.file.byteCount,
      sha256: delivery.file.digest.hex)
    clearPath = delivery.file.facts[QueuedDelivery.File.clearPath]
  }
}
