import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// `decode`: from a recording in any format to sound.
struct DecodeStage: DeclaredStage, SoundSourceStage {
  struct Parameters: Codable, Sendable {
    let sampleRate: Hertz?
    let channels: Int?
    let stream: Int?
    let damaged: String
  }

  static let descriptor = StageDescriptor(
    kind: "decode", revision: 5,
    summary: "Open a recording in any format that FFmpeg reads",
    discussion: """
      Takes the best sound stream, whatever cover art or video lies beside it; where there are \
      several sound streams, a warning says which. Priming and padding \
      of the codec are cut off. What it gives is known by the digest of its samples: a recording \
      that was renamed, retagged or put into another container is the same sound to the stages \
      below. With damaged: keep, silence takes the place of lost sound, and what follows stays where \
      it was as far as the file tells; the summary, batch.json, acknowledgements and receipts say what \
      was lost.
      """,
    flow: .streaming(.sound, .source),
    inputs: [Port(PortName("recording"), .sound, "the recording's file", intake: .recording)],
    outputs: [
      Port(.sound, .sound, "the decoded sound"),
      Port(.measurement, .measurement, "what was found in the file, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "sample-rate", .number(.hertz, 4000...768_000), .optional,
        "convert to this rate; without it the recording keeps its own"),
      ParameterDescriptor(
        "channels", .integer(1...8), .optional, "mix to so many channels"),
      ParameterDescriptor(
        "stream", .integer(0...1000), .optional, "take this stream of the file, counted from 0"),
      ParameterDescriptor(
        "damaged", .choice(["refuse", "keep"]), .defaulted("refuse"),
        "whether a damaged recording fails, or what could be decoded is kept"),
    ])

  static var libraries: [String: String] { MediaLibraries.versions }

  private let options: DecoderOptions

  init(_ parameters: Parameters) {
    options = DecoderOptions(
      sampleRate: parameters.sampleRate, channelCount: parameters.channels,
      stream: parameters.stream, keepsDamaged: parameters.damaged == "keep")
  }

  /// What it gives of a recording in this format.
  func format(of recording: AudioFormat) -> AudioFormat {
    options.format(of: recording)
  }

  func open(_ inputs: [SoundInput]) throws(SpoolError) -> any SoundSource {
    try RecordedSound(try recording(inputs), options, isReported: true)
  }

  func outline(of inputs: [SoundInput]) throws(SpoolError) -> SoundOutline {
    SoundOutline(try SoundDecoder(try recording(inputs), options: options))
  }

  private func recording(_ inputs: [SoundInput]) throws(SpoolError) -> SourceFile {
    guard let input = inputs.first else { throw SpoolError("there is no recording") }
    return try input.file()
  }
}

extension StageRegistration { static let decode = StageRegistration(DecodeStage.self) }
