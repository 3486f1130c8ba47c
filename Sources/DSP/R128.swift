import AudioModel
import CEBUR128

/// A loudness measurement of EBU R 128 under way in libebur128: the one owner of its handle.
///
/// The channels are taken in the order in which libav and WAV files have them: mono; left, right;
/// left, right, centre; four: left, right and two surrounds; five: left, right, centre and two
/// surrounds; six and more add the low-frequency channel, which does not count, and then the back
/// channels. Of more than eight channels nobody knows the places: each counts with weight 1.
@safe final class R128 {
  /// Nil where libebur128 has no memory or the format is beyond it (below 16 Hz).
  private let state: UnsafeMutablePointer<ebur128_state>?
  private let channelCount: Int
  private static let chunk = 512
  private let interleaved: Scratch<Float>

  /// What is to be found.
  enum Purpose {
    case integrated
    case integratedAndRange
  }

  init(_ purpose: Purpose, format: AudioFormat) {
    channelCount = format.channelCount
    interleaved = Scratch(repeating: 0, count: Self.chunk * channelCount)
    var mode = EBUR128_MODE_I.rawValue
    if purpose == .integratedAndRange { mode |= EBUR128_MODE_LRA.rawValue }
    unsafe state = ebur128_init(
      UInt32(channelCount), UInt(format.sampleRate.value.rounded()), Int32(mode))
    guard unsafe state != nil else { return }
    for (index, place) in Self.places(channelCount).enumerated() {
      unsafe ebur128_set_channel(state, UInt32(index), Int32(place.rawValue))
    }
  }

  deinit {
    var state = unsafe self.state
    if unsafe state != nil { unsafe ebur128_destroy(&state) }
  }

  private static func places(_ channelCount: Int) -> [channel] {
    let front = [EBUR128_LEFT, EBUR128_RIGHT, EBUR128_CENTER]
    let surround = [EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND]
    return switch channelCount {
    case 1...3: Array(front.prefix(channelCount))
    case 4: front.prefix(2) + surround
    case 5: front + surround
    case 6: front + [EBUR128_UNUSED] + surround
    case 7: front + [EBUR128_UNUSED, EBUR128_Mp180, EBUR128_Mp090, EBUR128_Mm090]
    case 8:
      front + [EBUR128_UNUSED, EBUR128_Mp135, EBUR128_Mm135, EBUR128_Mp090, EBUR128_Mm090]
    default: Array(repeating: EBUR128_LEFT, count: channelCount)
    }
  }

  /// Listens to the next block. The library allocates a little for every 100 ms.
  func add(_ block: borrowing AudioBuffer) {
    guard unsafe state != nil else { return }
    let frames = unsafe interleaved.start
    for start in stride(from: 0, to: block.frameCount.count, by: Self.chunk) {
      let count = min(Self.chunk, block.frameCount.count - start)
      for channel in 0..<channelCount {
        let samples = unsafe block.baseAddress(ofChannel: channel) + start
        for index in 0..<count {
          unsafe frames[index &* channelCount &+ channel] = FiniteSamples.filtered(samples[index])
        }
      }
      unsafe ebur128_add_frames_float(state, frames, count)
    }
  }

  /// The integrated loudness; nil for silence and for less than 400 ms.
  func integrated() -> LUFS? {
    var value = 0.0
    guard unsafe state != nil,
      unsafe ebur128_loudness_global(state, &value) == Int32(EBUR128_SUCCESS.rawValue),
      value.isFinite
    else { return nil }
    return LUFS(value)
  }

  /// The loudness range, in LU; nil unless it was asked for, and where there is no loudness.
  func range() -> Decibels? {
    var value = 0.0
    guard integrated() != nil,
      unsafe ebur128_loudness_range(state, &value) == Int32(EBUR128_SUCCESS.rawValue),
      value.isFinite
    else { return nil }
    return Decibels(value)
  }
}
