internal import PipelineModel
package import Platform

/// What a destination has of a recording, or of a run: the document that is delivered last of its
/// files, when all others are confirmed. The article Delivered recordings describes its form.
///
/// Members that are unknown are left out. Readers ignore members that they do not know.
package struct DeliveredRecording: Hashable, Sendable, Codable {
  /// The end of its name: after the stem of the recording's file.
  package static let ending = ".recording.json"
  /// The end of its name where that is encrypted.
  package static let encryptedEnding = ".recording" + Encryption.ending

  /// The folder of originals, by the usual path.
  package static let originals = "originals"

  /// Whether a name at a destination is a document's, also one with a number: `walk.recording (2).json`.
  package static func isDocument(_ name: String, isEncrypted: Bool) -> Bool {
    let ending = isEncrypted ? encryptedEnding : ending
    if name.hasSuffix(ending) { return true }
    guard let point = name.lastIndex(of: "."), name[..<point].hasSuffix(")"),
      let space = name[..<point].lastIndex(of: " ")
    else { return false }
    let number = name[space..<point].dropFirst(2).dropLast()
    return (Int(number) ?? 0) > 1 && (name[..<space] + name[point...]).hasSuffix(ending)
  }

  /// The identity that its device gave it.
  package var noteId: String?
  /// When it was recorded, in ISO 8601, as its device wrote it; perhaps no more than a month or a year.
  package var createdAt: String?
  /// When Spool took it in, in ISO 8601, UTC.
  package var receivedAt: String?
  /// When the destination confirmed the last of the files below, in ISO 8601, UTC.
  package var uploadedAt: String
  /// The length of its sound in milliseconds.
  package var durationMs: Int?
  /// The path of the first original at the destination, else of the first export; nil if it has neither.
  package var storagePath: String?
  /// The media type of that.
  package var contentType: String?
  /// The path that the document would have if it were not encrypted; nil if it is not.
  package var clearPath: String?
  /// `uploaded`.
  package var status: String
  /// What recorded and sent it; nil if nothing is known of that.
  package var device: Device?
  package var title: String?
  package var tags: [String]?
  /// The pipeline's name.
  package var pipeline: String
  /// The recording as it arrived, then what arrived with it: its sidecars, its transcript.
  package var originals: [File]
  package var exports: [File]
  package var transcripts: [File]
  /// Receipts, and the files that belong to them.
  package var receipts: [File]

  /// The devices, as a sidecar gives them.
  package struct Device: Hashable, Sendable, Codable {
    package var watchModel: String?
    package var phoneModel: String?
    package var watchOSVersion: String?
    package var iOSVersion: String?

    /// - Parameter fields: a sidecar's fields, by name.
    /// - Returns: nil if they name no device.
    package init?(_ fields: [String: String]) {
      (watchModel, phoneModel) = (fields["watchModel"], fields["phoneModel"])
      (watchOSVersion, iOSVersion) = (fields["watchOSVersion"], fields["iOSVersion"])
      let known = [watchModel, phoneModel, watchOSVersion, iOSVersion]
      if known.allSatisfy({ $0 == nil }) { return nil }
    }
  }

  /// A file at the destination.
  package struct File: Hashable, Sendable, Codable {
    /// Its path below the destination.
    package var path: String
    /// The path that it would have if it were not encrypted; nil if it is not.
    package var clearPath: String?
    /// Its name as it arrived or was exported, with the folders that its run made for it.
    package var name: String
    /// Its media type.
    package var contentType: String
    package var byteCount: Int
    /// The SHA-256 of its bytes in hexadecimal digits.
    package var sha256: String

    package init(
      path: String, name: String, contentType: String, byteCount: Int, sha256: String
    ) {
      self.path = path
      self.name = name
      self.contentType = contentType
      self.byteCount = byteCount
      self.sha256 = sha256
    }
  }

  package init(
    uploadedAt: String, pipeline: String, originals: [File] = [], exports: [File] = [],
    transcripts: [File] = [], receipts: [File] = []
  ) {
    self.uploadedAt = uploadedAt
    self.pipeline = pipeline
    self.originals = originals
    self.exports = exports
    self.transcripts = transcripts
    self.receipts = receipts
    status = "uploaded"
    let first = originals.first ?? exports.first
    (storagePath, contentType) = (first?.path, first?.contentType)
  }

  /// The document's text: one line of JSON, with its names in order. Equal values give equal text.
  package func text() throws(SpoolError) -> String {
    do { return try jsonText() + "\n" } catch {
      throw SpoolError("cannot write the document about a recording", reason: "\(error)")
    }
  }

  /// Reads a document.
  /// - Parameter path: its file's, for messages.
  package init(text: String, at path: String) throws(SpoolError) {
    do { self = try Self(jsonText: text) } catch {
      throw SpoolError(
        "read", path, reason: "it is no document about a delivered recording: \(error)",
        cause: .input)
    }
  }
}

extension DeliveredRecording {
  /// Where the document of encrypted files would lie if it were not encrypted: where it says, else
  /// beside them; nil if they say nothing of that.
  package var clearPlace: RemotePath? {
    get throws(SpoolError) {
      if let clearPath { return try RemotePath(clearPath) }
      let file = exports.first ?? receipts.first ?? transcripts.first ?? originals.first
      guard let file, let clear = file.clearPath else { return nil }
      // A name has the folders that its run made for it.
      var folder = try RemotePath(clear).names.dropLast(max(1, file.name.pathNames.count))
      if folder.last == Self.originals { folder = folder.dropLast() }
      let stem = ExportName.stem(of: (originals.first ?? file).name.pathNames.last ?? "recording")
      return try RemotePath((folder + [stem + Self.ending]).joined(separator: "/"))
    }
  }
}
