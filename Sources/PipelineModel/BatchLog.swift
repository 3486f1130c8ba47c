public import Hashing

/// What is remembered of one file of a batch.
public struct BatchEntry: Hashable, Sendable {
  /// How the file stood when it was last worked on.
  public enum State: String, Hashable, Sendable, Codable {
    /// Everything was done, and its exports were in the output folder.
    case done
    /// It failed.
    case failed
  }

  /// Its path below the batch's folder.
  public let path: String
  /// The digest of its bytes; nil where it could not be read.
  public let recording: Digest?
  /// The digest of its sidecar; nil where there was none.
  public let sidecar: Digest?
  /// The digest of everything that decided on its exports besides the recording and the sidecar.
  public let settings: Digest
  /// What its exports are called: a path below the output folder, without extension.
  public let name: String
  /// How it stood.
  public let state: State
  /// How long it is, in seconds; nil while unknown.
  public let mediaSeconds: Double?
  /// What is said of it, as JSON.
  public let report: String

  /// Describes a file.
  public init(
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

/// A remembered file beside what the disk says now.
public struct RecalledBatchEntry: Hashable, Sendable {
  /// What was remembered.
  public let entry: BatchEntry
  /// Whether the recording, every export and every artifact that is still in the store are the very
  /// files that they were then, going by their stamps.
  public let isCurrent: Bool

  /// Sets what was remembered beside what is.
  public init(entry: BatchEntry, isCurrent: Bool) {
    self.entry = entry
    self.isCurrent = isCurrent
  }
}

/// Where batches are remembered. Every method may be called from any thread. What it has written
/// outlives the process, and a power cut once anything durable was written later: a file whose memory
/// is lost is looked at again, and found done.
public protocol BatchLog: Sendable {
  /// Everything that is remembered of a batch. Takes one look at each file, and reads none: O(n).
  /// - Parameters:
  ///   - batch: names the batch.
  ///   - folder: the folder that the entries' paths are below.
  func entries(of batch: Digest, in folder: String) throws(StoreError) -> [RecalledBatchEntry]

  /// Remembers a file in place of what was remembered before.
  /// - Parameters:
  ///   - exports: the paths of its exports, which have been published.
  ///   - artifacts: what its run made or reused.
  func remember(
    _ entry: BatchEntry, of batch: Digest, exports: [String], artifacts: Set<Digest>
  ) throws(StoreError)
}
