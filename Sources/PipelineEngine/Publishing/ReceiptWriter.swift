package import PipelineModel
package import Platform

/// Writes receipts: a run's inputs, work and outputs.
package protocol ReceiptWriter: Sendable {
  /// The program and the machine of the work.
  var host: Host { get }

  /// Checks, before any work, that receipts can be written at its end.
  func prepare() throws(SpoolError)

  /// What prevents every receipt at present; nil if nothing does. A long-running watch asks every
  /// few seconds.
  func obstacle() -> SpoolError?

  /// Checks, before any work, the files at a receipt's place. Registers again what an earlier
  /// receipt proves, though it was moved away and back.
  /// - Returns: the files that the receipt there covers, and which are as it says.
  /// - Throws: if a file is there that must not be replaced, before any other one is.
  func inspect(_ place: ReceiptPlace) throws(SpoolError) -> Set<String>

  /// Writes a receipt, after all that it covers is in the user's folder. An equal one that is
  /// already there stays.
  /// - Returns: the receipt, and its companions.
  func write(_ context: ReceiptContext) throws(SpoolError) -> [PublishedFile]

  /// The receipts beside a file that name it, and the SHA-256 that each states.
  /// - Parameter path: absolute.
  func receipts(covering path: String) -> [(path: String, digest: Digest)]

  /// The files that a receipt names; none if there is no receipt at this path.
  func files(coveredBy receipt: String) -> [String]
}

extension ReceiptWriter {
  /// Warnings of the receipts that cover other bytes than those of a file that took the place of
  /// another.
  /// - Parameters:
  ///   - path: the file; absolute.
  ///   - digest: its SHA-256; nil if it cannot be read.
  package func warnings(ofReplaced path: String, digest: Digest?) -> [String] {
    receipts(covering: path).filter { $0.digest != digest }.map { receipt in
      "\(path) is no longer what the receipt \(receipt.path) signs: \(command: .verify) calls that broken "
        + "until what signed it is run again"
    }
  }
}

/// The content of a receipt.
package struct ReceiptContext: Sendable {
  /// A step's inputs and outputs.
  package struct Work: Sendable {
    /// Its outcome in this run.
    package let record: StepRecord
    package let components: KeyComponents
    /// The earlier run that did the work; nil if this one did, or if unknown.
    package let maker: RunID?
    /// The earlier run's program and machine; nil if this one did the work, or if unknown.
    package let host: Host?
  }

  /// The run: every step is done, and every export published.
  package let run: RunRecord
  /// Its input files, by input.
  package let files: [String: SourceFile]
  /// In order.
  package let work: [Work]
  /// The recordings' origins, by input.
  package let origins: [String: RecordingOrigin]
  /// The step that asks for the receipt.
  package let step: StepID
  /// The names of the receipt and its companions, from `fileNames` of the stage.
  package let fileNames: [String]
  /// The recording that names the receipt; nil if unknown.
  package let recording: RecordingIdentity?
  /// The folder of the run's files and the receipt.
  package let folder: String
  /// The run's own folder, to be sealed; nil for the output folder.
  package let enclosure: ReceiptRequest.Enclosure?
  /// The authorities for the receipt's time stamp.
  package let authorities: [TimeStampAuthority]
  package let isReplacing: Bool
  /// The SHA-256 of the files that the run overwrote, by path: its own earlier exports, and on request
  /// those of another recording or pipeline, of another receipt, or of another program.
  package let replaced: [String: Digest]
  /// In seconds since 1970.
  package let now: Double
  package let store: any ArtifactStore
  package let exportFolder: any ExportFolder
}

extension PortName {
  /// The port of the sample hashes of this port: `wav-samples` for `wav`, `wav-samples.01` for a
  /// piece's `wav.01`.
  package var sampleHashes: PortName {
    let parts = name.split(separator: ".", maxSplits: 1)
    let kind = parts.first.map { "\($0)-samples" } ?? "samples"
    return PortName(([kind] + parts.dropFirst().map(String.init)).joined(separator: "."))
  }
}

/// A receipt's place, as known before any work.
package struct ReceiptPlace: Sendable {
  /// The folder of the run's files and the receipt.
  package let folder: String
  /// The folder of its time stamps.
  package let stampFolder: String
  /// The names of the receipt and its companions.
  package let fileNames: [String]
  /// The recording that names the receipt; nil if unknown.
  package let recording: RecordingIdentity?
  /// The SHA-256 of the pipeline's text; nil if unknown.
  package let pipelineDigest: Digest?
  /// Whether an export is still to be made, so that existing files will be replaced.
  package let isWorkPending: Bool
  package let exportFolder: any ExportFolder
}
