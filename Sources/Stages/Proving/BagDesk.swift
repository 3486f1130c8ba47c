import Hashing
import PipelineEngine
import PipelineModel
import Proof

/// Where a bag is sealed: its payload is in its place, and its tag files are written around it. The
/// declaration comes last, and it is off while anything else changes.
struct BagDesk {
  private let testimony: Testimony
  private let desk: ReceiptDesk
  private let enclosure: Enclosure
  private let program: Receipt.Named

  init(_ testimony: Testimony, _ enclosure: Enclosure, of program: Receipt.Named) {
    self.testimony = testimony
    desk = ReceiptDesk(
      testimony, in: String(testimony.folder.dropLast(enclosure.content.count + 1)))
    self.enclosure = enclosure
    self.program = program
  }

  /// Writes the tag files.
  /// - Parameters:
  ///   - subjects: what this run put into the payload, by their names in it.
  ///   - day: on which the work was done.
  func seal(_ subjects: [Receipt.Subject], day: String) throws(StageError) -> [PublishedFile] {
    let payload = try payload(subjects)
    let byteCount = payload.reduce(0) { $0 + $1.byteCount }
    var entries = enclosure.labels.sorted { $0.key < $1.key }.map {
      (label: $0.key, value: $0.value)
    }
    entries += testimony.origins.sorted { $0.key < $1.key }.compactMap { origin in
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
    var files: [PublishedFile] = []
    for (name, text) in texts + [tags, (Bag.declarationName, Bag.declaration)] {
      files.append(try desk.publish(text, as: name))
    }
    return files
  }

  /// All that lies in the payload: a manifest names every file. What an earlier run put there and
  /// nobody has changed is as good as what this one did; what Spool did not put there is not vouched
  /// for by anything, and not taken in unseen.
  private func payload(
    _ subjects: [Receipt.Subject]
  ) throws(StageError) -> [Receipt.Subject] {
    var payload = subjects
    let known = Set(subjects.map { Array($0.name.utf8) })
    for (name, _) in FolderWalk.entries(of: testimony.folder)
    where !known.contains(Array(name.utf8)) {
      let path = "\(testimony.folder)/\(name)"
      guard let byteCount = testimony.custody.byteCount(ofPublished: path) else {
        throw StageError(
          "cannot seal the bag \(enclosure.folder)",
          reason: "Spool did not write \(path), or it was changed since",
          advice: "move it out of the bag", cause: .environment)
      }
      do throws(StoreError) {
        payload.append(
          Receipt.Subject(
            name: name, digest: try testimony.custody.digest(ofFile: path), byteCount: byteCount))
      } catch {
        throw StageError(error)
      }
    }
    return payload
  }
}
