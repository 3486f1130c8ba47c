import AudioModel
import DSP
import PipelineModel

/// Writes the zoom levels of a waveform from the peaks of its finest.
struct WaveformFiles {
  let format: AudioFormat
  let frames: Frames
  let peaks: PeakFile
  let store: any ArtifactStore

  /// One level in the binary form.
  func binary(_ level: WaveformLevel, _ bits: WaveformData.Bits) throws(StageError) -> Artifact {
    let data = data(level, bits)
    var file = try LookFile(in: store)
    try file.add { $0 += data.binaryHead }
    try peaks.forEachPoint(joining: level.factor) { (_, peaks) throws(StageError) in
      try file.add { bytes in
        for peak in peaks { data.appendBinary(peak, to: &bytes) }
      }
    }
    return try file.seal()
  }

  /// One level in the text form.
  func text(_ level: WaveformLevel, _ bits: WaveformData.Bits) throws(StageError) -> Artifact {
    let data = data(level, bits)
    var file = try LookFile(in: store)
    try file.add(data.textHead)
    try peaks.forEachPoint(joining: level.factor) { (index, peaks) throws(StageError) in
      try file.add { bytes in
        for (channel, peak) in peaks.enumerated() {
          let isFirst = index == 0 && channel == 0
          bytes.append(data.scaled(peak.lowest), after: isFirst ? nil : ",")
          bytes.append(data.scaled(peak.highest), after: ",")
        }
      }
    }
    try file.add(data.textMiddle)
    try peaks.forEachPoint(joining: level.factor) { (index, peaks) throws(StageError) in
      let count = min(level.framesPerPoint, frames.count - index * level.framesPerPoint)
      try file.add { bytes in
        for (channel, peak) in peaks.enumerated() {
          let isFirst = index == 0 && channel == 0
          bytes.append(data.scaled(peak.rms(of: count)), after: isFirst ? nil : ",")
        }
      }
    }
    try file.add(data.textEnd)
    return try file.seal()
  }

  private func data(_ level: WaveformLevel, _ bits: WaveformData.Bits) -> WaveformData {
    WaveformData(
      format: format, framesPerPoint: level.framesPerPoint,
      pointCount: (peaks.pointCount + level.factor - 1) / level.factor, bits: bits)
  }
}

/// A zoom level.
struct WaveformLevel: Hashable, Sendable {
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

extension [UInt8] {
  /// Adds a whole number in decimal digits, after a separator where there is one.
  fileprivate mutating func append(_ value: Int, after separator: Unicode.Scalar?) {
    if let separator { append(UInt8(ascii: separator)) }
    if value < 0 { append(UInt8(ascii: "-")) }
    let digits = value.magnitude
    var divisor: UInt = 1
    while digits / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(digits / divisor % 10))
      divisor /= 10
    }
  }
}
