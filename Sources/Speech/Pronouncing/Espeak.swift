import CEspeak
import Synchronization

/// The one instance of libespeak-ng that a process can have: its calls take turns.
final class Espeak: Sendable {
  /// Samples in a second of what it speaks.
  let sampleRate: Int
  private let turn = Mutex(())

  private static let instance = Result { () throws(SpeechError) in try Espeak() }

  /// The instance, made at first use.
  static func shared() throws(SpeechError) -> Espeak { try instance.get() }

  private init() throws(SpeechError) {
    try SpeechLibraries.openEspeak()
    let options = Int32(espeakINITIALIZE_DONT_EXIT)
    let rate = espeak_Initialize(AUDIO_OUTPUT_RETRIEVAL, 0, nil, options)
    guard rate > 0 else {
      throw SpeechError(
        .library, on: "libespeak-ng", why: "it finds no voices; apt install espeak-ng-data")
    }
    sampleRate = Int(rate)
  }

  /// How a text is pronounced, in the International Phonetic Alphabet, with `_` between sounds.
  func phonemes(of text: String, voice: String) throws(SpeechError) -> String {
    try turn.withLock { _ throws(SpeechError) in
      try choose(voice)
      return unsafe text.withCString { start in
        var rest: UnsafeRawPointer? = unsafe UnsafeRawPointer(start)
        var clauses: [String] = []
        let mode = Int32(0x5F) << 8 | 0x02
        while unsafe rest != nil {
          guard let spoken = unsafe espeak_TextToPhonemes(&rest, Int32(espeakCHARS_UTF8), mode)
          else { break }
          unsafe clauses.append(String(cString: spoken))
        }
        return clauses.joined(separator: " ")
      }
    }
  }

  /// Speaks with a voice from now on; the turn is taken.
  private func choose(_ voice: String) throws(SpeechError) {
    guard unsafe espeak_SetVoiceByName(voice) == EE_OK else {
      throw SpeechError(.pronunciation, on: voice, why: "libespeak-ng has no such voice")
    }
  }
}
