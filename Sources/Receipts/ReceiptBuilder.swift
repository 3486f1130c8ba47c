import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Proof

/// Builds one receipt from the engine's context, and publishes its files.
struct ReceiptBuilder {
  let context: ReceiptContext

  private let folder: String

  ///
  /// - Parameter folder: if it differs from the run's.
  init(_ context: ReceiptContext, in folder: String? = nil) {
    self.context = context
    self.folder = folder ?? context.folder
  }

  /// The public key's file name: `spool.pub`, unless another key has that name.
  func keyName(for key: VerifyingKey, in names: ReceiptNames) -> String {
    let usual = names.beside("spool.pub")
    let path = folder + "/" + usual
    guard let other = try? context.exportFolder.digest(ofFile: path),
      other != SHA256.digest(of: key.pem)
    else { return usual }
    return names.beside("spool-\(key.id.hex.prefix(8)).pub")
  }

  /// Publishes a text.
  func publish(_ text: String, as name: String) throws(SpoolError) -> PublishedFile {
    try publish(text, as: name, of: context.recording)
  }

  /// Publishes a text for a recording or for none.
  func publish(
    _ text: String, as name: String, of recording: RecordingIdentity?
  ) throws(SpoolError) -> PublishedFile {
    let digest = SHA256.digest(of: text)
    return try context.exportFolder.deliver(
      digest, digest: digest, to: folder + "/" + name, of: recording, step: context.step,
      isReplacing: context.isReplacing
    ) { (temporary) throws(SpoolError) in
      try Self.write(Array(text.utf8), to: temporary)
      return nil
    }
  }

  /// Checks beforehand whether a text can be published.
  func checkPlace(of text: String, as name: String) throws(SpoolError) {
    let path = folder + "/" + name
    let exportFolder = context.exportFolder
    guard !context.isReplacing else { return }
    if exportFolder.isForeign(path, to: SHA256.digest(of: text)) {
      throw SpoolError(isForeign: path)
    }
    let source = ExportSource(context.recording)
    if let refusal = try exportFolder.refusal(toReplace: path, with: source) { throw refusal }
  }

  /// Writes into an existing file.
  static func write(_ bytes: [UInt8], to path: String) throws(SpoolError) {
    let files = FileOperations.system
    try doing("write", path) { () throws(SystemError) in
      try files.write(bytes, to: try files.open(path, O_WRONLY | O_TRUNC))
    }
  }
}

/// A bag around the payload.
extension ReceiptBuilder {
  /// Writes the tag files. The declaration comes last, and is removed during changes.
  /// - Parameters:
  /// - subjects: what this run put into the payload, by name.
  /// - day: the day of the run.
  func seal(
    _ enclosure: ReceiptRequest.Enclosure, _ subjects: [Receipt.Subject], by program: Receipt.Named,
    day: String
  ) throws(SpoolError) -> [PublishedFile] {
    let payload = try payload(of: enclosure, subjects)
    let byteCount = payload.reduce(0) { $0 + $1.byteCount }
    var entries = enclosure.labels.sorted { $0.key < $1.key }.map {
      (label: $0.key, value: $0.value)
    }
    entries += context.origins.sorted { $0.key < $1.key }.compactMap { origin in
      origin.value.noteID.map { ("External-Identifier", $0) }
    }
    entries += [
      ("Bagging-Date", day),
      ("Bag-Software-Agent", "\(program.name) \(program.version)"),
      ("Payload-Oxum", "\(byteCount).\(payload.count)"),
    ]
    let texts = [
      (Bag.informationName, Bag.information(entries)),
      (
        Bag.manifestName,
        Bag.manifest(payload.map { ("\(Bag.payloadFolder)/\($0.name)", $0.digest) })
      ),
    ]
    let listed = texts + [(Bag.declarationName, Bag.declaration)]
    let tags = (
      Bag.tagManifestName,
      Bag.manifest(listed.map { ($0.0, SHA256.digest(of: $0.1)) })
    )
    return try (texts + [tags, (Bag.declarationName, Bag.declaration)]).map {
      (name, text) throws(SpoolError) in try publish(text, as: name)
    }
  }

  /// All payload files, since a manifest must be complete: those of this run, and unchanged ones of
  /// earlier runs. Files that Spool did not write are not included silently.
  private func payload(
    of enclosure: ReceiptRequest.Enclosure, _ subjects: [Receipt.Subject]
  ) throws(SpoolError) -> [Receipt.Subject] {
    var payload = subjects
    let known = Set(subjects.map { Array($0.name.utf8) })
    for (name, _) in FolderWalk.entries(of: context.folder)
    where !known.contains(Array(name.utf8)) {
      let path = "\(context.folder)/\(name)"
      guard let byteCount = context.exportFolder.byteCount(ofPublished: path) else {
        throw SpoolError(
          "cannot seal the bag \(enclosure.folder)",
          reason: "Spool did not write \(path), or it was changed since",
          advice: "move it out of the bag", cause: .environment)
      }
      payload.append(
        Receipt.Subject(
          name: name, digest: try context.exportFolder.digest(ofFile: path), byteCount: byteCount)
      )
    }
    return payload
  }
}

/// The names of a receipt's files, from the folder of the exports.
package struct ReceiptNames {
  /// Where they lie.
  package enum Place: String, Codable, Sendable, CaseIterable {
    case beside
    /// In a folder `receipts` beside the exports.
    case folder
  }

  /// The verification script; nil if none is written.
  let script: String?
  /// The list for `sha256sum -c`; nil if none is written.
  let checksums: String?
  let receipt: String

  package init(stem: String, in place: Place, hasScript: Bool) {
    let stem = place == .folder ? "\(Receipt.ownFolder)/\(stem)" : stem
    script = hasScript ? stem + ".verify.sh" : nil
    checksums = hasScript ? stem + ".sha256" : nil
    receipt = stem + ReceiptSearch.ending
  }

  /// From the order of `all`; nil for other names.
  init?(_ names: [String]) {
    guard let receipt = names.last, names.count == 1 || names.count == 3 else { return nil }
    (script, checksums) = names.count == 3 ? (names[0], names[1]) : (nil, nil)
    self.receipt = receipt
  }

  /// In order of writing: the receipt completes the set.
  package var all: [String] { [script, checksums, receipt].compactMap(\.self) }

  /// The folder of all of them below that of the exports; empty for that folder itself.
  var folder: String {
    receipt.lastIndex(of: "/").map { String(receipt[..<$0]) } ?? ""
  }

  /// A file's name in the same folder.
  func beside(_ name: String) -> String { folder.isEmpty ? name : "\(folder)/\(name)" }

  /// What the receipt says of its own name: nothing where its place and its list tell.
  var statedName: String? { folder.isEmpty && checksums != nil ? nil : receipt }
}
