/// Restores clipped samples.
///
/// A run of two or more samples of one sign at or above the level counts as clipped. It is replaced
/// by the most likely samples under an autoregressive model of the surrounding sound, of order 32
/// or less (Janssen, Veldhuis and Vries, IEEE ASSP-34, 1986), that reach at least as far as the
/// clipped ones. All other samples pass bit-exactly. Runs longer than the limit are left alone.
package final class Declipper: ReportingProcessor {
  package struct Settings: Hashable, Sendable, Codable {
    /// The magnitude, relative to full scale, from which samples count as clipped.
    package var level: Decibels
    /// The longest run to repair; clamped to 0…20 ms and 1,024 frames.
    package var longest: Seconds

    package init(level: Decibels = Decibels(-0.1), longest: Seconds = Seconds(0.005)) {
      self.level = level
      self.longest = longest
    }
  }

  package struct Report: Hashable, Sendable, Codable {
    /// The number of repaired runs.
    package var mendedRuns: Int
    /// The number of samples in them.
    package var mendedSamples: Int
    /// The number of runs that were too long or had too little sound around them.
    package var abandonedRuns: Int
    /// The peak of the repaired samples, relative to full scale; nil if there are none.
    package var peak: Decibels?
  }

  package let outputFormat: AudioFormat
  /// The longest run, the context behind it, and the group being collected.
  package var latency: Frames { Frames(Self.group + ahead) }

  /// The number of frames finished at a time.
  private static let group = 256
  /// Context frames on each side of a run for the model.
  private static let context = 512

  private let level: Float
  private let longest: Int
  private let ahead: Int
  private let gap: ClippedGap
  /// For each channel: the finished context, the group to finish, and the look-ahead.
  private var rows: SampleRows
  private var pending = 0
  /// For each channel, the end of the processed runs in its row.
  private var settled: [Int]
  private var counts = Counts()

  private struct Counts: BitwiseCopyable {
    var mendedRuns = 0
    var mendedSamples = 0
    var abandonedRuns = 0
    var peak: Float = 0
  }

  package init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    level = Float(Decibels(min(max(settings.level.value, -120), 60)).amplitude)
    let wanted = Seconds(min(max(settings.longest.value, 0), 0.02)).frames(at: format.sampleRate)
    longest = min(max(wanted.count, 2), 1024)
    ahead = longest + 1 + Self.context
    gap = ClippedGap(longest: longest, reach: 2 * Self.context + Self.group)
    rows = SampleRows(
      channelCount: format.channelCount, length: Self.context + Self.group + ahead,
      count: Self.context)
    settled = Array(repeating: Self.context, count: format.channelCount)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = rows.append(input, from: start)
      start += count
      pending += count
      if rows.isFull { finishGroup(&output) }
    }
  }

  /// Returns the frames held back, as if silence followed.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      rows.appendSilence(rows.length - rows.count)
      finishGroup(&output)
    }
  }

  /// What was repaired.
  package func report() -> Report {
    Report(
      mendedRuns: counts.mendedRuns, mendedSamples: counts.mendedSamples,
      abandonedRuns: counts.abandonedRuns, peak: Decibels(finiteAmplitude: Double(counts.peak)))
  }

  /// Repairs the runs that begin in the group, returns it, and moves on.
  private func finishGroup(_ output: inout AudioBuffer) {
    let count = min(Self.group, pending)
    let offset = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<outputFormat.channelCount {
      let row = unsafe rows[channel]
      unsafe mendGroup(row, channel)
      unsafe (output.baseAddress(ofChannel: channel) + offset).update(
        from: row + Self.context, count: count)
      settled[channel] = max(settled[channel] - Self.group, Self.context)
    }
    rows.drop(Self.group)
    pending -= count
  }

  private func mendGroup(_ row: UnsafeMutablePointer<Float>, _ channel: Int) {
    let end = Self.context + Self.group
    guard unsafe LinkedLevel.peakMagnitude(row + Self.context, count: Self.group) >= level else {
      return
    }
    // All runs of the group share one model.
    var hasModel: Bool?
    var position = settled[channel]
    while position < end {
      let first = unsafe row[position]
      guard first.magnitude >= level else {
        position += 1
        continue
      }
      var next = position + 1
      while next < rows.length, unsafe row[next].magnitude >= level,
        unsafe (row[next] < 0) == (first < 0)
      { next += 1 }
      let length = next - position
      let before = unsafe row[position - 1]
      if before.magnitude >= level, (before < 0) == (first < 0) {
        // The rest of a run that was longer than the visible part.
      } else if length > longest {
        counts.abandonedRuns += 1
      } else if length > 1 {
        if hasModel == nil {
          hasModel = unsafe gap.findModel(
            row, count: 2 * Self.context + Self.group, below: level)
        }
        if hasModel == true, unsafe gap.mend(row, start: position, count: length) {
          counts.mendedRuns += 1
          counts.mendedSamples += length
          counts.peak = unsafe max(
            counts.peak, LinkedLevel.peakMagnitude(row + position, count: length))
        } else {
          counts.abandonedRuns += 1
        }
      }
      position = next
    }
    settled[channel] = position
  }

  /// The frames held back and the counters.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    var filled = rows.count
    try coder.pass(&filled, in: Self.context..<rows.length)
    try coder.pass(&pending, in: 0...rows.length)
    try coder.pass(&counts)
    try coder.pass(&settled)
    guard settled.allSatisfy({ (Self.context...rows.length).contains($0) }) else {
      throw SnapshotError()
    }
    try rows.code(&coder, count: filled)
  }
}

/// Restores runs of clipped samples from both sides: the samples with the least prediction error of
/// an autoregressive model (Janssen, Veldhuis and Vries 1986).
///
/// The model is fitted to unclipped stretches only, since clipped peaks would make it predict
/// clipping. If clipping leaves only short stretches, a lower order is used. Both systems of
/// equations are solved by Cholesky decomposition; the second is banded and costs O(length ·
/// order²).
private final class ClippedGap {
  /// The highest order of a model.
  static let order = 32
  /// The orders to try, highest first.
  private static let orders = [32, 24, 16, 12, 8, 6, 4, 3, 2]

  /// The noise added to the normal equations, relative to the power of the sound: −50 dB, and −100 dB
  /// for tones, which keeps their equations solvable.
  private static let floor = 1e-5
  private static let toneFloor = 1e-10
  /// No peak is restored to more than this times the clipped one: 8 dB, and 18 dB for tones, whose
  /// model is exact.
  private static let highest: Float = 2.5
  private static let highestTone: Float = 8

  /// The order of the last model found; 0 for none.
  private var order = 0
  /// The limit of restored peaks under that model.
  private var highest = highest
  /// The number of unclipped samples up to each one, and the length of its stretch.
  private let stretches, lengths: Scratch<Int>
  private let samples: Scratch<Double>
  /// The products of the samples at all pairs of lags: the model's normal equations.
  private let normal = Scratch<Double>(repeating: 0, count: (order + 1) * (order + 8))
  /// Their Cholesky factor.
  private let factor = Scratch<Double>(repeating: 0, count: (order + 1) * (order + 1))
  private let model = Scratch<Double>(repeating: 0, count: order + 1)
  private let band = Scratch<Double>(repeating: 0, count: order + 1)
  /// For each row of the lower triangle, the diagonal and the elements to its left.
  private let triangle: Scratch<Double>
  private let solution: Scratch<Double>

  /// Room for runs of up to `longest` samples and models of up to `reach` samples.
  init(longest: Int, reach: Int) {
    stretches = Scratch(repeating: 0, count: reach)
    lengths = Scratch(repeating: 0, count: reach)
    samples = Scratch(repeating: 0, count: reach + 8)
    triangle = Scratch(repeating: 0, count: longest * (Self.order + 1))
    solution = Scratch(repeating: 0, count: longest)
  }

  /// Fits a model to `count` samples, of which those at or above `level` are unknown; false if none
  /// can be fitted.
  func findModel(_ row: UnsafePointer<Float>, count: Int, below level: Float) -> Bool {
    var stretch = 0
    var wasZero = true
    for index in 0..<count {
      let sample = unsafe row[index]
      // Digital silence carries no information about the sound.
      let isSilent = sample == 0 && wasZero
      wasZero = sample == 0
      stretch = sample.magnitude < level && !isSilent ? stretch + 1 : 0
      stretches[index] = stretch
      samples[index] = Double(sample)
    }
    for index in (0..<count).reversed() {
      let goesOn = index + 1 < count && stretches[index + 1] > 0
      lengths[index] = goesOn && stretches[index] > 0 ? lengths[index + 1] : stretches[index]
    }
    order = 0
    for wanted in Self.orders {
      let equations = (0..<count).count { tells($0, order: wanted) }
      guard equations >= 4 * wanted else { continue }
      guard solveModel(order: wanted, count: count) else { return false }
      order = wanted
      for lag in 0...order {
        var sum = 0.0
        for index in 0...order - lag { sum += model[index] * model[index + lag] }
        band[lag] = sum
      }
      return true
    }
    return false
  }

  /// Whether a sample and those before it that the model needs are known, in a stretch long enough
  /// for at least as many equations as the order: with fewer, periodic sound cannot be recognised.
  private func tells(_ index: Int, order: Int) -> Bool {
    stretches[index] > order && lengths[index] >= 2 * order
  }

  /// The coefficients of least squared prediction error (the covariance method).
  private func solveModel(order: Int, count: Int) -> Bool {
    let width = Self.order + 8
    let (matrix, values) = unsafe (normal.start, samples.start)
    unsafe matrix.update(repeating: 0, count: normal.count)
    // Row k holds the sums of x[n − k] · x[n − column], four columns at a time.
    for index in order..<count where tells(index, order: order) {
      for k in 0...order {
        let factor = SIMD4<Double>(repeating: unsafe values[index &- k])
        var column = k / 4 * 4
        while column <= order {
          let place = unsafe UnsafeMutableRawPointer(matrix + (k &* width &+ column))
          // Backwards in time: lane l is x[n − column − l].
          let past = unsafe SIMD4(
            values[index &- column], values[max(index &- column &- 1, 0)],
            values[max(index &- column &- 2, 0)], values[max(index &- column &- 3, 0)])
          let sum = unsafe place.loadUnaligned(as: SIMD4<Double>.self) + factor * past
          unsafe place.storeBytes(of: sum, as: SIMD4<Double>.self)
          column &+= 4
        }
      }
    }
    guard normal[0] > 1e-20 else { return false }
    guard solveNormal(order: order, floor: Self.toneFloor) else { return false }
    // What a model predicts almost exactly is a few tones. All other sound gets a higher floor: where
    // a band is empty, as in sound of a lower rate, a model without it predicts by differences of
    // large terms, and the samples that it finds grow without bound.
    var error = normal[0]
    for k in 1...order { error += model[k] * normal[k] }
    let isTone = error <= 1e-9 * normal[0]
    highest = isTone ? Self.highestTone : Self.highest
    return isTone || solveNormal(order: order, floor: Self.floor)
  }

  /// Solves the normal equations with a noise floor relative to the power of the sound.
  private func solveNormal(order: Int, floor: Double) -> Bool {
    let width = Self.order + 8
    for k in 1...order { normal[k * width + k] += normal[0] * floor }
    // In-place Cholesky on the lower triangle, taken from the upper one by symmetry.
    for i in 1...order {
      for j in 1...i {
        var sum = normal[j * width + i]
        for k in 1..<j { sum -= lower(i, k) * lower(j, k) }
        if i == j {
          guard sum > 0 else { return false }
          setLower(i, i, sum.squareRoot())
        } else {
          setLower(i, j, sum / lower(j, j))
        }
      }
    }
    model[0] = 1
    for i in 1...order {
      var sum = -normal[i]
      for k in 1..<i { sum -= lower(i, k) * model[k] }
      model[i] = sum / lower(i, i)
    }
    for i in (1...order).reversed() {
      var sum = model[i]
      for k in i + 1..<max(order + 1, i + 1) { sum -= lower(k, i) * model[k] }
      model[i] = sum / lower(i, i)
    }
    return (1...order).allSatisfy { model[$0].isFinite }
  }

  private func lower(_ i: Int, _ k: Int) -> Double { factor[i * (Self.order + 1) + k] }

  private func setLower(_ i: Int, _ k: Int, _ value: Double) {
    factor[i * (Self.order + 1) + k] = value
  }

  /// Replaces `count` samples from `start` by the model's prediction; the model's order of samples
  /// must exist on both sides. Magnitudes never fall below the clipped ones, nor exceed `highest`
  /// times them.
  /// - Returns: false, and changes nothing, if rounding prevents a solution.
  func mend(_ row: UnsafeMutablePointer<Float>, start: Int, count: Int) -> Bool {
    guard order > 0, unsafe solve(row, start: start, count: count) else { return false }
    for index in 0..<count {
      let clipped = unsafe row[start + index]
      let sign: Float = clipped < 0 ? -1 : 1
      let found = Float(solution[index]) * sign
      unsafe row[start + index] =
        sign * min(max(found, clipped.magnitude), highest * clipped.magnitude)
    }
    return true
  }

  private func solve(_ row: UnsafePointer<Float>, start: Int, count: Int) -> Bool {
    let (order, width) = (order, Self.order + 1)
    for index in 0..<count {
      // The right-hand side, from the known samples.
      var sum = 0.0
      for lag in 1...order {
        if index - lag < 0 { sum -= band[lag] * Double(unsafe row[start + index - lag]) }
        if index + lag >= count { sum -= band[lag] * Double(unsafe row[start + index + lag]) }
      }
      solution[index] = sum
    }
    let (lower, values) = unsafe (triangle.start, solution.start)
    for i in 0..<count {
      // An element's distance from the diagonal is its place in the row.
      for distance in stride(from: min(i, order), through: 0, by: -1) {
        let j = i - distance
        var sum = band[distance]
        var k = max(i - order, 0)
        while k < j {
          sum -= unsafe lower[i &* width &+ i &- k] * lower[j &* width &+ j &- k]
          k &+= 1
        }
        if distance > 0 {
          unsafe lower[i * width + distance] = sum / lower[j * width]
        } else {
          guard sum > 0 else { return false }
          unsafe lower[i * width] = sum.squareRoot()
        }
      }
    }
    for i in 0..<count {
      for k in max(i - order, 0)..<i {
        unsafe values[i] -= lower[i * width + i - k] * values[k]
      }
      unsafe values[i] /= lower[i * width]
    }
    for i in (0..<count).reversed() {
      for k in i + 1..<max(min(i + order + 1, count), i + 1) {
        unsafe values[i] -= lower[k * width + k - i] * values[k]
      }
      unsafe values[i] /= lower[i * width]
    }
    return (0..<count).allSatisfy { solution[$0].isFinite }
  }
}
