public import PipelineModel

/// Writes receipts: what a run took, did and gave.
public protocol RunWitness: Sendable {
  /// The program and the machine that do the work.
  var workplace: Workplace { get }

  /// Makes sure, before any work, that receipts can be written at its end.
  func prepare() throws(StageError)

  /// What is in the way of every receipt as things stand; nil where nothing is. To be asked every few
  /// seconds by whoever works for months.
  func obstacle() -> StageError?

  /// Looks, before any work, at what lies where a receipt is to go. What an earlier receipt vouches
  /// for is known again, though it was moved away and back.
  /// - Throws: where a file is there that may not be replaced, before any other one is.
  func inspect(_ place: ReceiptPlace) throws(StageError)

  /// The names of a receipt and what lies beside it, where no stage of the pipeline names them.
  /// - Parameter recording: the path of the recording that the run is called after.
  func fileNames(for recording: String) -> [String]

  /// Writes a receipt, once all that it vouches for is in the user's folder. One that is there
  /// already and says the same stays as it is.
  /// - Returns: the receipt, and what lies beside it.
  func testify(_ testimony: Testimony) throws(StageError) -> [PublishedFile]
}

/// All that a receipt is made of.
public struct Testimony: Sendable {
  /// What a step was made of and gave.
  public struct Work: Sendable {
    /// What became of it in this run.
    public let record: StepRecord
    /// What it was made of.
    public let components: KeyComponents
    /// The earlier run that did the work; nil where this one did, or no record tells.
    public let maker: RunID?
    /// The program and the machine that the earlier run did it by; nil where this one did, or no record
    /// tells.
    public let workplace: Workplace?
  }

  /// The run as it stands: every step is done, and every export published.
  public let run: RunRecord
  /// The steps in order.
  public let work: [Work]
  /// Where recordings come from, by input.
  public let origins: [String: RecordingOrigin]
  /// The step that asks for the receipt; the last one that exports, where none does.
  public let step: StepID
  /// The names of the receipt and what lies beside it, as `fileNames` of the stage or the witness
  /// gave them.
  public let fileNames: [String]
  /// The recording that the receipt is called after; nil where that is not known.
  public let recording: RecordingIdentity?
  /// Where the run's files are, and the receipt goes.
  public let folder: String
  /// The folder of its own that this is in, which is to be sealed; nil for the output folder.
  public let enclosure: Enclosure?
  /// Who is asked to vouch for the receipt's time.
  public let authorities: [TimeStampAuthority]
  /// Whether files that Spool did not write may be replaced.
  public let isReplacing: Bool
  /// The time, in seconds since 1970.
  public let now: Double
  /// Where artifacts are read.
  public let store: any ArtifactStore
  /// How files get into the user's folder.
  public let custody: any FileCustody
}
