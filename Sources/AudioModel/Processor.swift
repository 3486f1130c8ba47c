/// A streaming treatment of sound: blocks in, blocks out, in order.
///
/// What a processor gives depends only on the sound it was given, never on how that was cut into
/// blocks, on the time, or on the machine. Unless a processor is there to change the time, output
/// frame *n* belongs to input frame *n*: one that looks ahead holds frames back and gives the rest
/// in `finish`, so that the stream keeps its length and nothing shifts. One that cuts, stretches
/// or resamples says with `capacity(for:)` how much may come out.
///
/// `process` and `finish` never allocate, lock, throw or log. A processor belongs to one thread at
/// a time; it is a reference because a chain keeps processors of many types side by side.
public protocol Processor: AnyObject {
  /// What comes out.
  var outputFormat: AudioFormat { get }

  /// The most frames of its output that the processor ever holds back.
  var latency: Frames { get }

  /// The most frames that calls of `process` with `input` frames in all can give, whatever came
  /// before, and `finish` after them: the block given to `finish` must have room for
  /// `capacity(for: .zero)`.
  func capacity(for input: Frames) -> Frames

  /// The most frames that calls of `process` alone can give: a block given to it must have room for
  /// so many. Less than `capacity` where much is held back to the end, so that blocks stay small.
  func blockCapacity(for input: Frames) -> Frames

  /// Takes the whole of `input` and replaces the content of `output`.
  func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer)

  /// The stream has ended: replaces the content of `output` with what was held back.
  func finish(into output: inout AudioBuffer)

  /// The state after the last frame taken. A fresh processor with the same settings that restores
  /// it continues bit for bit.
  var snapshot: ProcessorSnapshot { get }

  /// Takes over a state that an equal processor left behind.
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError)
}

extension Processor {
  /// What comes in, and what was held back.
  public func capacity(for input: Frames) -> Frames { input + latency }

  /// What `process` and `finish` can give together.
  public func blockCapacity(for input: Frames) -> Frames { capacity(for: input) }
}

/// A processor that has something to tell about what it did: how far it turned the sound down, or
/// what it took out.
public protocol ReportingProcessor: Processor {
  /// What it did to the stream.
  associatedtype Report: Codable & Sendable

  /// What it did from the first frame on; asked once, after `finish`. Everything that it needs for
  /// this is part of its snapshot.
  func report() -> Report
}

/// A listener on a stream: it takes sound and gives a finding at the end, and changes nothing.
///
/// As with a processor, the finding depends only on the sound, never on how it was cut.
public protocol Analyser: AnyObject {
  /// What the analyser has found so far.
  associatedtype Finding: Codable & Sendable

  /// Listens to the next block.
  func analyse(_ input: borrowing AudioBuffer)

  /// The finding over everything heard so far; asked once, at the end.
  func finding() -> Finding

  /// The state after the last frame heard, before a finding is asked for. A fresh analyser of the
  /// same kind for the same format that restores it and hears the rest has the very same finding.
  var snapshot: ProcessorSnapshot { get }

  /// Takes over a state that an equal analyser left behind.
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError)
}
