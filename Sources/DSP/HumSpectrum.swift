public import AudioModel
import Glibc

/// The mean logarithmic spectrum of a recording's low end, and the hum that stands out of it.
public struct HumSpectrum: Hashable, Sendable, Codable {
  /// From bin to bin.
  let binWidth: Hertz
  /// How many pieces were added.
  var pieces = 0
  /// For each bin, the sum of all pieces' levels, in dB.
  var logarithms: [Double]

  init(binWidth: Hertz, binCount: Int) {
    self.binWidth = binWidth
    logarithms = Array(repeating: 0, count: binCount)
  }

  /// Adds a piece's power in each bin.
  mutating func add(_ powers: [Double]) {
    // What lies under −200 dB is silence, whose logarithm would outweigh everything.
    for bin in logarithms.indices { logarithms[bin] += 10 * log10(max(powers[bin], 1e-20)) }
    pieces += 1
  }

  /// Whether there was enough sound to tell.
  public var isTelling: Bool { pieces > 0 }

  /// The hum near a mains frequency; nil where none stands out: neither two harmonics of the first
  /// six by 9 dB, nor the fundamental alone by 15.
  public func hum(near mains: Hertz, harmonics: Int) -> Hum? {
    guard isTelling else { return nil }
    // A recorder's clock, or a tape, is off by up to a hundredth.
    let tolerance = 0.012 * mains.value
    let lines = (1...6).map { line(near: mains.value * Double($0), within: tolerance * Double($0)) }
    // The strongest lines say where the fundamental is; the others are looked for there.
    guard let best = lines.indices.max(by: { lines[$0].prominence < lines[$1].prominence }) else {
      return nil
    }
    let guess = lines[best].frequency / Double(best + 1)
    let refined = refine(guess, harmonics: 6)
    let prominences = prominences(of: Hertz(refined), harmonics: max(harmonics, 6))
    let standing = prominences.prefix(6).filter { $0 >= Hum.audible }.count
    guard standing >= 2 || prominences[0].value >= 15,
      abs(refined - mains.value) <= tolerance
    else { return nil }
    return Hum(
      frequency: Hertz(refined), prominences: Array(prominences.prefix(max(harmonics, 1))))
  }

  /// By how many dB each harmonic of a frequency stands out of its neighbourhood.
  public func prominences(of frequency: Hertz, harmonics: Int) -> [Decibels] {
    (1...max(harmonics, 1)).map {
      Decibels(line(near: frequency.value * Double($0), within: binWidth.value).prominence)
    }
  }

  /// The fundamental that the lines near its harmonics agree on; a line at twice the frequency
  /// tells it twice as exactly.
  private func refine(_ guess: Double, harmonics: Int) -> Double {
    var (sum, weight) = (0.0, 0.0)
    for harmonic in 1...harmonics {
      let number = Double(harmonic)
      let found = line(near: guess * number, within: 1.5 * binWidth.value)
      guard found.prominence >= Hum.audible.value else { continue }
      sum += number * found.frequency
      weight += number * number
    }
    return weight > 0 ? sum / weight : guess
  }

  /// The highest bin within a distance of a frequency, and how far it is above the median around.
  private func line(
    near frequency: Double, within distance: Double
  ) -> (frequency: Double, prominence: Double) {
    let width = binWidth.value
    let lowest = max(Int(((frequency - distance) / width).rounded()), 2)
    let highest = min(Int(((frequency + distance) / width).rounded()), logarithms.count - 3)
    guard lowest <= highest, pieces > 0 else { return (frequency, 0) }
    let peak = (lowest...highest).max { logarithms[$0] < logarithms[$1] } ?? lowest
    // A line is four bins wide under its window; the neighbourhood begins beyond.
    let reach = Int((10 / width).rounded())
    let around = (max(peak - reach, 1)...min(peak + reach, logarithms.count - 1))
      .filter { abs($0 - peak) > 3 }.map { logarithms[$0] }.sorted()
    guard !around.isEmpty else { return (frequency, 0) }
    let prominence = (logarithms[peak] - around[around.count / 2]) / Double(pieces)
    // The top of the parabola through the logarithms of three bins.
    let (a, b, c) = (logarithms[peak - 1], logarithms[peak], logarithms[peak + 1])
    let bend = a - 2 * b + c
    let shift = bend < 0 ? min(max(0.5 * (a - c) / bend, -0.5), 0.5) : 0
    return ((Double(peak) + shift) * width, prominence)
  }
}
