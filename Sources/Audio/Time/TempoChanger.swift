import Glibc

/// Changes the tempo and keeps the pitch (WSOLA: Verhelst and Roelands, ICASSP 1993): overlapping
/// windows are read at another pace than they are written, each shifted to match its predecessor.
///
/// At a tempo of 1 every sample passes bit-exactly. All channels share the shifts. Reports a
/// `Timeline`; within it, sound lies at most the search range, 12 ms, from its place.
package final class TempoChanger: ReportingProcessor {
  package let outputFormat: AudioFormat

  private let tempo: Double
  /// The distance between windows in the output; half a window.
  private let hop: Int
  /// The search range: the greatest shift of a window.
  private let reach: Int
  private let search: SimilaritySearch
  /// The fade-in gains of a window's first half.
  private let rise: Scratch<Float>

  /// For each channel, the frames from `origin` on.
  private var rows: SampleRows
  private var origin = 0
  /// Frames taken and frames returned.
  private var (taken, given) = (0, 0)
  /// Windows written so far, and the input position that continues the last one.
  private var (windows, next) = (0, 0)
  private static let chunk = 1024

  /// `tempo` is clamped to 0.25…4.
  package init(tempo: Double, format: AudioFormat) {
    self.tempo = tempo.isFinite ? min(max(tempo, 0.25), 4) : 1
    let rate = format.sampleRate
    outputFormat = format
    hop = max(Seconds(0.02).frames(at: rate).count, 16)
    reach = max(Seconds(0.012).frames(at: rate).count, 8)
    search = SimilaritySearch(
      length: hop, reach: reach, step: max(1, Int(rate.value / 8000)))
    rise = Scratch(repeating: 0, count: hop)
    for index in 0..<hop {
      rise[index] = Float(FadeCurve.sCurve.gain(at: (Double(index) + 0.5) / Double(hop)))
    }
    // A window ahead, one behind, the search range of both, and the distance between them.
    rows = SampleRows(
      channelCount: format.channelCount,
      length: Int(Double(hop) * (self.tempo + 4)) + 4 * reach + 2 * Self.chunk)
  }

  /// Two windows and the search range, at the new tempo.
  package var latency: Frames { Frames(Int(Double(2 * hop + reach) / tempo) + hop + 2) }

  /// The output length for an input of this length at `tempo`.
  package static func length(of input: Frames, at tempo: Double) -> Frames {
    Frames(Int((Double(input.count) / tempo).rounded()))
  }

  /// The input at the new tempo, plus the latency.
  package func capacity(for input: Frames) -> Frames {
    Self.length(of: input, at: tempo) + latency + Frames(1)
  }

  /// Takes a block, and returns every window that is complete.
  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = rows.append(input, from: start, atMost: Self.chunk)
      taken += count
      start += count
      give(.max, to: &output)
    }
  }

  /// Returns the windows that reach beyond the end, cut at the end.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let total = Self.length(of: Frames(taken), at: tempo).count
    while given < total {
      rows.appendSilence(Self.chunk)
      give(total, to: &output)
    }
  }

  /// Writes every window with enough input, up to frame `total`.
  private func give(_ total: Int, to output: inout AudioBuffer) {
    while given < total {
      let goal = Int((Double(windows * hop) * tempo).rounded())
      guard max(goal + reach, next) + hop <= origin + rows.count else { return }
      let place = windows == 0 ? 0 : bestPlace(near: goal)
      lay(place, count: min(hop, total - given), into: &output)
      windows += 1
      next = place + hop
      forget(before: min(next, Int((Double(windows * hop) * tempo).rounded()) - reach))
    }
  }

  /// The start of the window that best continues the last one.
  private func bestPlace(near goal: Int) -> Int {
    let first = max(goal - reach, origin)
    search.clear()
    for channel in 0..<outputFormat.channelCount {
      unsafe search.add(
        natural: rows[channel] + (next - origin), candidates: rows[channel] + (first - origin),
        count: hop + goal + reach - first)
    }
    return first + search.best(count: goal + reach - first + 1, preferring: goal - first)
  }

  /// Crossfades from the last window to the one at `place`.
  private func lay(_ place: Int, count: Int, into output: inout AudioBuffer) {
    let end = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<output.channelCount {
      let target = unsafe output.baseAddress(ofChannel: channel) + end
      let new = unsafe rows[channel] + (place - origin)
      let old = unsafe rows[channel] + (next - origin)
      if windows == 0 || place == next {
        unsafe target.update(from: new, count: count)
      } else {
        for index in 0..<count {
          unsafe target[index] = old[index] + (new[index] - old[index]) * rise[index]
        }
      }
    }
    given += count
  }

  private func forget(before frame: Int) {
    let count = min(max(frame - origin, 0), rows.count)
    guard count >= Self.chunk / 2 else { return }
    rows.drop(count)
    origin += count
  }

  /// A single piece: the whole sound at another tempo.
  package func report() -> Timeline {
    let before = Frames(taken).duration(at: outputFormat.sampleRate)
    let after = Frames(given).duration(at: outputFormat.sampleRate)
    return Timeline(
      before: before, after: after,
      pieces: given == 0
        ? [] : [Timeline.Piece(from: Seconds(0), to: before, at: Seconds(0), until: after)])
  }

  /// The input still needed: 4 bytes a sample.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    var numbers = [taken, given, windows, next, origin, rows.count]
    try coder.pass(&numbers)
    guard numbers.allSatisfy({ $0 >= 0 }) else { throw SnapshotError() }
    (taken, given, windows) = (numbers[0], numbers[1], numbers[2])
    (next, origin) = (numbers[3], numbers[4])
    let filled = numbers[5]
    guard filled <= rows.length - Self.chunk, next - origin <= rows.length else {
      throw SnapshotError()
    }
    try rows.code(&coder, count: filled)
  }
}

/// Finds the most similar stretch by normalised cross-correlation of the channel sum: first over
/// means of a few frames, then frame by frame around the best.
struct SimilaritySearch: ~Copyable {
  private let length: Int
  private let step: Int
  private let natural: Scratch<Float>
  private let candidates: Scratch<Float>
  private let coarseNatural: Scratch<Float>
  private let coarseCandidates: Scratch<Float>

  /// Compares stretches of `length` frames at up to 2 · `reach` + 1 places; the coarse pass uses
  /// means of `step` frames.
  init(length: Int, reach: Int, step: Int) {
    self.length = length
    self.step = step
    natural = Scratch(repeating: 0, count: length)
    candidates = Scratch(repeating: 0, count: length + 2 * reach + 1)
    coarseNatural = Scratch(repeating: 0, count: length / step + 1)
    coarseCandidates = Scratch(repeating: 0, count: (length + 2 * reach) / step + 2)
  }

  /// Clears all channels.
  func clear() {
    unsafe natural.start.update(repeating: 0, count: natural.count)
    unsafe candidates.start.update(repeating: 0, count: candidates.count)
  }

  /// Adds a channel: `length` target samples, and `count` samples to search.
  func add(natural sought: UnsafePointer<Float>, candidates: UnsafePointer<Float>, count: Int) {
    precondition(count <= self.candidates.count)
    for index in 0..<length { unsafe natural.start[index] += sought[index] }
    for index in 0..<count { unsafe self.candidates.start[index] += candidates[index] }
  }

  /// The best of the first `count` places; `preferred` if it is about as good.
  func best(count: Int, preferring preferred: Int) -> Int {
    let coarseLength = length / step
    for index in 0..<coarseLength { coarseNatural[index] = mean(natural, index) }
    let places = (count - 1) / step + 1
    for index in 0..<places + coarseLength - 1 { coarseCandidates[index] = mean(candidates, index) }

    var (coarse, coarseScore) = (preferred / step, -Float.infinity)
    for place in 0..<places {
      let score = unsafe SimilaritySearch.score(
        coarseNatural.start, coarseCandidates.start + place, count: coarseLength)
      if score > coarseScore { (coarse, coarseScore) = (place, score) }
    }
    var best = preferred
    // A move must gain more than rounding errors.
    var bestScore = score(at: preferred) + 1e-4
    for place in max(0, (coarse - 1) * step)...min(count - 1, (coarse + 1) * step) {
      let score = score(at: place)
      if score > bestScore { (best, bestScore) = (place, score) }
    }
    return best
  }

  private func mean(_ samples: borrowing Scratch<Float>, _ index: Int) -> Float {
    var sum: Float = 0
    for offset in 0..<step {
      let place = index * step + offset
      if place < samples.count { unsafe sum += samples.start[place] }
    }
    return sum
  }

  private func score(at place: Int) -> Float {
    unsafe SimilaritySearch.score(natural.start, candidates.start + place, count: length)
  }

  /// The correlation divided by the root of the candidate's energy, relative to the target's
  /// constant energy, from −1 to 1: 1 for the same wave.
  private static func score(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, count: Int
  ) -> Float {
    var (product, energyA, energyB) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
    var index = 0
    while index &+ 8 <= count {
      let x = unsafe LinkedLevel.load(a + index)
      let y = unsafe LinkedLevel.load(b + index)
      product += x * y
      energyA += x * x
      energyB += y * y
      index &+= 8
    }
    var (sum, sumA, sumB) = (product.sum(), energyA.sum(), energyB.sum())
    while index < count {
      unsafe sum += a[index] * b[index]
      unsafe sumA += a[index] * a[index]
      unsafe sumB += b[index] * b[index]
      index &+= 1
    }
    let energy = (sumA * sumB).squareRoot()
    return energy > 1e-20 && energy.isFinite ? sum / energy : 0
  }
}
