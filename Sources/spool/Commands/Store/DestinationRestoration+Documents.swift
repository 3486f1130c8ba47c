import Delivery
import PipelineModel
import Platform
import Transcripts

/// What the documents of recordings say together.
extension DestinationRestoration {
  /// The documents that can be read, by recording, as these were received: the first one keeps a noteId that
  /// others claim. Of several about a recording the newest is the first, for that one counts.
  mutating func inOrder(_ paths: [RemotePath]) throws(SpoolError) -> [RemotePath] {
    var dated: [(path: RemotePath, uploadedAt: Double, document: DeliveredRecording)] = []
    for path in paths.sorted(by: { $0.description < $1.description }) {
      do throws(SpoolError) {
        let document = try read(documentAt: path).document
        dated.append((path, DateTime(iso8601: document.uploadedAt)?.seconds ?? 0, document))
      } catch {
        try report(path.description, error)
      }
    }
    var arrivals: [String: Double] = [:]
    for (_, uploadedAt, document) in dated {
      let receivedAt = document.receivedAt.flatMap { DateTime(iso8601: $0)?.seconds } ?? uploadedAt
      let own = document.mainDigest
      arrivals[own] = min(arrivals[own] ?? receivedAt, receivedAt)
    }
    // A stable order, so that a second restore gives the same names.
    let sorted = dated.enumerated().sorted { a, b in
      let (own, other) = (a.element.document.mainDigest, b.element.document.mainDigest)
      return (arrivals[own] ?? 0, own, b.element.uploadedAt, a.offset)
        < (arrivals[other] ?? 0, other, a.element.uploadedAt, b.offset)
    }.map(\.element)
    for (_, _, document) in sorted {
      guard let sound = document.originals.first(where: \.isSound) else { continue }
      companions[sound.sha256, default: []].append(document.originals.filter { !$0.isSound })
    }
    return sorted.map(\.path)
  }

  mutating func read(
    documentAt path: RemotePath
  ) throws(SpoolError) -> (document: DeliveredRecording, bytes: [UInt8]) {
    let bytes = try reader.bytes(of: path, limit: Self.documentLimit)
    let text = String(decoding: bytes, as: UTF8.self)
    return (try DeliveredRecording(text: text, at: path.description), bytes)
  }

  /// The sidecar and the texts of a recording: each as the newest document has them that has any. A copy
  /// of a recording is delivered without what lies beside the first one.
  func companions(of sound: DeliveredRecording.File) -> [DeliveredRecording.File] {
    let versions = companions[sound.sha256] ?? []
    return [true, false].flatMap { isJSON in
      versions.lazy.map { $0.filter { $0.name.lowercased().hasSuffix(".json") == isJSON } }
        .first { !$0.isEmpty } ?? []
    }
  }
}

extension DeliveredRecording {
  /// The SHA-256 of the recording that it is about, in hexadecimal digits; empty if it names none.
  fileprivate var mainDigest: String { originals.first(where: \.isSound)?.sha256 ?? "" }
}

extension DeliveredRecording.File {
  /// Whether it is sound, or may be.
  var isSound: Bool {
    if TranscriptFormat.all.contains(where: { $0.isUsual(for: name) }) { return false }
    return ["audio/", "video/", "application/octet-stream"].contains { contentType.hasPrefix($0) }
  }
}
