public import Hashing
public import PipelineModel

/// Where a receipt is to go, as it is known before any work.
public struct ReceiptPlace: Sendable {
  /// The folder that the run's files and the receipt go into.
  public let folder: String
  /// The folder that its time stamps go into.
  public let stampFolder: String
  /// The names of the receipt and what lies beside it.
  public let fileNames: [String]
  /// The recording that the receipt is called after; nil where that is not known.
  public let recording: RecordingIdentity?
  /// The SHA-256 of the pipeline's text; nil where that is not known.
  public let pipelineDigest: Digest?
  /// Whether an export is still to be made, so that the files there will be replaced.
  public let isWorkPending: Bool
  /// How files get into the user's folder.
  public let custody: any FileCustody
}
