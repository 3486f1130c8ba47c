import AudioModel
import PipelineEngine
import PipelineModel

/// What is written down about the pieces of a split.
struct SplitReport: Codable {
  /// A piece, in seconds of the stream.
  struct Piece: Codable {
    /// Its number, as in the names of its files.
    let piece: String
    let from: Seconds
    let to: Seconds
    /// What its marker calls it.
    let title: String?
    /// The only channel that it has, or the first of several, counted from 1; nil where it has all.
    let channel: Int?
  }

  let sampleRate: Hertz
  let pieces: [Piece]
}

extension SplitReport {
  /// The frames at which the pieces begin, by their numbers, of the step that is published; nothing
  /// while that is not known.
  static func starts(of context: PublishingContext) throws(StageError) -> [String: Frames] {
    let outputs = context.lineage.outputs(of: context.step) ?? context.outputs
    guard let artifact = outputs[.measurement]?.artifact else { return [:] }
    let text: String
    do throws(StoreError) { text = try context.store.text(of: artifact) } catch {
      throw StageError(error)
    }
    let report = try Findings.decode(SplitReport.self, from: text)
    return Dictionary(
      report.pieces.map { ($0.piece, $0.from.frames(at: report.sampleRate)) },
      uniquingKeysWith: { first, _ in first })
  }
}

/// The files of a split, once all of them are whole.
struct SplitFiles {
  /// A piece and its files, by format.
  struct Piece {
    let range: Range<Frames>
    var title: String?
    var channel: Int?
    let files: [PortName: Artifact]
  }

  var pieces: [Piece] = []

  /// The outcome of the stage: every file at a port of its own, and the report.
  func result(
    of format: AudioFormat, in store: any ArtifactStore
  ) throws(StageError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    var report: [SplitReport.Piece] = []
    let rate = format.sampleRate
    for (index, piece) in pieces.enumerated() {
      let number = SplitName.number(index + 1, of: pieces.count)
      for (port, file) in piece.files { result.artifacts[SplitName.port(port, number)] = file }
      report.append(
        SplitReport.Piece(
          piece: number, from: piece.range.lowerBound.duration(at: rate),
          to: piece.range.upperBound.duration(at: rate), title: piece.title,
          channel: piece.channel))
    }
    do {
      result.artifacts[.measurement] = try store.keep(
        try Findings.json(SplitReport(sampleRate: rate, pieces: report)), as: .measurement)
    } catch let error as StoreError {
      throw StageError(error)
    } catch {
      throw StageError("cannot write down the pieces", reason: "\(error)")
    }
    return result
  }
}
