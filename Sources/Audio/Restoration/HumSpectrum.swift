import Glibc

/// The mean logarithmic low-frequency spectrum of a recording, and the hum in it.
package struct HumSpectrum: Hashable, Sendable, Codable {
  /// The distance between bins.
  let binWidth: Hertz
  /// The number of windows added.
  var pieces = 0
  /// For each bin, the sum of the levels of all windows, in dB.
  var logarithms: [Double]

  init(binWidth: Hertz, binCount: Int) {
    self.binWidth = binWidth
    logarithms = Array(repeating: 0, count: binCount)
  }

  /// Adds a window's power in each bin.
  mutating func add(_ powers: [Double]) {
    // Below −200 dB is silence, whose logarithm would dominate the mean.
    for bin in logarithms.indices { logarithms[bin] += 10 * log10(max(powers[bin], 1e-20)) }
    pieces += 1
  }

  /// Whether there was enough sound to measure.
  package var isTelling: Bool { pieces > 0 }

  /// The hum near a mains frequency; nil unless two of the first six harmonics stand out by 9 dB,
  /// or the fundamental alone by 15.
  package func hum(near mains: Hertz, harmonics: Int) -> Hum? {
    guard isTelling else { return nil }
    // Recorder clocks and tapes deviate by up to 1 %.
    let tolerance = 0.012 * mains.value
    let lines = (1...6).map { line(near: mains.value * Double($0), within: tolerance * Double($0)) }
    // The strongest line fixes the fundamental; the others are searched relative to it.
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

  /// The height of each harmonic of `frequency` above its neighbourhood, in dB.
  package func prominences(of frequency: Hertz, harmonics: Int) -> [Decibels] {
    (1...max(harmonics, 1)).map {
      Decibels(line(near: frequency.value * Double($0), within: binWidth.value).prominence)
    }
  }

  /// The fundamental fitted to the lines near its harmonics; a line at twice the frequency
  /// determines it twice as exactly.
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

  /// The highest bin within a distance of a frequency, and its height above the local median.
  private func line(
    near frequency: Double, within distance: Double
  ) -> (frequency: Double, prominence: Double) {
    let width = binWidth.value
    let lowest = max(Int(((frequency - distance) / width).rounded()), 2)
    let highest = min(Int(((frequency + distance) / width).rounded()), logarithms.count - 3)
    guard lowest <= highest, pieces > 0 else { return (frequency, 0) }
    let peak = (lowest...highest).max { logarithms[$0] < logarithms[$1] } ?? lowest
    // A line is four bins wide under the window; the neighbourhood begins beyond.
    let reach = Int((10 / width).rounded())
    let around = (max(peak - reach, 1)...min(peak + reach, logarithms.count - 1))
      .filter { abs($0 - peak) > 3 }.map { logarithms[$0] }.sorted()
    guard !around.isEmpty else { return (frequency, 0) }
    let prominence = (logarithms[peak] - around[around.count / 2]) / Double(pieces)
    // The vertex of the parabola through three logarithms.
    let (a, b, c) = (logarithms[peak - 1], logarithms[peak], logarithms[peak + 1])
    let bend = a - 2 * b + c
    let shift = bend < 0 ? min(max(0.5 * (a - c) / bend, -0.5), 0.5) : 0
    return ((Double(peak) + shift) * width, prominence)
  }

  /// Mains hum found in a recording.
  package struct Hum: Hashable, Sendable, Codable {
    /// The estimated fundamental.
    package var frequency: Hertz
    /// The height of each harmonic, from the fundamental up, above its neighbourhood, in dB.
    package var prominences: [Decibels]

    package init(frequency: Hertz, prominences: [Decibels]) {
      self.frequency = frequency
      self.prominences = prominences
    }

    /// The least height, in dB, of a hum line.
    package static let audible = Decibels(9)
  }
}
