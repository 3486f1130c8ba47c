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
    let documents = delivered.filter { $0.file.content == .metadata }
      .sorted { ($0.clearPath, $0.id) < ($1.clearPath, $1.id) }
    guard !documents.isEmpty else {
      throw SpoolError(
        "there is nothing of \(recording) to send",
        reason: "no run here has made its files, and no destination has a document about them",
        advice: "\(command: .inboxShow) \(recording) says how it stands")
    }
    var (isKnown, places) = (true, Set<String>())
    for document in documents where places.insert(document.clearPath).inserted {
      var orders: [DeliveryQueue.Order] = []
      for name in request.destinations {
        let destination = try destinations.destination(named: name)
        orders += try delivery.copies(of: document, among: delivered, to: destination, request)
      }
      let added = try deliveries.add(orders, for: .recording(recording))
      isKnown = isKnown && added.allSatisfy { $0.addedAt < began }
    }
    return isKnown
  }

  private func copies(
    of document: QueuedDelivery, among delivered: [QueuedDelivery], to destination: Destination,
    _ request: DeliveryRequest
  ) throws(SpoolError) -> [DeliveryQueue.Order] {
    let path = try deliveries.source(of: document.file)
    let bytes = try doing("read", path) { () throws(SystemError) in
      try FileOperations.system.bytes(of: path)
    }
    let known = try DeliveredRecording(text: String(decoding: bytes, as: UTF8.self), at: path)
    let folder = document.clearPath.utf8.dropLast(document.file.name.utf8.count)
    let depth = String(decoding: folder, as: UTF8.self).pathNames.count
    func order(
      _ delivery: QueuedDelivery, _ encounter: DeliveryRequest.Encounter
    ) throws(SpoolError) -> DeliveryQueue.Order {
      var file = delivery.file
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
      orders.append(try order(delivery, request.encounter))
    }
    if orders.isEmpty { return [] }
    var last = try order(document, request.encounter == .fail ? .fail : .rename)
    last.about = try known.withoutFiles.about
    return orders + [last]
  }
}
