package import Audio
internal import CEBUR128

/// What libebur128, the reference implementation of EBU R 128, says of a sound.
package struct LibraryLoudness: Sendable {
  /// The integrated loudness; nil for silence and for less than 400 ms.
  package private(set) var integrated: LUFS?
  /// The loudness range, in LU; 0 for less than 3 s.
  package private(set) var range: Decibels?

  /// Measures a sound of at most eight channels; nil where the library refuses its format.
  package init?(of sound: TestSound) {
    var state = unsafe Self.state(of: sound)
    guard unsafe state != nil else { return nil }
    defer { unsafe ebur128_destroy(&state) }
    var value = 0.0
    unsafe ebur128_loudness_global(state, &value)
    if value.isFinite { integrated = LUFS(value) }
    unsafe ebur128_loudness_range(state, &value)
    if value.isFinite { range = Decibels(value) }
  }

  /// A measurement that has heard a sound; nil where the library refuses its format.
  @unsafe private static func state(of sound: TestSound) -> UnsafeMutablePointer<ebur128_state>? {
    let places = Self.places(sound.format.channelCount)
    let mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue
    var state = unsafe ebur128_init(
      UInt32(places.count), UInt(sound.format.sampleRate.value), Int32(mode))
    guard unsafe state != nil, places.count == sound.format.channelCount else { return nil }
    for (index, place) in places.enumerated() {
      unsafe ebur128_set_channel(state, UInt32(index), Int32(place.rawValue))
    }
    // Piece by piece, since interleaved copies of long sound would be much memory.
    for start in stride(from: 0, to: sound.frameCount.count, by: 4096) {
      let end = min(start + 4096, sound.frameCount.count)
      let status = unsafe sound[start..<end].interleaved.withUnsafeBufferPointer {
        unsafe ebur128_add_frames_float(state, $0.baseAddress, end - start)
      }
      guard status == Int32(EBUR128_SUCCESS.rawValue) else {
        unsafe ebur128_destroy(&state)
        return nil
      }
    }
    return unsafe state
  }

  /// The integrated loudness of several sounds together; nil where the library refuses one of them,
  /// or where there is none.
  package static func integrated(of sounds: [TestSound]) -> LUFS? {
    var states = unsafe [UnsafeMutablePointer<ebur128_state>?]()
    for sound in sounds { unsafe states.append(Self.state(of: sound)) }
    defer {
      for index in sounds.indices { unsafe ebur128_destroy(&states[index]) }
    }
    for index in sounds.indices where unsafe states[index] == nil { return nil }
    var value = 0.0
    unsafe states.withUnsafeMutableBufferPointer {
      _ = unsafe ebur128_loudness_global_multiple($0.baseAddress, sounds.count, &value)
    }
    return value.isFinite ? LUFS(value) : nil
  }

  /// The places of the channels in the order of libav and WAV files.
  private static func places(_ channelCount: Int) -> [channel] {
    let front = [EBUR128_LEFT, EBUR128_RIGHT, EBUR128_CENTER]
    let surround = [EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND]
    let side = [EBUR128_Mp090, EBUR128_Mm090]
    return switch channelCount {
    case 1...3: Array(front.prefix(channelCount))
    case 4: front.prefix(2) + surround
    case 5: front + surround
    case 6: front + [EBUR128_UNUSED] + surround
    case 7: front + [EBUR128_UNUSED, EBUR128_Mp180] + side
    case 8: front + [EBUR128_UNUSED, EBUR128_Mp135, EBUR128_Mm135] + side
    default: []
    }
  }
}
