package import PipelineEngine
package import PipelineModel
package import Platform
internal import Proof
package import Store

/// Queues what runs give to their destinations, in the store.
package struct QueuedRunDelivery: RunDelivery {
  let deliveries: DeliveryQueue
  let destinations: Destinations
  var subject = Subject()
  /// The name of the recording's file in a run of another file with the same bytes; nil if it has none.
  private var otherName: String?
  let read: @Sendable () -> Subject
  private let known: @Sendable (RunRecord) throws(SpoolError) -> Subject?
  private let sidecar: @Sendable (_ recording: String) throws(SpoolError) -> Sidecar?
  private let details: @Sendable (_ recording: String) -> Subject

  /// - Parameters:
  ///   - subject: asked when files are queued: what is known may change while a run goes on.
  ///   - known: finds the recording of an inbox that a run by hand has processed once more: its files
  ///     belong together under one identity.
  ///   - sidecar: reads what lies beside the file of a recording that came through no inbox.
  ///   - details: reads what such a file says of itself: its title, date and length.
  package init(
    _ queue: DeliveryQueue, to destinations: Destinations,
    of subject: @Sendable @escaping @autoclosure () -> Subject = Subject(),
    known: @Sendable @escaping (RunRecord) throws(SpoolError) -> Subject? = {
      _ throws(SpoolError) in nil
    },
    sidecar: @Sendable @escaping (_ recording: String) throws(SpoolError) -> Sidecar? = {
      _ throws(SpoolError) in nil
    },
    details: @Sendable @escaping (_ recording: String) -> Subject = { _ in Subject() }
  ) {
    (self.known, self.sidecar, self.details) = (known, sidecar, details)
    deliveries = queue
    self.destinations = destinations
    read = subject
  }

  package func check(_ request: DeliveryRequest) throws(SpoolError) {
    for name in request.destinations { _ = try destinations.destination(named: name) }
  }

  package func queue(_ context: DeliveryContext) throws(SpoolError) -> Bool {
    var delivery = self
    delivery.subject = read()
    if let recording = delivery.subject.recording {
      return try delivery.queueFiles(context, for: recording)
    }
    if let subject = try known(context.run) {
      delivery.subject = subject
      delivery.otherName = context.run.deliveredName
    } else {
      try delivery.readSidecars(of: context.run)
    }
    return try delivery.queueFiles(context, for: nil)
  }

  /// Learns what an inbox would have learnt. One sensitive recording among several holds all that is made
  /// of them.
  private mutating func readSidecars(of run: RunRecord) throws(SpoolError) {
    for (input, path) in run.orderedInputs where run.recordings?[input] != nil {
      if input == run.deliveredInput {
        let known = details(path)
        (subject.title, subject.date) = (known.title, known.date)
        subject.milliseconds = known.milliseconds
      }
      guard let found = try sidecar(path) else { continue }
      subject.sidecars.append(found)
      subject.isSensitive = subject.isSensitive || found.isSensitive
      guard input == run.deliveredInput else { continue }
      subject.noteID = found.facts["noteId"]
      subject.title = found.facts["title"] ?? subject.title
      (subject.createdAt, subject.devices) = (found.facts["createdAt"], found.facts)
      subject.tags = found.tags
    }
  }

  /// - Parameter waiting: the recording that waits for the deliveries; nil for the run.
  private func queueFiles(
    _ context: DeliveryContext, for waiting: RecordingKey?
  ) throws(SpoolError) -> Bool {
    let files = try deliverables(context)
    let request = context.request
    var orders: [DeliveryQueue.Order] = []
    for name in request.destinations {
      let destination = try destinations.destination(named: name)
      for file in files {
        orders.append(
          try order(file, to: destination, context, isRequired: request.isRequired))
      }
      if !files.isEmpty { orders += try documents(context, to: destination) }
    }
    // A sidecar may have come while its files were read.
    if read().isSensitive { for index in orders.indices { orders[index].isHeld = true } }
    let began = deliveries.now
    let owner = waiting.map(DeliveryOwner.recording) ?? .run(context.run.id)
    let isKnown = try deliveries.add(orders, for: owner).allSatisfy { $0.addedAt < began }
    if waiting == nil, let recording = subject.recording {
      try deliveries.add(orders.map(\.optional), for: .recording(recording))
    }
    return isKnown
  }

  private func order(
    _ file: QueuedDelivery.File, to destination: Destination, _ context: DeliveryContext,
    isRequired: Bool, encounter: DeliveryRequest.Encounter? = nil
  ) throws(SpoolError) -> DeliveryQueue.Order {
    let request = context.request
    let values = fields(of: file, context.run)
    return try order(
      file, to: destination, at: DeliveryPath.fill(request.path, values),
      versionDepth: DeliveryPath.versionDepth(of: request.path, values),
      encounter: encounter ?? request.encounter, isRequired: isRequired)
  }

  /// - Parameter path: the one that it has, or would have if it were not encrypted.
  func order(
    _ file: QueuedDelivery.File, to destination: Destination, at path: String,
    versionDepth: Int?, encounter: DeliveryRequest.Encounter, isRequired: Bool
  ) throws(SpoolError) -> DeliveryQueue.Order {
    var (file, path) = (file, path)
    // A name that no destination takes is refused here, and not tried for ever.
    _ = try RemotePath(path)
    if destination.encryption != nil {
      file.facts[QueuedDelivery.File.clearPath] = path
      // A restore has to find the documents.
      path =
        Encryption.opaqueName()
        + (file.content == .metadata ? DeliveredRecording.encryptedEnding : Encryption.ending)
    }
    var order = DeliveryQueue.Order(
      file, to: destination.name, at: path, versionDepth: versionDepth, encounter: encounter,
      isRequired: isRequired)
    order.isHeld = subject.isSensitive
    return order
  }

  /// The documents that follow a run's files to a destination: the one about the recording, and a
  /// confirmation for each receipt, whether that is delivered or not.
  private func documents(
    _ context: DeliveryContext, to destination: Destination
  ) throws(SpoolError) -> [DeliveryQueue.Order] {
    let (run, request) = (context.run, context.request)
    let facts = facts(of: run)
    func order(
      _ name: String, _ content: DeliveryRequest.Content, isRequired: Bool, about: String,
      _ local: DeliveryDocument.Local?
    ) throws(SpoolError) -> DeliveryQueue.Order {
      let file = QueuedDelivery.File(
        name: name, content, digest: SHA256.digest(of: about), byteCount: 0,
        recording: run.deliveredRecording, path: nil, facts: facts)
      // Documents state times: where a lost store's are, these have other bytes and get a number.
      var order = try self.order(
        file, to: destination, context, isRequired: isRequired,
        encounter: request.encounter == .fail ? .fail : .rename)
      (order.about, order.local) = (about, local)
      return order
    }
    var recording = DeliveredRecording(uploadedAt: "", pipeline: run.pipeline)
    recording.noteId = facts["noteId"]
    recording.createdAt = subject.createdAt
    recording.receivedAt = subject.receivedAt.map(DateTime.text)
    recording.device = DeliveredRecording.Device(subject.devices)
    recording.title = subject.title
    recording.tags = subject.tags.isEmpty ? nil : subject.tags
    let name = otherName ?? subject.name ?? run.inputPaths.first?.fileName ?? run.id.name
    var orders = [
      try order(
        ExportName.stem(of: name) + DeliveredRecording.ending, .metadata,
        isRequired: request.isRequired, about: try recording.about, nil)
    ]
    for receipt in run.published where receipt.leaf != nil {
      guard
        let signed = DeliveryConfirmation.SignedReceipt(
          at: receipt.path, isInBag: run.isInBag(receipt))
      else { continue }
      let about: String
      do { about = try signed.jsonText() } catch {
        throw SpoolError("queue a confirmation", reason: "\(error)")
      }
      orders.append(
        try order(
          String(
            decoding: run.name(of: receipt).utf8.dropLast(signed.name.utf8.count), as: UTF8.self)
            + signed.confirmation(by: destination.name), .confirmation,
          isRequired: false, about: about,
          DeliveryDocument.Local(receipt: receipt.path, signing: run.request?.signing)))
    }
    return orders
  }

  /// The files of a run that a request wants, with their digests, in their order.
  private func deliverables(
    _ context: DeliveryContext
  ) throws(SpoolError) -> [QueuedDelivery.File] {
    let (run, wanted) = (context.run, context.request.contents)
    let recording = run.deliveredRecording
    let facts = facts(of: run)
    var files: [QueuedDelivery.File] = []
    if wanted.contains(.original) {
      for (input, path) in run.orderedInputs {
        guard let digest = run.recordings?[input] else { continue }
        let file = context.files[input]
        let isFirst = input == run.deliveredInput
        // A text that came with the recording is delivered under its own name.
        if !isFirst, subject.companions.contains(where: { $0.artifact.digest == digest }) {
          continue
        }
        let name = isFirst ? otherName ?? subject.name ?? path.fileName : path.fileName
        files.append(
          QueuedDelivery.File(
            name: name, .original, digest: digest,
            byteCount: try originalByteCount(digest, at: file?.path ?? path), recording: recording,
            path: subject.recording == nil ? path : nil, facts: facts))
      }
      for sidecar in subject.sidecars {
        files.append(
          QueuedDelivery.File(
            name: sidecar.path.fileName, .original, digest: sidecar.digest,
            byteCount: sidecar.byteCount, recording: recording, path: sidecar.path, facts: facts))
      }
      for (name, artifact) in subject.companions {
        files.append(
          QueuedDelivery.File(
            name: name, .original, digest: artifact.digest, byteCount: artifact.byteCount,
            recording: recording, path: nil, facts: facts))
      }
    }
    for file in run.published {
      let content = run.content(of: file)
      guard wanted.contains(content) else { continue }
      files.append(
        QueuedDelivery.File(
          name: run.name(of: file), content,
          digest: try context.exportFolder.digest(ofFile: file.path),
          byteCount: try Self.byteCount(of: file.path), recording: recording, path: file.path,
          facts: facts))
    }
    return files
  }

  /// The length of an original. What an inbox took in is in the store, and its work folder is gone.
  private func originalByteCount(_ digest: Digest, at path: String) throws(SpoolError) -> Int {
    if let kept = deliveries.keptByteCount(of: digest) { return kept }
    return try Self.byteCount(of: path)
  }

  private static func byteCount(of path: String) throws(SpoolError) -> Int {
    try doing("look at", path) { () throws(SystemError) in
      Int(try FileStamp(following: path).byteCount)
    }
  }

  private func facts(of run: RunRecord) -> [String: String] {
    var facts: [String: String] = ["pipeline": run.pipeline]
    facts["noteId"] = subject.noteID ?? subject.recording?.name
    facts["title"] = subject.title
    facts["createdAt"] = subject.createdAt
    let measured = run.recordingSeconds.map { Int(($0 * 1000).rounded()) }
    facts["durationMs"] = (measured ?? subject.milliseconds).map { "\($0)" }
    facts[QueuedDelivery.File.settings] = destinations.path
    facts[QueuedDelivery.File.sounds] = run.decodedSounds
    return facts
  }

  private func fields(of file: QueuedDelivery.File, _ run: RunRecord) -> [String: String] {
    // A device's time is that of the place where it recorded.
    let time = subject.createdAt.map { $0.dropFirst(11).prefix(8) } ?? ""
    let name = file.name.fileName
    let point = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
    let stem = String(name.prefix(upTo: point))
    let recordingName = subject.name ?? run.inputPaths.first?.fileName ?? stem
    return [
      "date": subject.date ?? subject.createdAt.map { String($0.prefix(10)) } ?? "undated",
      "time": time.isEmpty ? "untimed" : String(time).replacing(":", with: "-"),
      "noteId": subject.noteID ?? subject.recording?.name ?? run.deliveredID,
      "title": subject.title ?? ExportName.stem(of: recordingName),
      "stem": stem, "folder": subject.folder ?? run.request?.recordingFolder ?? "",
      // An export may have the recording's own name.
      "name": file.content == .original
        ? "\(DeliveredRecording.originals)/\(file.name)" : file.name,
      "ext": String(name[point...].dropFirst()),
      "pipeline": run.pipeline,
      // A confirmation lies beside its receipt.
      "what": (file.content == .confirmation ? .receipt : file.content).rawValue,
    ]
  }
}

extension RunRecord {
  /// The input that its files are made of: the first sound, else the first input; nil without one.
  fileprivate var deliveredInput: String? { soundInputs?.first ?? orderedInputs.first?.name }

  /// The name of that one's file; nil if it is not known.
  fileprivate var deliveredName: String? { deliveredInput.flatMap { inputs[$0]?.fileName } }

  /// The name of the recording in paths: the same for each of its runs.
  fileprivate var deliveredID: String {
    deliveredRecording.map { String($0.hex.prefix(12)) } ?? id.name
  }

  /// The digest of that; nil if unknown.
  fileprivate var deliveredRecording: Digest? {
    deliveredInput.flatMap { recordings?[$0] }
  }

  /// The digests of the samples that its `decode` steps gave, one behind the other; nil without any.
  fileprivate var decodedSounds: String? {
    let sounds = steps.filter { $0.kind == "decode" }
      .flatMap { $0.outputs.values.filter { $0.kind == .sound }.map(\.identity.hex) }
    return sounds.isEmpty ? nil : Set(sounds).sorted().joined()
  }

  /// What a published file is.
  fileprivate func content(of file: PublishedFile) -> DeliveryRequest.Content {
    switch steps.first(where: { $0.id == file.step })?.kind {
    case "proof": .receipt
    case "transcript", "align", "recognize", "retime": .transcript
    default: .exports
    }
  }

  /// Whether a published file lies in the payload of a bag.
  fileprivate func isInBag(_ file: PublishedFile) -> Bool {
    let names = file.path.pathNames
    guard names.count > 2, names[names.count - 2] == Bag.payloadFolder else { return false }
    let bag = names.dropLast(2).map { "/" + $0 }.joined()
    return published.contains { $0.path == "\(bag)/\(Bag.declarationName)" }
  }

  /// A published file's name, with the folders that the run made for it.
  fileprivate func name(of file: PublishedFile) -> String {
    guard let folder = request?.folder, file.path.hasPrefix(folder + "/") else {
      return file.path.fileName
    }
    return String(decoding: file.path.utf8.dropFirst(folder.utf8.count + 1), as: UTF8.self)
  }
}

extension String {
  /// The last name of a path.
  fileprivate var fileName: String { pathNames.last ?? self }
}
