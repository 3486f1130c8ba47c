public import AudioModel

/// Makes sound faster or slower and leaves its pitch: overlapping windows are taken from the old
/// time at another pace than they are laid down in the new, each shifted a little so that it fits
/// what it follows (WSOLA: Verhelst and Roelands, ICASSP 1993).
///
/// At a tempo of 1 every sample comes through bit for bit. All channels move together. What it did
/// is a `Timeline`; within it, sound lies at most the reach of the search, 12 ms, from its place.
public final class TempoChanger: ReportingProcessor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat

  private let tempo: Double
  /// Frames from one window to the next in the new time; half a window.
  private let hop: Int
  /// How far a window may be shifted.
  private let reach: Int
  private let search: SimilaritySearch
  /// The gain with which a window rises over its first half.
  private let rise: Scratch<Float>

  /// For each channel, the frames from `origin` on.
  private let rows: Scratch<Float>
  private let rowLength: Int
  private var (origin, filled) = (0, 0)
  /// Frames taken and frames given.
  private var (taken, given) = (0, 0)
  /// Windows laid down so far, and where in the old time the last one went on.
  private var (windows, next) = (0, 0)
  private static let chunk = 1024

  /// A changer to `tempo` times the speed, taken within 0.25…4.
  public init(tempo: Double, format: AudioFormat) {
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
    // A window ahead, one behind, what both may be shifted, and what the pace leaves between them.
    rowLength = Int(Double(hop) * (self.tempo + 4)) + 4 * reach + 2 * Self.chunk
    rows = Scratch(repeating: 0, count: rowLength * format.channelCount)
  }

  /// Two windows and the reach of the search, at the new pace.
  public var latency: Frames { Frames(Int(Double(2 * hop + reach) / tempo) + hop + 2) }

  /// How many frames a sound of this length becomes at `tempo`.
  public static func length(of input: Frames, at tempo: Double) -> Frames {
    Frames(Int((Double(input.count) / tempo).rounded()))
  }

  /// What comes in at the new pace, and what is held back.
  public func capacity(for input: Frames) -> Frames {
    Self.length(of: input, at: tempo) + latency + Frames(1)
  }

  /// Takes a block, and gives every window that is sure.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = min(Self.chunk, input.frameCount.count - start)
      for channel in 0..<output.channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start, to: row(channel) + filled,
          count: count)
      }
      filled += count
      taken += count
      start += count
      give(.max, to: &output)
    }
  }

  /// Gives the windows that reach beyond the end, and cuts the last of them off there.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let total = Self.length(of: Frames(taken), at: tempo).count
    while given < total {
      for channel in 0..<output.channelCount {
        unsafe (row(channel) + filled).update(repeating: 0, count: Self.chunk)
      }
      filled += Self.chunk
      give(total, to: &output)
    }
  }

  @inline(__always)
  private func row(_ channel: Int) -> UnsafeMutablePointer<Float> {
    unsafe rows.start + channel * rowLength
  }

  /// Lays down every window for which there is enough sound, up to frame `total`.
  private func give(_ total: Int, to output: inout AudioBuffer) {
    while given < total {
      let goal = Int((Double(windows * hop) * tempo).rounded())
      guard max(goal + reach, next) + hop <= origin + filled else { return }
      let place = windows == 0 ? 0 : bestPlace(near: goal)
      lay(place, count: min(hop, total - given), into: &output)
      windows += 1
      next = place + hop
      forget(before: min(next, Int((Double(windows * hop) * tempo).rounded()) - reach))
    }
  }

  /// Where the window begins that goes on most like the last one would have.
  private func bestPlace(near goal: Int) -> Int {
    let first = max(goal - reach, origin)
    search.clear()
    for channel in 0..<outputFormat.channelCount {
      unsafe search.add(
        natural: row(channel) + (next - origin), candidates: row(channel) + (first - origin),
        count: hop + goal + reach - first)
    }
    return first + search.best(count: goal + reach - first + 1, preferring: goal - first)
  }

  /// Goes over from the last window to the one at `place`.
  private func lay(_ place: Int, count: Int, into output: inout AudioBuffer) {
    let end = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<output.channelCount {
      let target = unsafe output.baseAddress(ofChannel: channel) + end
      let new = unsafe row(channel) + (place - origin)
      let old = unsafe row(channel) + (next - origin)
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
    let count = min(max(frame - origin, 0), filled)
    guard count >= Self.chunk / 2 else { return }
    for channel in 0..<outputFormat.channelCount {
      unsafe row(channel).update(from: row(channel) + count, count: filled - count)
    }
    origin += count
    filled -= count
  }

  /// One piece: all of it, at another pace.
  public func report() -> Timeline {
    let before = Frames(taken).duration(at: outputFormat.sampleRate)
    let after = Frames(given).duration(at: outputFormat.sampleRate)
    return Timeline(
      before: before, after: after,
      pieces: given == 0
        ? [] : [Timeline.Piece(from: Seconds(0), to: before, at: Seconds(0), until: after)])
  }
}

extension TempoChanger {
  /// The sound that may still be needed: 4 bytes a sample.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    for number in [taken, given, windows, next, origin, filled] { snapshot.append(number) }
    for channel in 0..<outputFormat.channelCount {
      unsafe snapshot.append(samples: row(channel), count: filled)
    }
    return snapshot
  }

  /// Takes over the state of a changer to the same tempo.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let numbers = try reader.next(Int.self, count: 6)
    let (next, origin, filled) = (numbers[3], numbers[4], numbers[5])
    guard numbers.allSatisfy({ $0 >= 0 }), filled <= rowLength - Self.chunk,
      (origin...origin + rowLength).contains(max(next, origin)),
      reader.remainingByteCount == 4 * filled * outputFormat.channelCount
    else { throw SnapshotError() }
    for channel in 0..<outputFormat.channelCount {
      unsafe try reader.read(filled, into: row(channel))
    }
    try reader.finish()
    (taken, given, windows) = (numbers[0], numbers[1], numbers[2])
    (self.next, self.origin, self.filled) = (next, origin, filled)
  }
}
