/// Where there is speech: where the sound has a pitch as voices have it, which moves.
///
/// Noise has no pitch, and the tones of instruments and mains hum have one that stands still. What
/// is whispered has none either, and is not found. The pitch is that of the autocorrelation of
/// 40 ms, from 60 to 400 Hz.
package struct VoiceActivity: Sendable {
  /// How loud the sound is.
  package private(set) var trace = LevelTrace()
  /// The period of each frame in samples of 4 kHz; 0 where it has none.
  private var periods: [Float] = []
  private var heldCount = 0
  private var mean: Float = 0
  private var previous: Float = 0
  /// Sound of 4 kHz that was not looked at yet.
  private var waiting: [Float] = []

  /// Samples of 16 kHz in one of 4 kHz.
  private static let reduction = 4
  /// Samples of 4 kHz in a frame (10 ms).
  private static let step = 40

  package init() {}

  /// Takes the next samples: 16 kHz, one channel, 16 bits.
  ///
  /// Complexity: O(*n*) in the number of samples, about 0.1 % of the time that they take to play.
  package mutating func add(_ sound: Span<Int16>) {
    trace.add(sound)
    for index in sound.indices {
      let sample = Float(sound[index]) / 32768
      mean += sample / Float(Self.reduction)
      heldCount += 1
      if heldCount == Self.reduction {
        // High tones are raised, so that low noise does not look like a tone.
        waiting.append(mean - 0.9 * previous)
        previous = mean
        mean = 0
        heldCount = 0
      }
    }
    var place = 0
    while place + Self.window <= waiting.count {
      periods.append(Self.period(of: waiting.span.extracting(place...)))
      place += Self.step
    }
    waiting.removeFirst(place)
  }

  /// Where there is speech, in frames (10 ms), in order and without overlap.
  ///
  /// Complexity: O(*n* log *n*) in the length of the sound.
  package var stretches: [Range<Int>] {
    let voiced = moving(in: loudEnough())
    var stretches: [Range<Int>] = []
    var runs: [Range<Int>] = []
    for frame in voiced.indices where voiced[frame] {
      runs.add(frame..<frame + 1) { $0.upperBound == frame }
    }
    for run in runs where run.count >= Self.shortestRun {
      let wide = widened(run)
      stretches.add(wide) { wide.lowerBound - $0.upperBound < Self.pause }
    }
    return stretches
  }

  /// How long the sound must have a pitch, in frames.
  private static let shortestRun = 5
  /// A pause that is shorter belongs to the speech, in frames.
  private static let pause = 30
  /// So long a consonant without a pitch may be, in frames.
  private static let consonant = 25
  /// How far around the pitch is looked at, in frames.
  private static let neighbourhood = 200
  /// Where more of the steps of the pitch are none, it stands still.
  private static let stillShare = 0.85
  /// What is quieter than the voice by more is somewhere else, in dB.
  private static let depth: Float = 45

  private var levels: [Float] { trace.levels }

  /// The frames with a pitch that are not far quieter than the others.
  private func loudEnough() -> [Bool] {
    let heard = periods.indices.filter { periods[$0] > 0 && levels[$0] > -70 }
    let loud = heard.map { levels[$0] }.sorted()
    let least = loud.isEmpty ? 0 : loud[loud.count * 95 / 100] - Self.depth
    return periods.indices.map { periods[$0] > 0 && levels[$0] > max(-70, least) }
  }

  /// Those of the frames around which the pitch moves.
  private func moving(in voiced: [Bool]) -> [Bool] {
    // How many steps of the pitch there are before each frame, and how many of them are none.
    var steps = [0]
    var still = [0]
    for index in voiced.indices.dropFirst() {
      let isStep = voiced[index] && voiced[index - 1]
      let isStill = isStep && abs(periods[index] / periods[index - 1] - 1) < 0.003
      steps.append(steps[index - 1] + (isStep ? 1 : 0))
      still.append(still[index - 1] + (isStill ? 1 : 0))
    }
    return voiced.indices.map { index in
      guard voiced[index] else { return false }
      let from = max(0, index - Self.neighbourhood)
      let to = min(voiced.count - 1, index + Self.neighbourhood)
      return Double(still[to] - still[from]) <= Self.stillShare * Double(steps[to] - steps[from])
    }
  }

  /// The run with the consonants around it.
  private func widened(_ run: Range<Int>) -> Range<Int> {
    let least = levels[run].reduce(0, +) / Float(run.count) - 25
    var (start, end) = (run.lowerBound, run.upperBound)
    while start > max(0, run.lowerBound - Self.consonant), levels[start - 1] > least { start -= 1 }
    while end < min(levels.count, run.upperBound + Self.consonant), levels[end] > least { end += 1 }
    return start..<end
  }
}

/// The period of a short sound, where it repeats itself.
extension VoiceActivity {
  /// Samples that are looked at: 40 ms of 4 kHz.
  private static let window = 160
  /// The periods that voices have, in samples of 4 kHz: 400 to 60 Hz.
  private static let periods = 10...66
  /// Samples that are compared with those a period later.
  private static let length = window - periods.upperBound
  /// How much the sound must resemble itself: 1 for a tone.
  private static let likeness: Float = 0.55

  /// The period in samples, between two of them where it lies there; 0 where there is none.
  private static func period(of sound: Span<Float>) -> Float {
    var energy: Float = 0
    for index in 0..<length { energy += sound[index] * sound[index] }
    guard energy > 1e-9 else { return 0 }
    var laterEnergy: Float = 0
    for index in 0..<length {
      laterEnergy += sound[index + periods.lowerBound] * sound[index + periods.lowerBound]
    }
    var likenesses: [Float] = []
    likenesses.reserveCapacity(periods.count)
    for period in periods {
      var product: Float = 0
      for index in 0..<length { product += sound[index] * sound[index + period] }
      likenesses.append(product / (energy * max(laterEnergy, 1e-12)).squareRoot())
      guard period < periods.upperBound else { break }
      laterEnergy += sound[period + length] * sound[period + length]
      laterEnergy -= sound[period] * sound[period]
    }
    guard let best = likenesses.max(), best >= likeness,
      // A sound that repeats itself after a period does so after two: the first counts.
      var place = likenesses.firstIndex(where: { $0 > 0.9 * best })
    else { return 0 }
    while place + 1 < likenesses.count, likenesses[place + 1] > likenesses[place] { place += 1 }
    guard place > 0, place + 1 < likenesses.count else { return Float(periods.lowerBound + place) }
    let (before, peak, after) = (likenesses[place - 1], likenesses[place], likenesses[place + 1])
    let bend = before - 2 * peak + after
    let shift = bend < 0 ? (before - after) / (2 * bend) : 0
    return Float(periods.lowerBound + place) + shift
  }
}
