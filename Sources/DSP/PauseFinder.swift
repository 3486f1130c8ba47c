public import AudioModel

/// Finds where sound begins anew after a pause: the places where a recording of several pieces can be
/// cut, while it goes by.
///
/// A pause is where every sample of every channel stays below a threshold for a minimum time. The
/// place is a little before the sound that ends the pause, so that soft beginnings are kept; never
/// before the pause began. What comes before the first sound is no pause, nor is what follows the
/// last.
public final class PauseFinder: Analyser {
  /// What counts as a pause.
  public struct Settings: Hashable, Sendable {
    /// The level of a sample, relative to full scale, that ends a pause.
    public var threshold: Decibels
    /// How long it has to be quiet; taken as one frame at least.
    public var minimum: Seconds
    /// How much of the pause lies behind the place.
    public var padding: Seconds

    /// Describes a pause.
    public init(threshold: Decibels, minimum: Seconds, padding: Seconds) {
      self.threshold = threshold
      self.minimum = minimum
      self.padding = padding
    }
  }

  private let threshold: Float
  private let minimum: Int
  private let padding: Int
  /// Frames of quiet so far, since the last sound or the beginning.
  private var quiet = 0
  private var hasHeardSound = false
  private var frames = 0
  private var found: [Frames] = []

  private static let chunk = 512
  private let levels = Scratch<Float>(repeating: 0, count: chunk)
  private var block: AudioBuffer

  /// A finder that has heard nothing yet.
  public init(_ settings: Settings, format: AudioFormat) {
    threshold = Float(settings.threshold.amplitude)
    minimum = max(settings.minimum.frames(at: format.sampleRate).count, 1)
    padding = max(settings.padding.frames(at: format.sampleRate).count, 0)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
  }

  /// Frames heard so far.
  public var position: Frames { Frames(frames) }

  /// No place before this frame is found any more. At most the padding behind `position`.
  public var settled: Frames { Frames(hasHeardSound ? frames - min(padding, quiet) : frames) }

  /// The places so far, in order.
  public func finding() -> [Frames] { found }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) {
    analyse(input, from: .zero)
  }

  /// Listens to a block but for its first frames.
  public func analyse(_ input: borrowing AudioBuffer, from first: Frames) {
    var start = first.count
    while start < input.frameCount.count {
      let count = min(Self.chunk, input.frameCount.count - start)
      block.frameCount = Frames(count)
      for channel in 0..<block.channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start,
          to: block.baseAddress(ofChannel: channel), count: count)
      }
      unsafe LinkedLevel.measure(block, start: 0, count: count, into: levels.start)
      for index in 0..<count {
        if unsafe levels.start[index] >= threshold {
          if hasHeardSound, quiet >= minimum {
            found.append(Frames(frames + index - min(padding, quiet)))
          }
          hasHeardSound = true
          quiet = 0
        } else {
          quiet += 1
        }
      }
      frames += count
      start += count
    }
  }
}

extension PauseFinder {
  /// Where it is, and 8 bytes for every place.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    for number in [frames, quiet, hasHeardSound ? 1 : 0, found.count] { snapshot.append(number) }
    snapshot.append(contentsOf: found.map(\.count))
    return snapshot
  }

  /// Takes over the state of a finder with the same settings.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let frames = try reader.next(Int.self)
    let quiet = try reader.next(Int.self)
    let heard = try reader.next(Int.self)
    let found = try reader.next(Int.self, count: try reader.nextCount())
    try reader.finish()
    guard frames >= 0, (0...frames).contains(quiet), (0...1).contains(heard),
      found.allSatisfy({ (0..<frames).contains($0) })
    else { throw SnapshotError() }
    (self.frames, self.quiet, hasHeardSound) = (frames, quiet, heard == 1)
    self.found = found.map { Frames($0) }
  }
}
