import AudioModel
import DSP
import Media
import PipelineModel

/// `loudness-curve`: loudness from moment to moment, as figures and as a picture.
struct LoudnessCurveStage: DeclaredStage, SoundSinkStage, PublishingStage {
  struct Parameters: Codable, Sendable {
    let formats: [String]?
    let width: Int
    let height: Int
    let name: String
  }

  static let descriptor = StageDescriptor(
    kind: "loudness-curve", revision: 1,
    summary: "Write momentary and short-term loudness over time, and draw them",
    discussion: """
      Every 100 ms the momentary loudness of the last 400 ms and the short-term loudness of the \
      last 3 s after EBU R 128 (EBU Tech 3341), in LUFS, ungated. A window that the sound has not \
      filled yet, and one of nothing but zeros, has no figure: an empty field in CSV, null in \
      JSON. The pictures span -60 to 0 LUFS, with the integrated loudness as a thin line. The \
      sound passes on to the stages below unchanged.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound to measure")],
    outputs: LoudnessCurveFormat.allCases.map {
      Port($0.port, .file, "the .\($0.rawValue) file, where it is asked for")
    },
    parameters: [
      ParameterDescriptor(
        "formats",
        .list(of: .choice(LoudnessCurveFormat.allCases.map(\.rawValue)), count: 1...4), .optional,
        "the files to write; without it all of them")
    ] + PictureSize.parameters() + [PictureSize.name],
    shorthand: "formats")

  static var libraries: [String: String] { MediaVersions.all }

  private let formats: [LoudnessCurveFormat]
  private let size: PictureSize
  private let name: String

  init(_ parameters: Parameters) {
    let words = parameters.formats.map(Set.init)
    formats = LoudnessCurveFormat.allCases.filter { words?.contains($0.rawValue) ?? true }
    size = PictureSize(width: parameters.width, height: parameters.height)
    name = parameters.name
  }

  private var outputs: [LookOutput] {
    formats.map { LookOutput(port: $0.port, ending: ".loudness.\($0.rawValue)") }
  }

  func makeSink(for stream: SoundOutline, in context: SinkContext) -> any SoundSink {
    LoudnessCurveSink(
      formats, size,
      HearingMeter(
        { LoudnessCurveMeter(format: stream.format) }, resuming: context.work.resuming),
      store: context.store)
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    let steps = Int(10 * (stream.duration?.value ?? 0)) + 1
    var byteCount = 0
    for format in formats {
      switch format {
      case .csv: byteCount += 24 * steps
      case .json: byteCount += 14 * steps
      case .svg: byteCount += 60 * size.width
      case .png: byteCount += size.width * size.height / 4
      }
    }
    return SinkCost(byteCount: byteCount, publishedByteCount: byteCount, coreSeconds: 0.0004)
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    let stem = ExportName.fill(name, recording: recordings.first)
    return outputs.map { stem + $0.ending }
  }

  func publish(_ context: PublishingContext) throws(StageError) -> [PublishedFile] {
    try context.publish(outputs, name: name)
  }
}

/// The files that `loudness-curve` can write.
enum LoudnessCurveFormat: String, CaseIterable, Sendable {
  case csv
  case json
  case svg
  case png

  var port: PortName { PortName(rawValue) }
}
