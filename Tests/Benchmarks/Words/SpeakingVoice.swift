import CEspeak
import CSpeechLoader

/// A voice of libespeak-ng, which tells when each of its words begins.
struct SpeakingVoice {
  /// Two American, one British and one Scottish man, and two women; all speak English.
  static let all = ["en-us", "en", "en-us+f3", "en-us+m3", "en-gb-scotland", "en-us+f5"]

  let name: String

  /// Silence before and after what is spoken, in seconds.
  private static let edge = 0.3

  /// Samples a second. The library is made ready once, and speaks on the caller's thread: made
  /// ready again while a thread of its own still runs, it destroys its memory.
  private static let rate = espeak_Initialize(
    AUDIO_OUTPUT_SYNCHRONOUS, 0, nil,
    Int32(espeakINITIALIZE_DONT_EXIT | espeakINITIALIZE_PHONEME_EVENTS))

  /// What the voice says, 160 words a minute unless told otherwise.
  func speak(_ text: String, wordsPerMinute: Int32 = 160) throws(BenchmarkError) -> TimedSpeech {
    var reason = [CChar](repeating: 0, count: 256)
    let status = unsafe reason.withUnsafeMutableBufferPointer {
      unsafe spool_espeak_load($0.baseAddress, $0.count)
    }
    guard status == 0 else {
      throw BenchmarkError("libespeak-ng is not installed", "on Debian: apt install libespeak-ng1")
    }
    let rate = Self.rate
    guard rate > 0, unsafe espeak_SetVoiceByName(name) == EE_OK else {
      throw BenchmarkError(
        "espeak-ng has no voice \(name)", "on Debian: apt install espeak-ng-data")
    }
    espeak_SetParameter(espeakRATE, wordsPerMinute, 0)
    unsafe espeak_SetSynthCallback(takeSpeech)
    let spoken = Spoken()
    let bytes = Array(text.utf8CString)
    _ = unsafe bytes.withUnsafeBytes {
      unsafe espeak_Synth(
        $0.baseAddress, $0.count, 0, POS_CHARACTER, 0, UInt32(espeakCHARS_UTF8), nil,
        Unmanaged.passUnretained(spoken).toOpaque())
    }
    espeak_Synchronize()
    let silence = [Int16](repeating: 0, count: Int(Self.edge * Double(rate)))
    return TimedSpeech(
      name: name, words: spoken.words(of: text), samples: silence + spoken.samples + silence,
      sampleRate: Int(rate))
  }

  /// What one call of the library has said so far.
  fileprivate final class Spoken {
    var samples: [Int16] = []
    /// When a word begins, in seconds, by the number of its first character.
    var starts: [Int: Double] = [:]
    /// The sound that was told last, and when it begins.
    private var lastSound: (name: Character, start: Double)?
    /// A word that was told too early: the next sound begins it.
    private var earlyWord: Int?

    /// Takes the beginning of a word, by the number of its first character.
    ///
    /// Between a nasal and a vowel, as in `an ill`, libespeak-ng tells the word where the nasal
    /// before it begins, 50 to 80 ms early.
    func takeWord(_ number: Int, at start: Double) {
      starts[number] = start
      guard let lastSound, lastSound.start == start, "mnN".contains(lastSound.name) else { return }
      earlyWord = number
    }

    /// Takes the beginning of a sound, by the first character of its name.
    func takeSound(_ name: Character, at start: Double) {
      if let word = earlyWord, "aAeEiIoOuUV03@".contains(name) { starts[word] = start }
      earlyWord = nil
      lastSound = (name, start)
    }

    func words(of text: String) -> [TimedSpeech.Word] {
      var place = 1
      return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
        defer { place += word.count + 1 }
        return TimedSpeech.Word(
          text: String(word), start: starts[place].map { $0 + SpeakingVoice.edge })
      }
    }
  }
}

/// Called by libespeak-ng for every few milliseconds of speech. A function of its own: what is
/// written where it is handed over would be checked for the caller's thread.
private func takeSpeech(
  _ samples: UnsafeMutablePointer<Int16>?, _ count: Int32,
  _ events: UnsafeMutablePointer<espeak_EVENT>?
) -> Int32 {
  guard let events = unsafe events, let pointer = unsafe events.pointee.user_data else { return 0 }
  let spoken = unsafe Unmanaged<SpeakingVoice.Spoken>.fromOpaque(pointer).takeUnretainedValue()
  if let samples = unsafe samples, count > 0 {
    unsafe spoken.samples.append(
      contentsOf: UnsafeBufferPointer(start: samples, count: Int(count)))
  }
  var event = unsafe events
  while unsafe event.pointee.type != espeakEVENT_LIST_TERMINATED {
    let start = unsafe Double(event.pointee.audio_position) / 1000
    if unsafe event.pointee.type == espeakEVENT_WORD {
      spoken.takeWord(unsafe Int(event.pointee.text_position), at: start)
    } else if unsafe event.pointee.type == espeakEVENT_PHONEME {
      let letter = unsafe UInt8(bitPattern: event.pointee.id.string.0)
      spoken.takeSound(Character(Unicode.Scalar(letter)), at: start)
    }
    unsafe event += 1
  }
  return 0
}
