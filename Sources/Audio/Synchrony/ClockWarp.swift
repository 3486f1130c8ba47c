/// Reads a recording by another clock: each frame is interpolated where the map says that it lies.
/// Before the recording begins and behind its end there is silence.
package final class ClockWarp {
  private static let chunk = 1024
  /// Steps between two samples.
  private static let phaseCount = 1 << 20

  private let knots: [ClockMap.Knot]
  /// The knot before the next frame.
  private var knot = 0
  private let rate: Double
  /// The reference's time of the first frame that is given, in frames.
  private let start: Int
  private let reach: Int
  private let bank: PolyphaseBank
  private var rows: SampleRows
  /// The recording's frame at the start of the rows.
  private var origin: Int
  private var given = 0
  private var isOver = false
  /// Frames of the recording behind its end, when that is known.
  private var end = Int.max
  private var incoming: AudioBuffer
  private var taken = 0

  /// - Parameters:
  ///   - map: nil for the reference itself, which is only moved by whole frames.
  ///   - format: of the recording and of what is given.
  ///   - start: the reference's time of the first frame that is given, in frames.
  ///   - blockLength: the most frames that `next` gives at once.
  package init(_ map: ClockMap?, format: AudioFormat, start: Frames, blockLength: Frames) {
    knots = map?.knots ?? []
    rate = format.sampleRate.value
    self.start = start.count
    // As `Resampler` at its high quality: 125 dB, and 91 % of the band.
    let filter = KaiserSinc(
      inputRate: rate, outputRate: rate, bandwidth: 0.91, attenuation: 125)
    reach = filter.reach
    bank = PolyphaseBank(filter, phaseCount: Self.phaseCount)
    origin = -2 * reach
    rows = SampleRows(
      channelCount: format.channelCount, length: 4 * reach + Self.chunk, count: 2 * reach)
    incoming = AudioBuffer(channelCount: format.channelCount, capacity: blockLength)
  }

  /// Replaces the content of `output` with the next `count` frames.
  /// - Parameter next: gives the recording's next block; false at its end.
  package func read<Failure: Error>(
    _ count: Frames, into output: inout AudioBuffer,
    _ next: (inout AudioBuffer) throws(Failure) -> Bool
  ) throws(Failure) {
    output.frameCount = count
    for frame in 0..<count.count {
      let position = position(of: start + given)
      given += 1
      guard let position, case let whole = position.rounded(.down), case let index = Int(whole),
        index >= -reach, index < end
      else {
        silence(frame, of: &output)
        continue
      }
      try fetch(upTo: index + reach + 1, next)
      let phase = Int((position - whole) * Double(Self.phaseCount))
      for channel in 0..<output.channelCount {
        let sample: Float
        if knots.isEmpty {
          sample = unsafe rows[channel][index - origin]
        } else {
          sample = unsafe bank.point(
            rows[channel] + (index - reach + 1 - origin), phase: phase)
        }
        unsafe output.baseAddress(ofChannel: channel)[frame] = sample
      }
    }
  }

  /// Where a frame of the reference lies in the recording, in frames; nil where sound is missing in that.
  private func position(of frame: Int) -> Double? {
    guard !knots.isEmpty else { return Double(frame) }
    let time = Double(frame) / rate
    while knot + 2 < knots.count, knots[knot + 1].reference <= time { knot += 1 }
    let (a, b) = (knots[knot], knots[knot + 1])
    if a.recording == b.recording { return nil }
    let share = (time - a.reference) / (b.reference - a.reference)
    return (a.recording + share * (b.recording - a.recording)) * rate
  }

  private func silence(_ frame: Int, of output: inout AudioBuffer) {
    for channel in 0..<output.channelCount {
      unsafe output.baseAddress(ofChannel: channel)[frame] = 0
    }
  }

  /// Reads until the rows hold the frames before `last`; behind the recording's end they are silent.
  private func fetch<Failure: Error>(
    upTo last: Int, _ next: (inout AudioBuffer) throws(Failure) -> Bool
  ) throws(Failure) {
    while origin + rows.count < last {
      let needed = last - 2 * reach - origin
      if needed > 0 { drop(min(needed, rows.count)) }
      if taken < incoming.frameCount.count {
        taken += rows.append(incoming, from: taken, atMost: Self.chunk)
      } else if isOver {
        rows.appendSilence(min(reach, rows.length - rows.count))
      } else if try next(&incoming) {
        taken = 0
      } else {
        isOver = true
        incoming.frameCount = .zero
        taken = 0
        end = origin + rows.count
      }
    }
  }

  private func drop(_ count: Int) {
    rows.drop(count)
    origin += count
  }
}
