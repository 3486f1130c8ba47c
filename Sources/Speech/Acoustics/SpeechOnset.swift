import Glibc

/// Where speech begins after a pause: where its level leaves that of the pause.
///
/// The model's silence gives way to a word's first phone a little before anything is heard, 25 ms in
/// the middle, and a short pause may wholly go to that phone. In speech of people and of espeak-ng
/// alike the words after pauses are 20 to 30 ms early without this, and 4 to 10 with it. In noise there
/// are no such pauses, and everything stays where it is.
struct SpeechOnset {
  /// The level every so many samples, in decibels: of the differences between samples, so that
  /// hisses count and hum does not.
  private let levels: [Float]

  /// Samples between two levels: 2.5 ms, so that four are a frame (10 ms).
  private static let step = 40
  private static let perHundredth = LevelTrace.step / step
  /// The quietest that counts: what lies below is digital silence.
  private static let silence: Float = 10
  /// How much louder than the pause speech must become to have an onset, in decibels, and the share
  /// of that at which it begins, but no less than so much.
  private static let contrast: Float = 30
  private static let share: Float = 0.25
  private static let leastRise: Float = 6
  /// How far before a word its pause is looked for, how far behind its beginning the loudest place
  /// of its onset, and how far before it the onset may be, in frames (10 ms).
  private static let before = 25
  private static let after = 15
  private static let back = 6
  /// How long a pause lasts at least, where the model heard silence too or the sound begins, and
  /// where not: there it may be the closure of a stop.
  private static let pause = 6
  private static let unheardPause = 9
  /// What the model must hear between two words to have heard silence, in milliseconds.
  private static let heardPause = 30
  /// How much before the level rises a word begins, and half a frame (5 ms), in milliseconds.
  private static let lead = 4

  /// Measures the levels of sound of 16 kHz.
  ///
  /// Complexity: O(*n*) in the number of samples.
  init(of sound: Span<Int16>) {
    let half = LevelTrace.step / 2
    let window = (0..<2 * half).map { index in
      let angle = Float.pi * (Float(index) + 0.5) / Float(2 * half)
      return sinf(angle) * sinf(angle) / Float(half)
    }
    var squares = [Float](repeating: 0, count: sound.count)
    for index in 1..<max(1, sound.count) {
      let difference = Float(sound[index]) - Float(sound[index - 1])
      squares[index] = difference * difference
    }
    levels = stride(from: 0, to: sound.count, by: Self.step).map { middle in
      var sum: Float = 1
      for index in max(0, middle - half)..<min(squares.count, middle + half) {
        sum += squares[index] * window[index - middle + half]
      }
      return 10 * log10f(sum)
    }
  }

  /// When a word's sound begins; when the model has it begin where no pause is before it. All times
  /// are in milliseconds, of which half a frame (5 ms) is taken away, as those of the model's
  /// frames have it.
  ///
  /// - Parameters:
  ///   - start: when the model has it begin.
  ///   - end: when what is before it ends.
  func onset(near start: Int, after end: Int) -> Int {
    let place = (start * Self.perHundredth) / 10 + Self.perHundredth / 2
    let last = min(levels.count - 1, place + Self.after * Self.perHundredth)
    let from = max(0, place - Self.before * Self.perHundredth)
    guard place < last, let peak = (place...last).max(by: { levels[$0] < levels[$1] }) else {
      return start
    }
    let floor = max(Self.silence, quietest(in: from..<min(last, place + 2 * Self.perHundredth)))
    guard levels[peak] - floor >= Self.contrast else { return start }
    let threshold = floor + max(Self.leastRise, Self.share * (levels[peak] - floor))
    var quiet = peak
    while quiet >= from, levels[quiet] >= threshold { quiet -= 1 }
    guard quiet > max(0, place - Self.back * Self.perHundredth) else { return start }
    var loud = quiet
    while loud > 0, levels[loud] < threshold { loud -= 1 }
    let least = end == 0 || start - end >= Self.heardPause ? Self.pause : Self.unheardPause
    guard quiet - loud >= least * Self.perHundredth else { return start }
    return max(end, (quiet + 1) * 10 / Self.perHundredth - Self.lead)
  }

  /// The level of the quietest three frames of a stretch.
  private func quietest(in range: Range<Int>) -> Float {
    let width = min(3 * Self.perHundredth, range.count)
    guard width > 0 else { return Self.silence }
    var least = Float.infinity
    for start in range.lowerBound...range.upperBound - width {
      least = min(least, levels[start..<start + width].reduce(0, +) / Float(width))
    }
    return least
  }
}
