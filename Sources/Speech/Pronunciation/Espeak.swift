import CEspeak
import Platform
import Synchronization

/// The one instance of libespeak-ng that a process can have. Its calls are serialised.
final class Espeak: Sendable {
  /// Samples in a second of what it speaks.
  let sampleRate: Int
  private static let lock = Mutex(())

  private static let instance = Result { () throws(SpoolError) in try Espeak() }

  /// Calls the library, which need not be initialised, while no other thread does.
  static func withLibrary<Result>(_ body: () -> sending Result) -> sending Result {
    lock.withLock { _ in body() }
  }

  /// The instance, made at first use.
  static func shared() throws(SpoolError) -> Espeak { try instance.get() }

  private init() throws(SpoolError) {
    try SpeechLibraries.openEspeak()
    sampleRate = try Self.makeReady()
  }

  /// Makes the library ready to speak on the caller's thread; gives its sample rate.
  private static func makeReady() throws(SpoolError) -> Int {
    let options = Int32(espeakINITIALIZE_DONT_EXIT)
    let rate = espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, nil, options)
    guard rate > 0 else {
      throw SpoolError(
        "cannot use libespeak-ng", reason: "it finds no voices; apt install espeak-ng-data",
        cause: .environment)
    }
    return Int(rate)
  }

  /// What a voice makes of texts, one after the other. It depends on them and on the voice alone:
  /// the library forgets beforehand what it said before.
  ///
  /// Complexity: about 1 s for 15 minutes of speech, and 10 ms.
  func speak(_ texts: [String], voice: String, wordsPerMinute: Int) throws(SpoolError)
    -> [SyntheticSpeech]
  {
    try Self.lock.withLock { _ throws(SpoolError) in
      try SpeechLibraries.reopenEspeak()
      _ = try Self.makeReady()
      try choose(voice)
      espeak_SetParameter(espeakRATE, Int32(wordsPerMinute), 0)
      return texts.map { SyntheticSpeech.of($0, sampleRate: sampleRate) }
    }
  }

  /// The voices that need nothing but the library, without its voices for MBROLA.
  func voices() -> [SyntheticVoice] {
    Self.lock.withLock { _ in SyntheticVoice.all() }
  }

  /// How a text is pronounced, in the International Phonetic Alphabet, with `_` between sounds.
  func phonemes(of text: String, voice: String) throws(SpoolError) -> String {
    try Self.lock.withLock { _ throws(SpoolError) in
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

  /// Selects the voice of all later speech. The caller holds the lock.
  private func choose(_ voice: String) throws(SpoolError) {
    guard unsafe espeak_SetVoiceByName(voice) == EE_OK else {
      throw SpoolError("cannot pronounce \(voice)", reason: "libespeak-ng has no such voice")
    }
  }
}
