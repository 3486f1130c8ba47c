package import PipelineModel
package import Platform
package import Store

/// What is known of a recording beside its run.
extension QueuedRunDelivery {
  /// What lies beside a recording that came through no inbox, and what it says.
  package struct Sidecar: Sendable {
    package let path: String
    package let digest: Digest
    package let byteCount: Int
    /// `noteId`, `createdAt`, `title`, and those about devices.
    package let facts: [String: String]
    package let tags: [String]
    package let isSensitive: Bool

    package init(
      _ path: String, _ bytes: [UInt8], facts: [String: String], tags: [String],
      isSensitive: Bool
    ) {
      (self.path, byteCount) = (path, bytes.count)
      digest = SHA256.digest(of: bytes)
      (self.facts, self.tags, self.isSensitive) = (facts, tags, isSensitive)
    }
  }

  /// What is known of the recording beside its run.
  package struct Subject: Sendable {
    /// The recording of an inbox that waits for the deliveries; nil for the run.
    package var recording: RecordingKey?
    /// Its device's name for it.
    package var noteID: String?
    package var title: String?
    /// Whether nothing of it leaves the machine before a person releases it.
    package var isSensitive = false
    /// Its length, as its sidecar or container says.
    package var milliseconds: Int?
    /// The user's tags, in order.
    package var tags: [String] = []
    /// The fields of its sidecar about devices, by name.
    package var devices: [String: String] = [:]
    /// ISO 8601, as the device wrote it; perhaps no more than a month or a year.
    package var createdAt: String?
    /// What `{date}` stands for in its paths; nil if that follows from ``createdAt`` alone.
    package var date: String?
    /// In seconds since 1970.
    package var receivedAt: Double?
    /// The name of its file as it arrived.
    package var name: String?
    /// Its folders below its inbox.
    package var folder: String?
    /// Further files that arrived with it, in the store.
    package var companions: [(name: String, artifact: Artifact)] = []
    /// Those of recordings that came through no inbox.
    var sidecars: [Sidecar] = []

    package init() {}
  }
}
