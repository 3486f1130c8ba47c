import CEspeak
import CSpeechLoader

/// What libespeak-ng says, and when each of its words begins.
struct SyntheticSpeech {
  /// A word as the library understands it: of one written word there may be several.
  struct Word: Hashable {
    /// The number of its first Unicode scalar in the text.
    let place: Int
    /// When it begins, in seconds.
    let start: Double
  }

  /// One channel, 16 bits.
  var samples: [Int16] = []
  /// In the order in which they are spoken.
  var words: [Word] = []

  /// Says a text with the voice that is chosen. The library's turn is taken.
  static func of(_ text: String, sampleRate: Int) -> SyntheticSpeech {
    let take = Take()
    unsafe espeak_SetSynthCallback(takeSpeech)
    let bytes = Array(text.utf8CString)
    _ = unsafe bytes.withUnsafeBytes {
      unsafe espeak_Synth(
        $0.baseAddress, $0.count, 0, POS_CHARACTER, 0, UInt32(espeakCHARS_UTF8), nil,
        Unmanaged.passUnretained(take).toOpaque())
    }
    return take.speech
  }

  /// What one call of the library has said so far.
  fileprivate final class Take {
    var speech = SyntheticSpeech()
  }
}

/// Called by libespeak-ng for every few milliseconds of speech. A function of its own: what is
/// written where it is handed over would be checked for the caller's thread.
private func takeSpeech(
  _ samples: UnsafeMutablePointer<Int16>?, _ count: Int32,
  _ events: UnsafeMutablePointer<espeak_EVENT>?
) -> Int32 {
  guard let events = unsafe events, let pointer = unsafe events.pointee.user_data else { return 0 }
  let take = unsafe Unmanaged<SyntheticSpeech.Take>.fromOpaque(pointer).takeUnretainedValue()
  if let samples = unsafe samples, count > 0 {
    unsafe take.speech.samples.append(
      contentsOf: UnsafeBufferPointer(start: samples, count: Int(count)))
  }
  var event = unsafe events
  while unsafe event.pointee.type != espeakEVENT_LIST_TERMINATED {
    // Events without a length are pauses that the library counts as words.
    if unsafe event.pointee.type == espeakEVENT_WORD, unsafe event.pointee.length > 0 {
      let start = unsafe Double(event.pointee.audio_position) / 1000
      let place = unsafe Int(event.pointee.text_position) - 1
      take.speech.words.append(SyntheticSpeech.Word(place: place, start: start))
    }
    unsafe event += 1
  }
  return 0
}
