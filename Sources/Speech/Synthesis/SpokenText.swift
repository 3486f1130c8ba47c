import Audio
import Platform

/// A stretch of text as the synthesiser says it: its bands, and where each of its words lies.
struct SpokenText {
  /// A written word, or a part of a long one, among the frames.
  struct Word: Hashable {
    /// Its number in the whole text.
    let number: Int
    /// The frames from its beginning to the next word, or to the pause before that.
    let frames: Range<Int>
  }

  /// The bands, a hundred frames a second.
  private(set) var powers = BandPowers.none
  /// The words, in order.
  private(set) var words: [Word] = []

  /// Has utterances spoken, one after the other.
  init(
    _ utterances: [Utterance], _ voice: SyntheticVoice, _ spectrum: MelSpectrum
  ) throws(SpoolError) {
    let speeches = try Espeak.shared().speak(
      utterances.map(\.text), voice: voice.name, wordsPerMinute: Self.wordsPerMinute)
    for (utterance, speech) in zip(utterances, speeches) {
      add(utterance, speech, BandPowers.of(speech.samples, by: spectrum))
    }
  }

  /// As fast as people read aloud.
  private static let wordsPerMinute = 160
  /// What is weaker than this share of an utterance's mean power is a pause.
  private static let silence: Float = 0.001

  private mutating func add(
    _ utterance: Utterance, _ speech: SyntheticSpeech, _ bands: BandPowers
  ) {
    let first = powers.count
    let totals = bands.totals
    powers.append(bands)
    guard !totals.isEmpty else { return }
    let threshold = totals.reduce(0, +) / Float(totals.count) * Self.silence
    let starts = Self.starts(of: utterance, in: speech, frameCount: totals.count)
    for (index, part) in utterance.parts.enumerated() {
      guard let start = starts[index] else { continue }
      var end = starts[(index + 1)...].lazy.compactMap(\.self).first ?? totals.count
      while end > start + 1, totals[end - 1] < threshold { end -= 1 }
      guard end > start else { continue }
      words.append(Word(number: part.word, frames: first + start..<first + end))
    }
  }

  /// The frame in which each part begins; nil for all where the synthesiser said nothing.
  ///
  /// Numbers have several words of the synthesiser's, of which the first counts; and some words that
  /// it says together have one for all: those share its time by their lengths.
  static func starts(
    of utterance: Utterance, in speech: SyntheticSpeech, frameCount: Int
  ) -> [Int?] {
    var known: [Int?] = Array(repeating: nil, count: utterance.parts.count)
    var latest = 0
    for word in speech.words {
      guard let index = utterance.parts.lastIndex(where: { $0.place <= word.place }),
        index >= latest, known[index] == nil
      else { continue }
      known[index] = min(frameCount - 1, max(0, Int((word.start * 100).rounded())))
      latest = index
    }
    guard known.contains(where: { $0 != nil }) else { return known }
    return shared(known, among: utterance.parts, frameCount: frameCount)
  }

  private static func shared(
    _ known: [Int?], among parts: [Utterance.Part], frameCount: Int
  ) -> [Int?] {
    var starts = known
    var index = 0
    while index < parts.count {
      let next = known[(index + 1)...].firstIndex { $0 != nil } ?? parts.count
      let from = known[index] ?? 0
      let to = next < parts.count ? known[next] ?? frameCount : frameCount
      let total = parts[index..<next].reduce(0) { $0 + $1.length }
      var done = 0
      for part in index..<next {
        starts[part] = from + (to - from) * done / max(1, total)
        done += parts[part].length
      }
      index = next
    }
    return starts
  }
}
