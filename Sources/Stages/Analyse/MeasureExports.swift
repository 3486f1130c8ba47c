import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// `measure-exports`: finished files as listeners hear them, in figures.
private struct MeasureExportsStage: DeclaredStage, WholeStage {
  struct Parameters: Codable, Sendable { let truePeak: Decibels? }

  static let descriptor = StageDescriptor(
    kind: "measure-exports", revision: 2,
    summary: "Decode exported files, and measure what listeners hear",
    discussion: """
      Lossy codecs move peaks: sound that was limited to -1.5 dBTP may come back from AAC of \
      64 kbit/s at +2 dBTP, and clip in players. Name the files with files: [export.mp3, \
      export.m4a]. The figures are those of measure, for each file; with true-peak, a file that \
      decodes above it is warned of.
      """,
    flow: .whole,
    inputs: [Port(PortName("files"), .file, "the exported sound files", isList: true)],
    outputs: [Port(.measurement, .measurement, "the figures of each file, as JSON")],
    parameters: [
      ParameterDescriptor(
        "true-peak", .number(.decibelsTruePeak, -20...20), .optional,
        "the true peak above which a file is warned of")
    ])

  static var libraries: [String: String] { MediaLibraries.versions }

  private let truePeak: Decibels?

  init(_ parameters: Parameters) { truePeak = parameters.truePeak }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    var files: [Report.File] = []
    let count = context.inputs.count
    while let artifact = context.inputs[PortName("files.\(files.count + 1)")]?.artifact {
      let done = files.count
      let file = try measure(try context.store.path(of: artifact), context.check) {
        context.reportProgress((Double(done) + $0) / Double(count))
      }
      // What counts is the figure that is shown.
      if let limit = truePeak?.value,
        let peak = file.levels.truePeak?.tenths, peak > limit
      {
        let lower = ((2 * limit - peak) * 10).rounded(.down) / 10
        context.warn(
          "the \(file.codec) file decodes at \(Unit.decibelsTruePeak.format(peak)), above "
            + "\(Unit.decibelsTruePeak.format(limit)): a higher bit rate, or "
            + "true-peak: \(Unit.decibelsTruePeak.format(lower)) of normalize, leaves more room")
      }
      files.append(file)
    }
    let report = try Findings.json(Report(files: files))
    let artifact = try context.store.keep(report, as: .measurement)
    return [.measurement: StepOutput(artifact)]
  }

  private func measure(
    _ path: String, _ check: () throws(SpoolError) -> Void,
    _ reportProgress: (Double) -> Void
  ) throws(SpoolError) -> Report.File {
    let found = try ExportedSound.measure(path) { (share) throws(SpoolError) in
      try check()
      if let share { reportProgress(share) }
    }
    guard let levels = found.levels else { throw SpoolError("\(path) was not measured") }
    return Report.File(codec: try MediaProbe.describe(SourceFile(path)).codec, levels: levels)
  }

  private struct Report: Codable {
    struct File: Codable {
      /// `mp3`, `aac`, `opus`, `vorbis`, `alac`, `flac` or a kind of PCM.
      let codec: String
      let levels: Levels
    }

    let files: [File]
  }
}

extension StageRegistration {
  static let measureExports = StageRegistration(MeasureExportsStage.self)
}
