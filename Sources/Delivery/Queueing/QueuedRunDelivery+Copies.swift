package import PipelineModel
package import Platform
package import Store

/// Copies of what destinations have of a recording that no run here has made, as one that came back
/// from a destination.
extension QueuedRunDelivery {
  /// Queues the files that the documents of other destinations name, under the same paths, each group
  /// followed by a document of its own. O(files).
  /// - Parameters:
  ///   - recording: of an inbox.
  ///   - delivered: its files that destinations have confirmed.
  /// - Returns: whether all was known before.
  /// - Throws: if there is no document, or a file is neither in the store nor where it was.
  package func queue(
    copiesOf recording: RecordingKey, _ delivered: [QueuedDelivery], _ request: DeliveryRequest
  ) throws(SpoolError) -> Bool {
    var delivery = self
    delivery.subject = read()
    let began = deliveries.now
    // Of several in one folder about a recording of one name, the newest says what is true.
    var newest: [String: (document: QueuedDelivery, known: DeliveredRecording)] = [:]
    for document in delivered where document.file.content == .metadata {
      let known = try read(document)
      let place = document.folder + (known.originals.first?.name ?? "")
      if let other = newest[place], other.known.uploadedAt >= known.uploadedAt { continue }
      newest[place] = (document, known)
    }
    let documents = newest.sorted { $0.key < $1.key }.map(\.value)
    guard !documents.isEmpty else {
      throw SpoolError(
        "there is nothing of \(recording) to send",
        reason: "no run here has made its files, and no destination has a document about them",
        advice: "\(command: .inboxShow) \(recording) says how it stands")
    }
    var isKnown = true
    for (document, known) in documents {
      var orders: [DeliveryQueue.Order] = []
      for name in request.destinations {
        let destination = try destinations.destination(named: name)
        orders += try delivery.copies(
          of: document, saying: known, among: delivered, to: destination, request)
      }
      let added = try deliveries.add(orders, for: .recording(recording))
      isKnown = isKnown && added.allSatisfy { $0.addedAt < began }
    }
    return isKnown
  }

  private func read(_ document: QueuedDelivery) throws(SpoolError) -> DeliveredRecording {
    let path = try deliveries.source(of: document.file)
    let bytes = try doing("read", path) { () throws(SystemError) in
      try FileOperations.system.bytes(of: path)
    }
    return try DeliveredRecording(text: String(decoding: bytes, as: UTF8.self), at: path)
  }

  private func copies(
    of document: QueuedDelivery, saying known: DeliveredRecording,
    among delivered: [QueuedDelivery], to destination: Destination, _ request: DeliveryRequest
  ) throws(SpoolError) -> [DeliveryQueue.Order] {
    let folder = document.folder.utf8
    let depth = document.folder.pathNames.count
    func order(
      _ delivery: QueuedDelivery, _ encounter: DeliveryRequest.Encounter, by name: String? = nil
    ) throws(SpoolError) -> DeliveryQueue.Order {
      var file = delivery.file
      if file.isRecording { file.name = name ?? file.name }
      file.facts[QueuedDelivery.File.clearPath] = nil
      let isBeside = delivery.clearPath.utf8.starts(with: folder)
      return try self.order(
        file, to: destination, at: delivery.clearPath,
        versionDepth: isBeside && depth > 0 ? depth : nil, encounter: encounter, isRequired: false)
    }
    var orders: [DeliveryQueue.Order] = []
    for file in known.originals + known.exports + known.transcripts + known.receipts {
      let same = delivered.filter { $0.file.digest.hex == file.sha256 }
      let place = file.clearPath ?? file.path
      guard let delivery = same.first(where: { $0.clearPath == place }) ?? same.first,
        request.contents.contains(delivery.file.content)
      else { continue }
      _ = try deliveries.source(of: delivery.file)
      orders.append(try order(delivery, request.encounter, by: file.name))
    }
    if orders.isEmpty { return [] }
    var last = try order(document, request.encounter == .fail ? .fail : .rename)
    var about = known.withoutFiles
    // What has become known of it since.
    about.title = subject.title ?? about.title
    if !subject.tags.isEmpty { about.tags = subject.tags }
    last.about = try about.about
    return orders + [last]
  }
}

extension QueuedDelivery {
  /// The folder that it would lie in if it were not encrypted, with a slash at its end; empty for none.
  fileprivate var folder: String {
    clearPath.lastIndex(of: "/").map { String(clearPath[...$0]) } ?? ""
  }
}
