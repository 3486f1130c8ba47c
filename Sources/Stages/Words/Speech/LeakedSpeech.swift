import Glibc
import Platform
import Speech

/// Where each channel of a recording holds nothing but what its microphone hears of the speakers of
/// the others.
///
/// How much a channel hears of another's speaker is measured where words were found for sure: there
/// its level stands so far below that of the other. Where it stands no higher, and its own speaker is
/// not near, its speech is the other's.
struct LeakedSpeech {
  /// By channel, in frames (10 ms), in order and without overlap.
  let stretches: [[Range<Int>]]
  /// The sounds of each channel's own, in the same form.
  private let sounds: [[Range<Int>]]

  /// Leaked speech varies by so much with the tone of the voice and the room, in dB.
  private static let spread = 3.5
  /// Channels on which one speaker and the other differ by less are not divided, in dB.
  private static let leastDifference = 6.0
  /// What does not rise so much above a channel's noise is not heard, and what does not rise so much
  /// is no speech, in dB.
  private static let audible = 4.0
  private static let rise = 6.0
  /// So many frames have no more than a channel's noise.
  private static let quiet = 0.05
  /// Levels are means with so many frames on either side, and the other's lasts for so many frames, as
  /// sound in a room does.
  private static let smoothing = 2
  private static let decay = 5
  /// A sound of the channel's own lasts so long at least, and so far around it nothing is leaked
  /// speech: its consonants are quieter. In frames.
  private static let shortestSound = 5
  private static let neighbourhood = 20
  /// Leaked speech goes on over a pause of its words, which no sound with its neighbourhood is short
  /// enough for. Less of it is left: it may be the channel's own, below that of the other. In frames.
  private static let pause = 40
  private static let shortestStretch = 100

  /// Looks for leaked speech.
  ///
  /// Complexity: O(channels² · frames + *w* log *w*) in the number of words.
  ///
  /// - Parameters:
  ///   - places: where the words of a text are, in the sound of all channels as one.
  ///   - channels: on which channel each is said.
  ///   - traces: the levels of each channel.
  init(at places: [AlignedWord], on channels: [Int], in traces: [LevelTrace]) {
    let sure = zip(places, channels).filter {
      $0.0.isHeard && $0.0.confidence >= VoiceSides.sureness
    }
    let levels = traces.map { Self.smoothed($0.levels) }
    let lasting = levels.map(Self.lasting)
    /// By how much the first of two channels is louder while a speaker's words are said.
    func differences(_ own: Int, _ other: Int, of speaker: Int) -> [Double] {
      sure.filter { $0.1 == speaker }.map {
        traces[own].level(from: $0.0.start, to: $0.0.end)
          - traces[other].level(from: $0.0.start, to: $0.0.end)
      }.sorted()
    }
    let found = traces.indices.map { own in
      var isLeaked = Array(repeating: false, count: levels[own].count)
      let noise = Double(traces[own].quantile(Self.quiet))
      var isOwn = levels[own].map { $0 > noise + Self.rise }
      for other in traces.indices where other != own {
        let leaked = differences(own, other, of: other)
        let spoken = differences(own, other, of: own)
        guard !leaked.isEmpty, !spoken.isEmpty else { continue }
        // Words that both say at once are louder than what leaks, and quieter than what one says.
        let low = leaked[leaked.count / 4]
        let high = spoken[spoken.count * 3 / 4]
        guard high - low >= Self.leastDifference else { continue }
        let limit = min(low + Self.spread, (low + high) / 2)
        for frame in isOwn.indices.prefix(lasting[other].count)
        where levels[own][frame] <= lasting[other][frame] + limit {
          isLeaked[frame] = isLeaked[frame] || levels[own][frame] > noise + Self.audible
          isOwn[frame] = false
        }
      }
      let sounds = Self.sounds(isOwn)
      return (sounds: sounds, stretches: Self.stretches(isLeaked, besides: sounds))
    }
    sounds = found.map(\.sounds)
    stretches = found.map(\.stretches)
  }

  /// Whether a word that was heard in all channels together can be said on one of them: most of its
  /// time is filled with sounds of the channel's own.
  func allows(_ place: AlignedWord, on channel: Int) -> Bool {
    let frames = Int(place.start * 100)..<max(Int(place.start * 100), Int(place.end * 100)) + 1
    let filled = sounds[channel].reduce(0) { $0 + $1.clamped(to: frames).count }
    return place.isHeard && 2 * filled >= frames.count
  }

  /// A channel with the tone of the room in place of leaked speech.
  func removed(
    from source: any SpeechSource, _ trace: LevelTrace, channel: Int
  ) throws(SpoolError) -> (source: any SpeechSource, trace: LevelTrace) {
    let leaked = stretches[channel]
    guard !leaked.isEmpty else { return (source, trace) }
    return (
      try MutedSource(source, trace, without: leaked),
      trace.quietened(in: leaked, to: trace.quantile(Self.quiet))
    )
  }

  /// The sounds that are no clicks.
  private static func sounds(_ isOwn: [Bool]) -> [Range<Int>] {
    var sounds: [Range<Int>] = []
    for frame in isOwn.indices where isOwn[frame] {
      sounds.add(frame..<frame + 1) { $0.upperBound == frame }
    }
    return sounds.filter { $0.count >= shortestSound }
  }

  /// The frames of leaked speech that are not near the channel's own.
  private static func stretches(_ isLeaked: [Bool], besides sounds: [Range<Int>]) -> [Range<Int>] {
    var isLeaked = isLeaked
    for sound in sounds {
      let near = sound.lowerBound - neighbourhood..<sound.upperBound + neighbourhood
      for frame in near.clamped(to: isLeaked.indices) { isLeaked[frame] = false }
    }
    var stretches: [Range<Int>] = []
    for frame in isLeaked.indices where isLeaked[frame] {
      stretches.add(frame..<frame + 1) { frame - $0.upperBound <= pause }
    }
    return stretches.filter { $0.count >= shortestStretch }
  }

  private static func smoothed(_ levels: [Float]) -> [Double] {
    let powers = levels.map { Double(powf(10, $0 / 10)) }
    return powers.indices.map { frame in
      let near = powers[
        max(0, frame - smoothing)...min(powers.count - 1, frame + smoothing)]
      return 10 * log10(near.reduce(0, +) / Double(near.count))
    }
  }

  /// The loudest of each frame and those just before it.
  private static func lasting(_ levels: [Double]) -> [Double] {
    levels.indices.map { frame in
      levels[max(0, frame - decay)...frame].reduce(levels[frame], max)
    }
  }
}

/// Sound with the tone of the room in place of some stretches: digital silence among noise would make
/// all else sound unlike speech.
private struct MutedSource: SpeechSource {
  private let source: any SpeechSource
  /// In frames (10 ms).
  private let stretches: [Range<Int>]
  /// The quietest sound, forwards and backwards, so that it can be repeated.
  private let tone: [Int16]

  /// The length of the quietest sound, in frames.
  private static let length = 30

  /// Looks for the tone of the room. O(n) in the length of the sound.
  init(
    _ source: any SpeechSource, _ trace: LevelTrace, without stretches: [Range<Int>]
  ) throws(SpoolError) {
    self.source = source
    self.stretches = stretches
    let powers = trace.levels.map { Double(powf(10, $0 / 10)) }
    var sum = powers.prefix(Self.length).reduce(0, +)
    var least = (sum: sum, start: 0)
    for start in powers.indices.dropLast(Self.length) {
      sum += powers[start + Self.length] - powers[start]
      if sum < least.sum { least = (sum, start + 1) }
    }
    let quietest = try source.read(least.start..<least.start + Self.length)
    tone = quietest + quietest.reversed()
  }

  var frameCount: Int { source.frameCount }

  func read(_ place: Range<Int>) throws(SpoolError) -> [Int16] {
    var samples = try source.read(place)
    for stretch in stretches where stretch.overlaps(place) {
      let muted = stretch.clamped(to: place)
      let first = (muted.lowerBound - place.lowerBound) * LevelTrace.step
      for sample in first..<first + muted.count * LevelTrace.step {
        samples[sample] = tone[(sample + place.lowerBound * LevelTrace.step) % tone.count]
      }
    }
    return samples
  }
}
