package import Audio
import PipelineEngine
import PipelineModel
import Platform
import Synchronization

/// The stream of a pass: blocks go from the source through segment after segment, and at each to
/// its taps.
package final class SoundStream {
  /// Frames in a block: long enough that hand-offs cost nothing, short enough that a few of them
  /// between threads are little memory.
  package static let blockLength = Frames(16384)
  /// Blocks that may wait between two threads: enough that one works while the other waits for the
  /// disk.
  package static let waitingBlocks = 8
  /// Blocks between two reports of progress.
  private static let reportInterval = 8

  /// Processors without a tap between them, and the taps behind the last.
  struct Segment {
    /// Nil for the source's own segment.
    let chain: ProcessorChain?
    /// The last step in it.
    let step: StepID
    let taps: [SoundTap]
    /// The most frames that a block has behind it.
    let capacity: Frames
    /// Frames given so far.
    var given = Frames.zero
  }

  private let source: any SoundSource
  private let sourceStep: StepID
  private var segments: [Segment]
  private let fallible: [SoundPassBuilder.Fallible]
  private let buffers: BufferPool
  private let journal: PassJournal
  private let fault: PassFault
  private let meter: WorkMeter
  private let momentInterval: Duration
  /// Where the processors begin: blocks of the source before it are for the source's taps alone.
  let restart: Frames
  /// Frames of the source so far.
  private(set) var frames: Frames
  private var lastMoment = ContinuousClock.now
  /// The least time between two restart points.
  private var pause: Duration
  /// Where the next restart point is taken whatever the time.
  private var landmark: Frames

  /// Makes a stream that begins at `restartPoint`, or at the beginning, and takes restart points at
  /// this interval.
  init(
    _ source: any SoundSource, of step: StepID, through segments: [Segment],
    fallible: [SoundPassBuilder.Fallible], from restartPoint: PassState.RestartPoint?,
    momentInterval: Duration,
    buffers: BufferPool,
    journal: PassJournal, fault: PassFault, meter: WorkMeter
  ) throws(PassFailure) {
    self.source = source
    self.meter = meter
    sourceStep = step
    self.buffers = buffers
    self.journal = journal
    self.fault = fault
    self.fallible = fallible
    self.momentInterval = momentInterval
    pause = momentInterval
    restart = Frames(restartPoint?.frame ?? 0)
    landmark = restart + SoundStream.blockLength
    self.segments = segments
    if let restartPoint {
      for index in segments.indices {
        self.segments[index].given = Frames(restartPoint.given[index])
      }
    }
    // What the source's own taps still need may lie before the processors' restart.
    var start = segments[0].taps.reduce(restart) { min($0, $1.firstFrame) }
    start.count -= start.count % SoundStream.blockLength.count
    do { frames = try source.skip(to: start) } catch { throw PassFailure(step, error) }
    self.segments[0].given = frames
  }

  /// The last step of the first segment that gave nothing; nil where all gave something.
  var firstSilencedStep: StepID? { segments.first { $0.given.count == 0 }?.step }

  /// Streams everything: reads on a thread of its own, and processes on this one. Calls `report` at
  /// intervals with the position, and whether it is the end.
  func run(
    check: @escaping @Sendable () throws(SpoolError) -> Void,
    report: (_ frames: Frames, _ isAtEnd: Bool) -> Void
  ) {
    let queue = BoundedQueue<SharedBuffer>(capacity: Self.waitingBlocks)
    fault.onFailure { queue.cancel() }
    let reader = SoundReader(
      source, step: sourceStep, blockLength: SoundStream.blockLength, buffers: buffers,
      into: queue, fault: fault, meter: meter)
    reader.start(check: check)
    var blocks = 0
    while let block = queue.receive() {
      let isNew = frames >= restart
      frames += block.buffer.frameCount
      if isNew { flow(block, from: 0) } else { give(block, to: 0) }
      guard !hasFailed() else { break }
      if isNew { noteMoment() }
      blocks += 1
      if blocks % SoundStream.reportInterval == 0 { report(frames, false) }
    }
    reader.join()
    guard fault.failure == nil else { return }
    flush()
    guard !hasFailed() else { return }
    report(frames, true)
  }

  /// Whether a processor could not do its work, which ends the pass.
  private func hasFailed() -> Bool {
    for member in fallible {
      guard let failure = member.processor.failure else { continue }
      fault.record(PassFailure(member.step, failure))
      return true
    }
    return false
  }

  /// Sends a block through the segments from `first` on.
  private func flow(_ block: SharedBuffer, from first: Int) {
    var block = block
    for index in first..<segments.count {
      if let chain = segments[index].chain {
        // Every block of a segment has the same size, whatever it holds, so that memory is used
        // again.
        var output = buffers.makeBuffer(
          channelCount: chain.outputFormat.channelCount, capacity: segments[index].capacity)
        chain.process(block.buffer, into: &output)
        // The silence that a failed plugin gives must not reach a listener, which would keep it.
        guard !hasFailed() else { return }
        block = SharedBuffer(output)
      }
      guard block.buffer.frameCount.count > 0 else { return }
      give(block, to: index)
    }
  }

  private func give(_ block: SharedBuffer, to index: Int) {
    let position = segments[index].given
    segments[index].given += block.buffer.frameCount
    for tap in segments[index].taps { tap.take(block, at: position) }
  }

  /// The stream has ended: what the processors held back goes through those behind them.
  private func flush() {
    for (index, segment) in segments.enumerated() {
      guard let chain = segment.chain else { continue }
      var output = AudioBuffer(
        channelCount: chain.outputFormat.channelCount, capacity: chain.capacity(for: .zero))
      chain.finish(into: &output)
      guard !hasFailed() else { return }
      // What was held back may be long: it is passed on in blocks of the usual size.
      let length = max(segment.capacity, Frames(1))
      var start = Frames.zero
      while start < output.frameCount {
        let count = min(length, output.frameCount - start)
        var piece = buffers.makeBuffer(channelCount: output.channelCount, capacity: length)
        piece.copy(from: output, start: start, count: count)
        start += count
        let block = SharedBuffer(piece)
        give(block, to: index)
        flow(block, from: index + 1)
      }
    }
  }

  /// Takes the processors' states, now and then, at the end of a block.
  ///
  /// At first the stream runs ahead of its listeners until the queues are full, so that what was taken
  /// by the clock alone would lie beyond what any of them has durable, for a second or more. Hence also
  /// wherever the stream is twice as far as it was: then at most half of what they have is streamed again.
  private func noteMoment() {
    let now = ContinuousClock.now
    guard frames >= landmark || now - lastMoment >= pause else { return }
    guard fallible.allSatisfy(\.processor.isResumable) else { return }
    while landmark <= frames { landmark.count += max(1, landmark.count - restart.count) }
    lastMoment = now
    let states = segments.map { $0.chain?.snapshot }
    // A plugin that failed or was stopped while it was asked has given a part of its state at most.
    guard !hasFailed() else { return }
    // Processors that hold much sound back have big states, and those are taken more rarely: 4 MB a
    // second at most.
    let byteCount = states.reduce(0) { $0 + ($1?.bytes.count ?? 0) }
    pause = max(momentInterval, .microseconds(byteCount / 4))
    journal.add(PassState.RestartPoint(frame: frames, given: segments.map(\.given), states: states))
  }
}

/// Reads a source on a thread of its own.
// Unchecked: the source is touched by that thread alone between `start` and `join`.
final class SoundReader: @unchecked Sendable {
  private let source: any SoundSource
  private let step: StepID
  private let blockLength: Frames
  private let buffers: BufferPool
  private let queue: BoundedQueue<SharedBuffer>
  private let fault: PassFault
  private let meter: WorkMeter
  private var thread: BackgroundThread?

  init(
    _ source: any SoundSource, step: StepID, blockLength: Frames, buffers: BufferPool,
    into queue: BoundedQueue<SharedBuffer>, fault: PassFault, meter: WorkMeter
  ) {
    self.meter = meter
    self.source = source
    self.step = step
    self.blockLength = blockLength
    self.buffers = buffers
    self.queue = queue
    self.fault = fault
  }

  /// Begins to read; `check` is asked before every block.
  func start(check: @escaping @Sendable () throws(SpoolError) -> Void) {
    thread = BackgroundThread(name: "reader") { [self] in
      do throws(SpoolError) {
        while true {
          try check()
          var buffer = buffers.makeBuffer(
            channelCount: source.outline.format.channelCount, capacity: blockLength)
          let isMore = try meter.measure { () throws(SpoolError) in
            try source.read(into: &buffer)
          }
          guard isMore, queue.send(SharedBuffer(buffer)) else { break }
        }
      } catch {
        fault.record(PassFailure(step, error))
      }
      queue.close()
    }
  }

  /// Waits for the end of the recording.
  func join() { thread?.join() }
}

/// The first failure of a pass, which ends all of its threads.
final class PassFault: Sendable {
  private struct State {
    var failure: PassFailure?
    var actions: [@Sendable () -> Void] = []
  }
  private let state = Mutex(State())

  /// What failed first; nil while nothing did.
  var failure: PassFailure? { state.withLock(\.failure) }

  /// Keeps the first failure and wakes all waiting threads.
  func record(_ failure: PassFailure) {
    let actions = state.withLock { state -> [@Sendable () -> Void] in
      guard state.failure == nil else { return [] }
      state.failure = failure
      return state.actions
    }
    actions.forEach { $0() }
  }

  /// Has something done when the pass fails; at once if it failed already.
  func onFailure(_ action: @escaping @Sendable () -> Void) {
    let hasFailed = state.withLock { state -> Bool in
      state.actions.append(action)
      return state.failure != nil
    }
    if hasFailed { action() }
  }
}

/// Does a part of a step's work, and attributes its error to the step.
func attributing<Result: ~Copyable>(
  to step: StepID?, _ work: () throws(SpoolError) -> Result
) throws(PassFailure) -> Result {
  do { return try work() } catch { throw PassFailure(step, error) }
}
