/// A streaming processor: blocks in, blocks out, in order.
///
/// The output depends only on the input samples: not on block boundaries, time or machine. Unless a
/// processor changes time, output frame *n* corresponds to input frame *n*: one with look-ahead
/// holds frames back and returns the rest in `finish`, so the stream keeps its length. One that
/// cuts, stretches or resamples states its greatest output length in `capacity(for:)`.
///
/// `process` and `finish` never allocate, lock, throw or log. A processor belongs to one thread at
/// a time; it is a class because a chain holds processors of many types.
package protocol Processor: Resumable {
  /// The format of the output.
  var outputFormat: AudioFormat { get }

  /// The greatest number of output frames that are held back.
  var latency: Frames { get }

  /// The greatest number of frames that `process`, called with `input` frames in total, and then
  /// `finish` can return, in any state. The block given to `finish` needs room for `capacity(for:
  /// .zero)`.
  func capacity(for input: Frames) -> Frames

  /// The greatest number of frames that `process` alone can return; its output block needs room for
  /// them. Less than `capacity` if much is held back until the end, which keeps blocks small.
  func blockCapacity(for input: Frames) -> Frames

  /// Consumes all of `input` and replaces the content of `output`.
  func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer)

  /// Ends the stream: replaces the content of `output` with the frames held back.
  func finish(into output: inout AudioBuffer)
}

/// The defaults are those of a processor that holds no frames back and remembers nothing.
extension Processor {
  package var latency: Frames { .zero }

  /// The input plus the latency.
  package func capacity(for input: Frames) -> Frames { input + latency }

  package func blockCapacity(for input: Frames) -> Frames { capacity(for: input) }

  package func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  package func code(_ coder: inout StateCoder) {}
}

/// A processor that reports what it did to the sound.
package protocol ReportingProcessor: Processor {
  /// What it did to the stream.
  associatedtype Report: Codable & Sendable

  /// Covers the stream from its first frame; called once, after `finish`. Its data is part of the
  /// snapshot.
  func report() -> Report
}

/// Measures a stream without changing it. The finding does not depend on block boundaries.
///
/// Its state is taken before `finding()` is called; an analyser of the same type and format that
/// restores it yields the same finding.
package protocol Analyser: Resumable {
  /// The result of the measurement.
  associatedtype Finding: Codable & Sendable

  /// Measures the next block.
  func analyse(_ input: borrowing AudioBuffer)

  /// The result for all sound so far; called once, at the end.
  func finding() -> Finding
}
