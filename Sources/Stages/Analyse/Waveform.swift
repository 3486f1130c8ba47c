import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// `waveform`: the shape of the sound, for programs that show it and for people who look at it.
struct WaveformStage: DeclaredStage, VisualStage {
  struct Parameters: Codable, Sendable {
    let formats: [Format]?
    let samplesPerPixel: Int
    let levels: Int
    let bits: String
    let width: Int
    let height: Int
    let name: String
  }

  static let descriptor = StageDescriptor(
    kind: "waveform", revision: 1,
    summary: "Write the waveform as data at several zoom levels, and as a picture",
    discussion: """
      For every so many samples of each channel the lowest and the highest, as players and editors \
      on web pages read them: the data format, version 2, of the BBC's audiowaveform, binary \
      (`.dat`) and as JSON, which also has the root mean square. Every further level shows four \
      times as much a point, and has the samples per pixel in its name. The pictures (`.svg`, \
      `.png`) show the extent of the samples in a light colour and their root mean square in a \
      dark one, each channel in a lane, with marks in dBFS. Samples beyond full scale are drawn \
      and written as full scale; silence is a thin line. The sound passes on to the stages below \
      unchanged.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound to show")],
    outputs: WaveformStage.Format.allCases.map {
      Port($0.port, .file, "the .\($0.rawValue) file, where it is asked for")
    }
      + (1..<mostLevels).flatMap { number in
        [WaveformStage.Format.dat, .json].map {
          Port(
            $0.port(WaveformStage.Level(number: number, finest: 1)), .file,
            "zoom level \(number + 1) as .\($0.rawValue), where it is asked for")
        }
      },
    parameters: [
      ParameterDescriptor(
        "formats",
        .list(of: .choice(WaveformStage.Format.allCases.map(\.rawValue)), count: 1...4), .optional,
        "the files to write; without it all of them"),
      ParameterDescriptor(
        "samples-per-pixel", .integer(16...65536), .defaulted("256"),
        "samples behind a point of the finest level"),
      ParameterDescriptor(
        "levels", .integer(1...mostLevels), .defaulted("3"),
        "zoom levels, each four times as coarse as the one before"),
      ParameterDescriptor(
        "bits", .choice(["8", "16"]), .defaulted("8"), "the resolution of the data"),
    ] + PictureSize.parameters() + [PictureSize.name],
    shorthand: "formats")

  static var libraries: [String: String] { MediaLibraries.versions }

  private static let mostLevels = 6

  let formats: [WaveformStage.Format]
  let framesPerPoint: Int
  let levels: [WaveformStage.Level]
  let bits: WaveformData.Bits
  let size: PictureSize
  let name: String

  init(_ parameters: Parameters) {
    formats = (parameters.formats ?? Format.allCases).reduce(into: []) { formats, format in
      if !formats.contains(format) { formats.append(format) }
    }
    framesPerPoint = parameters.samplesPerPixel
    levels = (0..<parameters.levels).map {
      WaveformStage.Level(number: $0, finest: parameters.samplesPerPixel)
    }
    bits = parameters.bits == "16" ? .sixteen : .eight
    size = PictureSize(width: parameters.width, height: parameters.height)
    name = parameters.name
  }

  var outputs: [VisualOutput] {
    formats.flatMap { format in
      guard format == .dat || format == .json else {
        return [VisualOutput(port: format.port, ending: ".waveform.\(format.rawValue)")]
      }
      return levels.map { level in
        VisualOutput(
          port: format.port(level),
          ending: level.number == 0
            ? ".waveform.\(format.rawValue)"
            : ".waveform-\(level.framesPerPoint).\(format.rawValue)")
      }
    }
  }

  func makeSink(
    for stream: SoundOutline, in context: SinkContext
  ) throws(SpoolError) -> any SoundSink {
    try WaveformStage.Sink(self, stream.format, context)
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    let points = (stream.frames?.count ?? 0) / framesPerPoint + 1
    let peaks = points * stream.format.channelCount
    // A third more for the coarser levels; a value of the text form has up to five characters.
    let dataByteCount = peaks * bits.rawValue / 4 * 4 / 3
    let textByteCount = peaks * (bits == .eight ? 12 : 18) * 4 / 3
    var cost = SinkCost(byteCount: 12 * peaks, coreSeconds: 0.0003)
    for format in formats {
      let byteCount =
        switch format {
        case .dat: dataByteCount
        case .json: textByteCount
        case .svg: 60 * size.width * stream.format.channelCount
        case .png: size.width * size.height / 2
        }
      cost.byteCount += byteCount
      cost.publishedByteCount += byteCount
    }
    return cost
  }
}

extension StageRegistration { static let waveform = StageRegistration(WaveformStage.self) }

extension WaveformStage {
  /// The files that `waveform` can write.
  enum Format: String, Codable, CaseIterable, Sendable {
    case dat
    case json
    case svg
    case png

    /// Where a picture comes out, and the finest level of data.
    var port: PortName { PortName(rawValue) }

    /// Where a level of data comes out.
    func port(_ level: WaveformStage.Level) -> PortName {
      level.number == 0 ? port : PortName("\(rawValue)-\(level.number + 1)")
    }
  }

  /// A zoom level.
  struct Level: Hashable, Sendable {
    /// From 0, the finest.
    let number: Int
    /// Points of the finest level that make one of this.
    let factor: Int
    /// Frames that make one point.
    let framesPerPoint: Int

    /// Each level shows four times as much as the one before.
    init(number: Int, finest: Int) {
      self.number = number
      factor = 1 << (2 * number)
      framesPerPoint = finest * factor
    }
  }
}
