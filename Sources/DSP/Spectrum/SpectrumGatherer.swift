public import AudioModel
import Glibc

/// Reduces sound of any length to a bounded number of columns of a spectrogram.
///
/// Columns begin short. Each time there are as many as are wanted at most, neighbours are joined, so
/// that there are half as many of twice the length: memory stays flat, and what comes out depends
/// only on the sound, never on how it was cut or on a length that a header promised. The powers of a
/// column are the means of the transforms whose middles lie in it, under a Hann window; a full-scale
/// sine has power 1. A sample that is no number counts as 0.
public final class SpectrumGatherer {
  /// How the columns are laid out.
  public struct Layout: Hashable, Sendable {
    /// Rows of each channel.
    public var rowCount: Int
    /// Columns at most; even.
    public var columnLimit: Int
    /// Where the rows lie.
    public var scale: FrequencyScale
    /// The upper edge of the uppermost row.
    public var top: Hertz

    /// Describes a layout.
    public init(rowCount: Int, columnLimit: Int, scale: FrequencyScale, top: Hertz) {
      precondition(rowCount > 0 && columnLimit > 1 && columnLimit % 2 == 0)
      self.rowCount = rowCount
      self.columnLimit = columnLimit
      self.scale = scale
      self.top = top
    }
  }

  /// The powers of all whole columns: in each, one channel after the other, each from its lowest row
  /// to its uppermost.
  public private(set) var columns: [Float] = []
  /// How many times neighbours have been joined.
  public private(set) var generation = 0
  /// Frames heard so far.
  public private(set) var frames = Frames.zero
  /// Numbers in a column.
  public var columnLength: Int { current.count }
  /// Whole columns.
  public var columnCount: Int { columns.count / columnLength }
  /// Frames behind each column.
  public var framesPerColumn: Int { Self.shortest << generation }

  private let layout: Layout
  private let transform: any PowerTransform
  private let rows: SpectrumRows
  private let window: [Float]
  private let scale: Float
  private var powers: [Float]
  private var windowed: [Float]
  private var held: HeldSamples
  /// The sums of the column under way, and how many transforms are in them.
  private var current: [Float]
  private var currentCount = 0
  /// The middle of the next transform.
  private var nextMiddle: Int

  /// Frames behind the first columns.
  private static let shortest = 64

  /// A gatherer for sound of `format`.
  public init(format: AudioFormat, layout: Layout, transform: any PowerTransform) {
    self.layout = layout
    self.transform = transform
    let length = transform.length
    rows = SpectrumRows(
      count: layout.rowCount, length: length, sampleRate: format.sampleRate, scale: layout.scale,
      top: layout.top)
    window = (0..<length).map {
      Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(length)))
    }
    // The window's sum is half its length; a sine's power is in two halves of the spectrum.
    scale = Float(pow(4 / Double(length), 2))
    powers = [Float](repeating: 0, count: length / 2 + 1)
    windowed = [Float](repeating: 0, count: length)
    held = HeldSamples(channelCount: format.channelCount, reach: length / 2)
    current = [Float](repeating: 0, count: format.channelCount * layout.rowCount)
    nextMiddle = min(Self.shortest, length / 2) / 2
  }

  /// Hears the next block. It allocates a little for every column.
  public func gather(_ block: borrowing AudioBuffer) {
    frames += block.frameCount
    var start = 0
    while start < block.frameCount.count {
      start += held.append(block, from: start)
      advance(to: .max)
      held.drop(before: nextMiddle - transform.length / 2)
    }
  }

  /// The sound is over: the column under way is made whole with what there is. Called once.
  public func finish() {
    let end = frames.count
    held.appendSilence(transform.length)
    advance(to: end)
    guard end > columnCount * framesPerColumn else { return }
    // Even a single sample is seen.
    if currentCount == 0 { add(at: nextMiddle) }
    closeColumn()
  }

  /// Frames from one transform to the next: as long as a column, but never so long that anything
  /// falls between two windows.
  private var hop: Int { min(framesPerColumn, transform.length / 2) }

  private func advance(to limit: Int) {
    while nextMiddle < limit, nextMiddle + transform.length / 2 <= held.end {
      add(at: nextMiddle)
      nextMiddle += hop
      guard nextMiddle >= (columnCount + 1) * framesPerColumn else { continue }
      closeColumn()
      if columnCount == layout.columnLimit { joinColumns() }
    }
  }

  private func add(at middle: Int) {
    for channel in 0..<current.count / layout.rowCount {
      held.copy(channel, from: middle - transform.length / 2, times: window, to: &windowed)
      var target = powers.mutableSpan
      transform.transform(windowed.span, into: &target)
      // What is its own mirror image is in one half only.
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
}

extension SpectrumGatherer {
  /// Everything but the whole columns: some kilobytes for each channel.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(generation)
    snapshot.append(currentCount)
    snapshot.append(nextMiddle)
    snapshot.append(contentsOf: current)
    snapshot.append(held.snapshot(from: nextMiddle - transform.length / 2))
    return snapshot
  }

  /// Takes over the state of a gatherer for the same sound and layout.
  /// - Parameter columns: its whole columns.
  public func restore(
    _ snapshot: ProcessorSnapshot, columns: [Float]
  ) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let generation = try reader.next(Int.self)
    let currentCount = try reader.next(Int.self)
    let nextMiddle = try reader.next(Int.self)
    let current = try reader.next(Float.self, count: self.current.count)
    let samples = try reader.nextPart()
    try reader.finish()
    guard (0..<48).contains(generation), currentCount >= 0, nextMiddle >= 0,
      columns.count % columnLength == 0, columns.count < layout.columnLimit * columnLength
    else { throw SnapshotError() }
    try held.restore(samples)
    frames = Frames(held.end)
    (self.generation, self.currentCount, self.nextMiddle) = (generation, currentCount, nextMiddle)
    (self.current, self.columns) = (current, columns)
  }
}
