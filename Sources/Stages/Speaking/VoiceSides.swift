import Glibc
import Speech
import Transcripts

/// On which channel each word of a text is said, where every side has a speaker of its own.
///
/// All that one speaker says is on the channel on which it is the loudest, and where nobody says
/// who speaks, each sentence is.
struct VoiceSides {
  /// Who says a word: by name, or nobody knows, in the same sentence.
  private enum Voice: Hashable {
    case named(String)
    case sentence(Int)
  }

  /// The channel of each word.
  let channels: [Int]
  /// The channels of speakers that the text names.
  let speakers: [String: Int]

  /// What is heard with less confidence says nothing about sides.
  private static let sureness = 0.5

  /// Finds the sides.
  ///
  /// Complexity: O(*n*) in the length of the text and the time that its words take.
  ///
  /// - Parameters:
  ///   - transcript: the text.
  ///   - places: where its words are, in the sound of all channels as one.
  ///   - traces: the levels of each channel.
  init(of transcript: Transcript, at places: [AlignedWord], in traces: [LevelTrace]) {
    let voices = Self.voices(of: transcript)
    var shares: [Voice: [Double]] = [:]
    for (voice, place) in zip(voices, places)
    where place.isHeard && place.confidence >= Self.sureness {
      let powers = traces.map { Self.power(of: $0, at: place) }
      let sum = powers.reduce(0, +)
      guard sum > 0 else { continue }
      var share = shares[voice] ?? Array(repeating: 0, count: traces.count)
      for channel in traces.indices { share[channel] += powers[channel] / sum }
      shares[voice] = share
    }
    var known = shares.compactMapValues { share in
      share.indices.max { (share[$0], $1) < (share[$1], $0) }
    }
    var free = traces.indices.filter { channel in
      !known.contains { if case .named = $0.key { $0.value == channel } else { false } }
    }[...]
    var channels: [Int] = []
    var speakers: [String: Int] = [:]
    for voice in voices {
      if case .named = voice, known[voice] == nil, let channel = free.popFirst() {
        // Who was drowned by the others is on the side that nobody else is on.
        known[voice] = channel
      }
      // Of whom nothing was heard, nothing is known: he goes with whoever spoke before.
      let channel = known[voice] ?? channels.last ?? 0
      channels.append(channel)
      if case .named(let name) = voice { speakers[name] = channel }
    }
    self.channels = channels
    self.speakers = speakers
  }

  private static func voices(of transcript: Transcript) -> [Voice] {
    var voices: [Voice] = []
    var sentence = 0
    for segment in transcript.segments {
      sentence += 1
      for word in segment.words {
        if let name = word.speaker ?? segment.speaker {
          voices.append(.named(name))
        } else {
          voices.append(.sentence(sentence))
          if endsSentence(word.text) { sentence += 1 }
        }
      }
    }
    return voices
  }

  private static func endsSentence(_ word: String) -> Bool {
    let closing: Set<Character> = ["\"", "'", ")", "]", "»", "”", "’"]
    guard let last = word.reversed().first(where: { !closing.contains($0) }) else { return false }
    return [".", "!", "?", "…", "。", "！", "？"].contains(last)
  }

  /// The mean power of a channel while a word is said, against full scale.
  private static func power(of trace: LevelTrace, at place: AlignedWord) -> Double {
    let first = max(0, Int(place.start * 100))
    let levels = trace.levels.dropFirst(first).prefix(max(1, Int(place.end * 100) - first))
    guard !levels.isEmpty else { return 0 }
    return levels.reduce(0) { $0 + Double(powf(10, $1 / 10)) } / Double(levels.count)
  }
}
