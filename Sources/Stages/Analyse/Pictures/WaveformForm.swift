import Audio
import PipelineModel

/// The files that `waveform` can write.
enum WaveformFormat: String, CaseIterable, Sendable {
  case dat
  case json
  case svg
  case png

  /// Where a picture comes out, and the finest level of data.
  var port: PortName { PortName(rawValue) }

  /// Where a level of data comes out.
  func port(_ level: WaveformLevel) -> PortName {
    level.number == 0 ? port : PortName("\(rawValue)-\(level.number + 1)")
  }
}

/// What a waveform is written as.
struct WaveformForm: Sendable {
  static let mostLevels = 6

  let formats: [WaveformFormat]
  let framesPerPoint: Int
  let levels: [WaveformLevel]
  let bits: WaveformData.Bits
  let size: PictureSize

  /// The files, as far as they are asked for.
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
}
