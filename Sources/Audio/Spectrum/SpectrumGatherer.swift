import Glibc

/// Reduces sound of any length to a bounded number of spectrogram columns.
///
/// Columns begin short. Whenever the limit is reached, neighbours are merged into half as many of
/// twice the length: memory stays bounded, and the result depends only on the sound, not on block
/// boundaries or a declared length. The powers of a column are the means of the Hann-windowed
/// transforms centred in it; a full-scale sine has power 1. Damaged samples count as 0.
package final class SpectrumGatherer: Resumable {
  /// The frequency axis of a picture.
  package enum Scale: String, Hashable, Sendable, Codable, CaseIterable {
    /// Equal mel intervals, 2595 · log₁₀(1 + f / 700 Hz) (O'Shaughnessy 1987).
    case mel
    /// Equal intervals in hertz.
    case linear
    /// Equal ratios, from 30 Hz.
    case log

    /// The lower end of a logarithmic scale, in Hz.
    private static let bottom = 30.0

    /// The position of a frequency, from 0 at the bottom to 1 at `top`.
    package func height(of frequency: Hertz, top: Hertz) -> Double {
      (warped(frequency.value) - warped(0)) / (warped(top.value) - warped(0))
    }

    /// The frequency at a position.
    package func frequency(at height: Double, top: Hertz) -> Hertz {
      let warped = warped(0) + height * (warped(top.value) - warped(0))
      return switch self {
      case .mel: Hertz(700 * (pow(10, warped / 2595) - 1))
      case .linear: Hertz(warped)
      case .log: Hertz(exp2(warped))
      }
    }

    private func warped(_ frequency: Double) -> Double {
      switch self {
      case .mel: 2595 * log10(1 + frequency / 700)
      case .linear: frequency
      case .log: log2(max(frequency, Self.bottom))
      }
    }
  }

  /// How the columns are laid out.
  package struct Layout: Hashable, Sendable {
    /// Rows of each channel.
    package var rowCount: Int
    /// The greatest number of columns; even.
    package var columnLimit: Int
    /// Where the rows lie.
    package var scale: Scale
    /// The upper edge of the top row.
    package var top: Hertz

    package init(rowCount: Int, columnLimit: Int, scale: Scale, top: Hertz) {
      precondition(rowCount > 0 && columnLimit > 1 && columnLimit % 2 == 0)
      self.rowCount = rowCount
      self.columnLimit = columnLimit
      self.scale = scale
      self.top = top
    }
  }

  /// The powers of all complete columns: in each, channel by channel, from the lowest row up.
  package private(set) var columns: [Float] = []
  /// How many times columns were merged.
  package private(set) var generation = 0
  /// Frames analysed so far.
  package private(set) var frames = Frames.zero
  /// Values in a column.
  package var columnLength: Int { current.count }
  /// Complete columns.
  package var columnCount: Int { columns.count / columnLength }
  /// Frames in a column.
  package var framesPerColumn: Int { Self.shortest << generation }

  private let layout: Layout
  private let transform: Transform
  /// Samples of a transform.
  private let length: Int
  private let rows: SpectrumRows
  private let window: [Float]
  private let scale: Float
  private var powers: [Float]
  private var windowed: [Float]
  /// The last samples of each channel within a transform's reach.
  private var held: SampleRows
  /// The frame of the first sample held; before the sound lies silence.
  private var heldStart: Int
  /// The sums of the current column, and the number of transforms in them.
  private var current: [Float]
  private var currentCount = 0
  /// The centre of the next transform.
  private var nextMiddle: Int

  /// Frames in a column at first.
  private static let shortest = 64

  /// Writes the squared magnitudes of the unscaled Fourier transform of a window of samples, at 0,
  /// 1, … `window` / 2 times the sample rate over `window`. Never allocates.
  package typealias Transform = (Span<Float>, inout MutableSpan<Float>) -> Void

  /// - Parameter length: samples of a transform, a power of two.
  package init(
    format: AudioFormat, layout: Layout, window length: Int, transform: @escaping Transform
  ) {
    self.layout = layout
    self.transform = transform
    self.length = length
    rows = SpectrumRows(
      count: layout.rowCount, length: length, sampleRate: format.sampleRate, scale: layout.scale,
      top: layout.top)
    window = (0..<length).map {
      Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(length)))
    }
    // The window's sum is half its length; a sine's power is split over both halves of the
    // spectrum.
    scale = Float(pow(4 / Double(length), 2))
    powers = [Float](repeating: 0, count: length / 2 + 1)
    windowed = [Float](repeating: 0, count: length)
    held = SampleRows(
      channelCount: format.channelCount, length: 4 * length, count: length / 2)
    heldStart = -length / 2
    current = [Float](repeating: 0, count: format.channelCount * layout.rowCount)
    nextMiddle = min(Self.shortest, length / 2) / 2
  }

  /// Adds a block. Allocates a little for every column.
  package func gather(_ block: borrowing AudioBuffer) {
    frames += block.frameCount
    var start = 0
    while start < block.frameCount.count {
      start += held.append(block, from: start)
      advance(to: .max)
      // Moving is expensive, so the room is used first.
      if unneeded > held.length / 4 { dropUnneeded() }
    }
  }

  private func dropUnneeded() {
    let count = unneeded
    held.drop(count)
    heldStart += count
  }

  /// Completes the current column with the sound so far. Called once.
  package func finish() {
    let end = frames.count
    held.appendSilence(length)
    advance(to: end)
    guard end > columnCount * framesPerColumn else { return }
    // Shows even a single sample.
    if currentCount == 0 { add(at: nextMiddle) }
    closeColumn()
  }

  /// The distance between transforms: a column, but at most half a window, so that none of the
  /// sound is missed.
  private var hop: Int { min(framesPerColumn, length / 2) }

  private func advance(to limit: Int) {
    while nextMiddle < limit, nextMiddle + length / 2 <= heldStart + held.count {
      add(at: nextMiddle)
      nextMiddle += hop
      guard nextMiddle >= (columnCount + 1) * framesPerColumn else { continue }
      closeColumn()
      if columnCount == layout.columnLimit { joinColumns() }
    }
  }

  /// The number of held frames that no later transform needs.
  private var unneeded: Int {
    min(max(nextMiddle - length / 2 - heldStart, 0), held.count)
  }

  private func add(at middle: Int) {
    precondition(
      middle - length / 2 >= heldStart && middle + length / 2 <= heldStart + held.count)
    for channel in 0..<current.count / layout.rowCount {
      let samples = unsafe held[channel] + (middle - length / 2 - heldStart)
      for index in window.indices { unsafe windowed[index] = samples[index] * window[index] }
      var target = powers.mutableSpan
      transform(windowed.span, &target)
      // The bins that are their own mirror image occur in one half only.
      powers[0] *= 0.25
      powers[powers.count - 1] *= 0.25
      rows.add(powers, times: scale, to: &current, at: channel * layout.rowCount)
    }
    currentCount += 1
  }

  private func closeColumn() {
    let share = 1 / Float(max(currentCount, 1))
    for index in current.indices {
      columns.append(current[index] * share)
      current[index] = 0
    }
    currentCount = 0
  }

  private func joinColumns() {
    let length = columnLength
    for column in 0..<columnCount / 2 {
      for index in 0..<length {
        columns[column * length + index] =
          (columns[2 * column * length + index] + columns[(2 * column + 1) * length + index]) / 2
      }
    }
    columns.removeLast(columns.count / 2)
    generation += 1
    nextMiddle = columnCount * framesPerColumn + hop / 2
  }

  /// Everything except the complete columns: a few kilobytes a channel.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&generation, in: 0..<48)
    try coder.pass(&currentCount, in: 0...)
    try coder.pass(&nextMiddle, in: 0...)
    try coder.pass(&current)
    if !coder.isReading { dropUnneeded() }
    // The frames held are a part of their own, preceded by its length.
    func byteCount(_ count: Int) -> Int { 16 + 4 * count * held.channelCount }
    var length = byteCount(held.count)
    try coder.pass(&length)
    try coder.pass(&heldStart)
    var count = held.count
    try coder.pass(&count, in: 0...held.length)
    guard length == byteCount(count) else { throw SnapshotError() }
    try held.code(&coder, count: count)
    frames = Frames(heldStart + count)
  }

  /// Restores the state together with the complete columns.
  package func restore(
    _ snapshot: ProcessorSnapshot, columns: [Float]
  ) throws(SnapshotError) {
    guard columns.count % columnLength == 0, columns.count < layout.columnLimit * columnLength
    else { throw SnapshotError() }
    try restore(snapshot)
    self.columns = columns
  }
}

/// Maps the bins of a Fourier transform to the rows of a picture, lowest frequency first.
struct SpectrumRows {
  /// The source of a row.
  private enum Source {
    /// The maximum of several bins, so that a narrow tone stays visible.
    case greatest(Range<Int>)
    /// An interpolation between two bins.
    case between(Int, share: Float)
  }

  private let sources: [Source]

  /// `rowCount` rows up to `top`, for a transform of `length` samples.
  init(
    count: Int, length: Int, sampleRate: Hertz, scale: SpectrumGatherer.Scale, top: Hertz
  ) {
    let last = length / 2
    let binsPerHertz = Double(length) / sampleRate.value
    sources = (0..<count).map { row in
      func bin(_ height: Double) -> Double {
        min(scale.frequency(at: height, top: top).value * binsPerHertz, Double(last))
      }
      let low = bin(Double(row) / Double(count))
      let high = bin(Double(row + 1) / Double(count))
      let first = Int(low.rounded(.up))
      let end = row == count - 1 ? Int(high.rounded(.down)) + 1 : Int(high.rounded(.up))
      if first < min(end, last + 1) { return .greatest(first..<min(end, last + 1)) }
      let middle = bin((Double(row) + 0.5) / Double(count))
      let below = min(Int(middle), last - 1)
      return .between(below, share: Float(middle - Double(below)))
    }
  }

  var count: Int { sources.count }

  /// Adds the power of each row, times `scale`, to `rows` from `start`.
  func add(
    _ powers: [Float], times scale: Float, to rows: inout [Float], at start: Int
  ) {
    for (row, source) in sources.enumerated() {
      var power: Float = 0
      switch source {
      case .greatest(let bins):
        for bin in bins { power = max(power, powers[bin]) }
      case .between(let bin, let share):
        power = powers[bin] + (powers[bin + 1] - powers[bin]) * share
      }
      rows[start + row] += power * scale
    }
  }
}
