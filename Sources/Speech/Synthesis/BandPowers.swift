import Audio

/// The powers of a sound's bands, a hundred times a second.
struct BandPowers {
  /// How many bands a frame has.
  let bandCount: Int
  /// Frame after frame.
  private(set) var values: [Float]

  /// How many frames there are.
  var count: Int { values.count / bandCount }

  /// The bands in which speech is compared: up to what most recordings hold; synthetic voices have
  /// little above.
  static func spectrum(sampleRate: Int) -> MelSpectrum {
    MelSpectrum(
      sampleRate: Hertz(Double(sampleRate)), bandCount: none.bandCount,
      range: Hertz(100)...Hertz(6500))
  }

  /// Adds what follows.
  mutating func append(_ other: BandPowers) { values += other.values }

  /// The powers of a sound in the bands in which speech is compared.
  static func of(_ sound: [Int16], by spectrum: MelSpectrum) -> BandPowers {
    BandPowers(bandCount: spectrum.bandCount, values: spectrum.powers(of: sound.span))
  }

  /// No frames yet.
  static let none = BandPowers(bandCount: 24, values: [])

  /// The means of so many frames each; the last may be of fewer.
  func thinned(by factor: Int) -> BandPowers {
    var means: [Float] = []
    means.reserveCapacity((count / factor + 1) * bandCount)
    for start in stride(from: 0, to: count, by: factor) {
      let end = min(count, start + factor)
      for band in 0..<bandCount {
        var sum: Float = 0
        for frame in start..<end { sum += values[frame * bandCount + band] }
        means.append(sum / Float(end - start))
      }
    }
    return BandPowers(bandCount: bandCount, values: means)
  }

  /// The frames from last to first: speech in reverse, as a baseline of chance.
  var reversed: BandPowers {
    var turned: [Float] = []
    turned.reserveCapacity(values.count)
    for frame in (0..<count).reversed() {
      turned += values[frame * bandCount..<(frame + 1) * bandCount]
    }
    return BandPowers(bandCount: bandCount, values: turned)
  }

  /// The power of each frame as a whole.
  var totals: [Float] {
    (0..<count).map { frame in
      values[frame * bandCount..<(frame + 1) * bandCount].reduce(0, +)
    }
  }

  /// For each band the power that a share of the frames stays below.
  ///
  /// Complexity: O(*n* log *n*).
  func quantiles(_ share: Double) -> [Float] {
    (0..<bandCount).map { band in
      Self.quantile(
        share, of: stride(from: band, to: values.count, by: bandCount).map { values[$0] })
    }
  }

  /// The figure that a share of all stays below; 0 of none.
  static func quantile(_ share: Double, of figures: [Float]) -> Float {
    guard !figures.isEmpty else { return 0 }
    return figures.sorted()[min(figures.count - 1, Int(Double(figures.count) * share))]
  }
}
