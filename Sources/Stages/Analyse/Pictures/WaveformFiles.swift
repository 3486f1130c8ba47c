import Audio
import PipelineModel
import Platform

/// Writes the zoom levels of a waveform from the peaks of its finest.
struct WaveformFiles {
  let format: AudioFormat
  let frames: Frames
  let peaks: PeakFile
  let store: any ArtifactStore

  /// One level in the binary form.
  func binary(_ level: WaveformLevel, _ bits: WaveformData.Bits) throws(SpoolError) -> Artifact {
    let data = data(level, bits)
    var file = try VisualFile(in: store)
    try file.add { $0 += data.binaryHead }
    try peaks.forEachRun(joining: level.factor) { (_, peaks) throws(SpoolError) in
      try file.add { bytes in
        for peak in peaks { data.appendBinary(peak, to: &bytes) }
      }
    }
    return try file.seal()
  }

  /// One level in the text form.
  func text(_ level: WaveformLevel, _ bits: WaveformData.Bits) throws(SpoolError) -> Artifact {
    let data = data(level, bits)
    var file = try VisualFile(in: store)
    try file.add(data.textHead)
    try peaks.forEachRun(joining: level.factor) { (first, peaks) throws(SpoolError) in
      try file.add { bytes in
        for (index, peak) in peaks.enumerated() {
          if first + index > 0 { bytes.append(UInt8(ascii: ",")) }
          bytes.append(digitsOf: data.scaled(peak.lowest))
          bytes.append(UInt8(ascii: ","))
          bytes.append(digitsOf: data.scaled(peak.highest))
        }
      }
    }
    try file.add(data.textMiddle)
    try peaks.forEachRun(joining: level.factor) { (first, peaks) throws(SpoolError) in
      try file.add { bytes in
        for (index, peak) in peaks.enumerated() {
          let start = (first + index / format.channelCount) * level.framesPerPoint
          let count = min(level.framesPerPoint, frames.count - start)
          if first + index > 0 { bytes.append(UInt8(ascii: ",")) }
          bytes.append(digitsOf: data.scaled(peak.rms(of: count)))
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
  /// Adds a whole number of at most five decimal digits.
  fileprivate mutating func append(digitsOf value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let value = UInt32(value.magnitude)
    // Division by a constant is a multiplication.
    if value >= 10_000 { append(digit: value / 10_000) }
    if value >= 1000 { append(digit: value / 1000 % 10) }
    if value >= 100 { append(digit: value / 100 % 10) }
    if value >= 10 { append(digit: value / 10 % 10) }
    append(digit: value % 10)
  }

  private mutating func append(digit: UInt32) {
    append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
  }
}
