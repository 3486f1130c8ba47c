import AudioModel
import DSP
import Media
import PipelineModel

/// `export`: finished files in several formats at once.
struct ExportStage: SoundSinkStage, PublishingStage {
  struct Parameters: Codable, Sendable {
    let formats: [String]
    let wav: Linear
    let m4a: Lossy
    let alac: Linear
    let flac: Flac
    let dither: String
    let name: String
    let tags: Bool
  }

  struct Linear: Codable, Sendable { let bits: String }
  struct Lossy: Codable, Sendable { let bitRate: Double }
  struct Flac: Codable, Sendable {
    let bits: String
    let compression: Int
  }

  static let descriptor = StageDescriptor(
    kind: "export", revision: 4,
    summary: "Write WAV, M4A (AAC), ALAC and FLAC files, several at once",
    discussion: """
      The formats are encoded side by side. Reducing to 16 or 24 bits adds TPDF dither, except to \
      samples that already fit, so that an untouched recording stays bit-exact. WAV grows into \
      RF64 beyond 4 GB. Tags and cover art of the recording are carried over when the files are \
      put into the output folder; a recording that was only retagged is not encoded again.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound to export")],
    outputs: ExportFormat.allCases.map {
      Port($0.port, .file, "the \($0.rawValue) file, where it is asked for")
    },
    parameters: [
      ParameterDescriptor(
        "formats", .list(of: .choice(ExportFormat.allCases.map(\.rawValue)), count: 1...4),
        .required, "the files to write"),
      ParameterDescriptor(
        "wav",
        .group([
          ParameterDescriptor(
            "bits", .choice(["16", "24", "float"]), .defaulted("24"), "the sample format")
        ]), .defaulted(""), "how WAV is written"),
      ParameterDescriptor(
        "m4a",
        .group([
          ParameterDescriptor(
            "bit-rate", .number(.kilobits, 16...512), .defaulted("128 kbit/s"),
            "the bit rate of all channels together")
        ]), .defaulted(""), "how AAC is encoded"),
      ParameterDescriptor(
        "alac",
        .group([
          ParameterDescriptor("bits", .choice(["16", "24"]), .defaulted("24"), "the sample format")
        ]), .defaulted(""), "how Apple Lossless is encoded"),
      ParameterDescriptor(
        "flac",
        .group([
          ParameterDescriptor(
            "bits", .choice(["16", "24"]), .defaulted("24"), "the sample format"),
          ParameterDescriptor(
            "compression", .integer(0...12), .defaulted("5"), "smaller files for more work"),
        ]), .defaulted(""), "how FLAC is encoded"),
      ParameterDescriptor(
        "dither", .choice(["tpdf", "none"]), .defaulted("tpdf"),
        "the noise that keeps reduced sound linear"),
      ParameterDescriptor(
        "name", .text(maximumLength: 200), .defaulted("{stem}"),
        "the files' name; {stem} is the recording's", isInKey: false),
      ParameterDescriptor(
        "tags", .flag, .defaulted("true"), "carry tags and cover art over", isInKey: false),
    ],
    shorthand: "formats")

  static var libraries: [String: String] { MediaVersions.all }

  private let targets: [ExportTarget]
  private let name: String
  private let carriesTags: Bool

  init(_ parameters: Parameters) throws(StageError) {
    var targets: [ExportTarget] = []
    for word in parameters.formats {
      guard let format = ExportFormat(rawValue: word) else {
        throw StageError("export knows no format \(word)")
      }
      guard !targets.contains(where: { $0.format == format }) else {
        throw StageError("export names the format \(word) twice", advice: "each format once")
      }
      let spec = ExportStage.spec(format, parameters)
      targets.append(
        ExportTarget(format: format, spec: spec, isDithered: parameters.dither == "tpdf"))
    }
    self.targets = targets
    name = parameters.name
    carriesTags = parameters.tags
  }

  private static func spec(_ format: ExportFormat, _ parameters: Parameters) -> ExportSpec {
    func depth(_ bits: String) -> ExportSpec.IntegerDepth { bits == "16" ? .bits16 : .bits24 }
    return switch format {
    case .wav:
      .wav(parameters.wav.bits == "float" ? .float32 : .integer(depth(parameters.wav.bits)))
    case .m4a: .aac(bitRate: Int(parameters.m4a.bitRate))
    case .alac: .alac(depth(parameters.alac.bits))
    case .flac: .flac(depth(parameters.flac.bits), level: parameters.flac.compression)
    }
  }

  func makeSink(
    for stream: SoundOutline, in context: SinkContext
  ) throws(StageError) -> any SoundSink {
    try ExportSink(targets, stream, context)
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    var cost = SinkCost()
    for target in targets {
      let bytes = target.byteCount(of: stream)
      cost.byteCount += bytes
      cost.scratchByteCount += target.scratchByteCount(of: stream)
      cost.publishedByteCount += bytes
      cost.coreSeconds += target.coreSeconds * Double(stream.format.channelCount) / 2
    }
    return cost
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    let stem = ExportName.fill(name, recording: recordings.first)
    return targets.map { stem + $0.format.fileExtension }
  }

  func publish(_ context: PublishingContext) throws(StageError) -> [PublishedFile] {
    let names = fileNames(of: context.step, recordings: context.names)
    let tags =
      carriesTags ? try ExportTags(ofRecording: context.recordings.first) : ExportTags()
    var files: [PublishedFile] = []
    for (target, name) in zip(targets, names) {
      guard let artifact = context.outputs[target.format.port]?.artifact else { continue }
      files.append(
        try context.publish(
          artifact, as: name, tags: tags, spec: target.spec))
    }
    return files
  }
}
