import Glibc

/// Where somebody speaks: where the sound has a pitch as voices have it, which moves.
///
/// Noise has no pitch, and the tones of instruments and mains hum have one that stands still. What
/// is whispered has none either, and is not found. The pitch is that of the autocorrelation of
/// 40 ms, from 60 to 400 Hz.
public struct VoiceActivity: Sendable {
  /// The level of each hundredth of a second in dB of full scale, -100 at least.
  private var levels: [Float] = []
  /// The period of each hundredth in samples of 4 kHz; 0 where it has none.
  private var periods: [Float] = []
  private var energy: Float = 0
  private var heldCount = 0
  private var mean: Float = 0
  private var previous: Float = 0
  /// Sound of 4 kHz that was not looked at yet.
  private var waiting: [Float] = []

  /// Samples of 16 kHz in one of 4 kHz.
  private static let reduction = 4
  /// Samples of 4 kHz in a hundredth of a second.
  private static let step = 40

  /// Nothing was heard yet.
  public init() {}

  /// Takes the next samples: 16 kHz, one channel, 16 bits.
  ///
  /// Complexity: O(*n*) in the number of samples, about 0.1 % of the time that they take to play.
  public mutating func add(_ sound: Span<Int16>) {
    for index in sound.indices {
      let sample = Float(sound[index]) / 32768
      energy += sample * sample
      mean += sample / Float(Self.reduction)
      heldCount += 1
      if heldCount % Self.reduction == 0 {
        // High tones are raised, so that low noise does not look like a tone.
        waiting.append(mean - 0.9 * previous)
        previous = mean
        mean = 0
      }
      if heldCount == LevelTrace.step {
        levels.append(max(-100, 10 * log10f(energy / Float(LevelTrace.step) + 1e-12)))
        energy = 0
        heldCount = 0
      }
    }
    var place = 0
    while place + Periodicity.window <= waiting.count {
      periods.append(Periodicity.period(of: waiting.span.extracting(place...)))
      place += Self.step
    }
    waiting.removeFirst(place)
  }

  /// Where somebody speaks, in hundredths of a second, in order and without overlap.
  ///
  /// Complexity: O(*n* log *n*) in the length of the sound.
  public var stretches: [Range<Int>] {
    let voiced = moving(in: loudEnough())
    var stretches: [Range<Int>] = []
    for run in Self.runs(of: voiced) where run.count >= Self.shortestRun {
      let wide = widened(run)
      if let last = stretches.last, wide.lowerBound - last.upperBound < Self.pause {
        stretches[stretches.count - 1] = last.lowerBound..<max(last.upperBound, wide.upperBound)
      } else {
        stretches.append(wide)
      }
    }
    return stretches
  }

  /// How long the sound must have a pitch, in hundredths of a second.
  private static let shortestRun = 5
  /// A pause that is shorter belongs to the speech, in hundredths of a second.
  private static let pause = 30
  /// So long a consonant without a pitch may be, in hundredths of a second.
  private static let consonant = 25
  /// How far around the pitch is looked at, in hundredths of a second.
  private static let neighbourhood = 200
  /// Where more of the steps of the pitch are none, it stands still.
  private static let stillShare = 0.85
  /// What is quieter than the voice by more is somewhere else, in dB.
  private static let depth: Float = 45

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

  private static func runs(of frames: [Bool]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for index in frames.indices where frames[index] {
      if let last = runs.last, last.upperBound == index {
        runs[runs.count - 1] = last.lowerBound..<index + 1
      } else {
        runs.append(index..<index + 1)
      }
    }
    return runs
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
