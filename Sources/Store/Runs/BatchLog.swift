import PipelineModel
package import Platform

/// The stored result of one file of a batch.
package struct BatchEntry: Hashable, Sendable {
  /// The result of the last run on the file.
  package enum State: String, Hashable, Sendable, Codable {
    /// Everything was done, and its exports were in the output folder.
    case done
    case failed
  }

  /// Its path in the batch's folder.
  package let path: String
  /// The digest of its bytes; nil if it was unreadable.
  package let recording: Digest?
  /// The digest of its sidecar; nil if there was none.
  package let sidecar: Digest?
  /// The digest of all else that determines its exports.
  package let settings: Digest
  /// The path of its exports in the output folder, without extension.
  package let name: String
  package let state: State
  /// Its duration in seconds; nil while unknown.
  package let mediaSeconds: Double?
  /// Its report, as JSON.
  package let report: String

  package init(
    path: String, recording: Digest?, sidecar: Digest?, settings: Digest, name: String,
    state: State, mediaSeconds: Double?, report: String
  ) {
    self.path = path
    self.recording = recording
    self.sidecar = sidecar
    self.settings = settings
    self.name = name
    self.state = state
    self.mediaSeconds = mediaSeconds
    self.report = report
  }
}

/// A stored result compared with the disk.
package struct RecalledBatchEntry: Hashable, Sendable {
  package let entry: BatchEntry
  /// Whether the recording, every export and every artifact still in the store are unchanged, by
  /// their stamps.
  package let isCurrent: Bool
}

/// The results of batches. Methods may be called from any thread. Writes survive a crash, and a
/// power cut once a later durable write is flushed; a lost entry is rebuilt from the exports.
package protocol BatchLog: Sendable {
  /// All entries of a batch. Checks each file's stamp and reads none: O(n).
  /// - Parameters:
  /// - batch: identifies the batch.
  /// - folder: the folder of the entries' paths.
  func entries(of batch: Digest, in folder: String) throws(SpoolError) -> [RecalledBatchEntry]

  /// Replaces a file's entry.
  /// - Parameters:
  /// - exports: the paths of its published exports.
  /// - artifacts: what its run made or reused.
  func remember(
    _ entry: BatchEntry, of batch: Digest, exports: [String], artifacts: Set<Digest>
  ) throws(SpoolError)
}
