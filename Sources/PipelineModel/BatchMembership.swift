/// The batch that a run does one file of.
public struct BatchMembership: Hashable, Sendable, Codable {
  /// The batch's name, which those of its runs begin with.
  public let batch: RunID
  /// The folder that the batch goes through, an absolute path.
  public let folder: String
  /// What the user types to go on with all of it; nil where that is not known.
  public let command: String?

  /// Describes a batch.
  public init(batch: RunID, folder: String, command: String?) {
    self.batch = batch
    self.folder = folder
    self.command = command
  }
}
