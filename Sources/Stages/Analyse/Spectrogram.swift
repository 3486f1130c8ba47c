import Audio
import Glibc
import Media
import PipelineModel
import Platform
import SoundEngine

/// `spectrogram`: which frequencies there are, and when, as a picture.
struct SpectrogramStage: DeclaredStage, VisualStage {
  struct Parameters: Codable, Sendable {
    let scale: SpectrumGatherer.Scale
    let window: String
    let range: Decibels
    let top: Hertz?
    let width: Int
    let height: Int
    let name: String
  }

  static let descriptor = StageDescriptor(
    kind: "spectrogram", revision: 1,
    summary: "Draw which frequencies there are, and when",
    discussion: """
      Powers under a Hann window, the mean of all windows whose middles lie in a column, from 0 \
      dBFS, the level of a full-scale sine, down to `-range`; what is quieter looks like silence. \
      Each channel has a lane; the scale of the colours stands on the right. Where a row of pixels \
      stands for several bins, it shows the greatest, so that a faint tone stays visible. The \
      sound passes on to the stages below unchanged.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound to show")],
    outputs: [Port(SpectrogramStage.Sink.port, .file, "the picture, as PNG")],
    parameters: [
      ParameterDescriptor(
        "scale", .choice(SpectrumGatherer.Scale.allCases.map(\.rawValue)), .defaulted("mel"),
        "how frequencies are laid out: as the ear has them, evenly, or by octaves"),
      ParameterDescriptor(
        "window", .choice(["512", "1024", "2048", "4096", "8192"]), .defaulted("2048"),
        "samples in a window: more tell tones apart, fewer tell moments apart"),
      ParameterDescriptor(
        "range", .number(.decibels, 20...160), .defaulted("100 dB"),
        "how far below full scale the colours reach"),
      ParameterDescriptor(
        "top", .number(.hertz, 500...384_000), .optional,
        "the highest frequency shown; without it half the sample rate"),
    ] + PictureSize.parameters(widths: 200...4000, heights: 120...2000) + [PictureSize.name])

  static var libraries: [String: String] { MediaLibraries.versions }

  let scale: SpectrumGatherer.Scale
  let window: Int
  let range: Decibels
  let size: PictureSize
  private let top: Hertz?
  let name: String

  init(_ parameters: Parameters) throws(SpoolError) {
    guard let window = Int(parameters.window) else {
      throw SpoolError("spectrogram knows no window of \(parameters.window)")
    }
    scale = parameters.scale
    self.window = window
    range = parameters.range
    top = parameters.top
    size = PictureSize(width: parameters.width, height: parameters.height)
    name = parameters.name
  }

  /// The frequency at the top of each lane.
  func topFrequency(of format: AudioFormat) -> Hertz {
    let half = format.sampleRate.value / 2
    return Hertz(min(top?.value ?? half, half))
  }

  var outputs: [VisualOutput] {
    [VisualOutput(port: SpectrogramStage.Sink.port, ending: ".spectrogram.png")]
  }

  func makeSink(
    for stream: SoundOutline, in context: SinkContext
  ) throws(SpoolError) -> any SoundSink {
    try SpectrogramStage.Sink(self, stream.format, context)
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    let pixels = size.width * size.height
    // A file of at most twice as many columns as pixels, four bytes a row, for each joining.
    let shortest = 64.0 * 2 * Double(size.width)
    let joinings = max(1, log2(Double(stream.frames?.count ?? 0) / shortest) + 2)
    return SinkCost(
      byteCount: Int(joinings * 8) * pixels + pixels, publishedByteCount: pixels,
      coreSeconds: 0.0004 * Double(stream.format.channelCount))
  }
}

extension StageRegistration { static let spectrogram = StageRegistration(SpectrogramStage.self) }
