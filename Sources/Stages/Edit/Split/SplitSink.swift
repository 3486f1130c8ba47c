import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Synchronization

extension SplitStage {
  /// Cuts a stream into pieces, one after the other, and writes the files of each. What it holds back
  /// is the sound in which a place to cut may still be found; a few pieces that have ended are
  /// completed while the next one is written.
  final class Sink: SoundSink {
    private struct State: @unchecked Sendable {
      // The finder is touched only while the lock is held.
      let finder: BreakFinder
      /// Frames that went to their pieces.
      var given = Frames.zero
      /// The pieces that are not whole, in order.
      var open: [PieceWriter] = []
      /// Those that are: their recorded progress, and their files.
      var done: [Int: Done] = [:]
      /// Pieces that have ended and need their part of the stream once more.
      var again: [PieceWriter] = []
      var isCancelled = false
    }

    /// A piece whose files are whole.
    private struct Done {
      let status: PieceWriter.State
      let files: [PortName: Artifact]
      let checks: [ExportCheck]
    }

    private struct Progress: Codable {
      let finder: String
      /// What comes before this frame is in the files.
      let given: Frames
      let pieces: [PieceWriter.State]
    }

    /// Pieces that have ended and are not whole, at most.
    private static let mostEnding = 2

    let firstFrame: Frames
    private let state: Mutex<State>
    private let targets: [ExportTarget]
    private let stream: SoundOutline
    private let context: SinkContext
    /// Blocks that did not go to their pieces yet, with their places in the stream.
    private var waiting: [(block: SharedBuffer, start: Frames)] = []
    /// The end of the stream so far.
    private var position: Frames

    /// - Parameter finder: one that has heard nothing yet.
    init(
      _ targets: [ExportTarget], _ stream: SoundOutline, _ finder: BreakFinder,
      _ context: SinkContext
    ) throws(SpoolError) {
      self.targets = targets
      self.stream = stream
      self.context = context
      var state = State(finder: finder)
      let status = context.work.resuming.flatMap {
        try? Findings.decode(Progress.self, from: $0.state)
      }
      if let status, let finder = finder.resumed(from: status.finder, format: stream.format) {
        state = State(finder: finder, given: status.given)
        for noted in status.pieces {
          let piece = try PieceWriter(
            noted.number, at: Frames(noted.start), targets, stream, context, resuming: noted)
          if piece.firstFrame == Frames(.max) {
            state.done[piece.number] = Done(
              status: noted, files: try piece.finish(), checks: piece.checks)
          } else {
            state.open.append(piece)
          }
        }
        state.open.sort { $0.number < $1.number }
        // What is not in the files yet comes again.
        state.given = state.open.reduce(state.given) { min($0, $1.firstFrame) }
      }
      firstFrame = state.given
      position = state.given
      self.state = Mutex(state)
    }

    func take(_ block: SharedBuffer) throws(SpoolError) {
      let start = position
      position += block.buffer.frameCount
      waiting.append((block, start))
      let settled = state.withLock { state in
        state.finder.take(block.buffer, at: start)
        return state.finder.settled
      }
      try give(upTo: settled)
    }

    /// Sends what waits to its pieces, up to a frame.
    private func give(upTo settled: Frames) throws(SpoolError) {
      var (breaks, given) = state.withLock { ($0.finder.breaks, $0.given) }
      guard breaks.count < SplitName.mostPieces else { throw SplitName.tooMany }
      try settle(breaks, given)
      while let (block, start) = waiting.first {
        let end = start + block.buffer.frameCount
        while given < min(end, settled) {
          let index = SplitStage.Sink.piece(at: given, breaks)
          var until = min(end, settled)
          if index < breaks.count { until = min(until, breaks[index]) }
          try piece(index + 1, at: index == 0 ? .zero : breaks[index - 1])?
            .take(block, at: start, given..<until)
          given = until
          state.withLock { $0.given = until }
          try settle(breaks, given)
        }
        guard given >= end else { return }
        waiting.removeFirst()
      }
    }

    /// The index of the piece that a frame belongs to. O(log n) for n breaks.
    private static func piece(at frame: Frames, _ breaks: [Frames]) -> Int {
      var (low, high) = (0, breaks.count)
      while low < high {
        let middle = (low + high) / 2
        if breaks[middle] <= frame { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// The writer of a piece, made where there is none; nil for a piece that is whole.
    private func piece(_ number: Int, at start: Frames) throws(SpoolError) -> PieceWriter? {
      let (open, isDone) = state.withLock { state in
        (state.open.first { $0.number == number }, state.done[number] != nil)
      }
      if isDone { return nil }
      if let open { return open }
      let made = try PieceWriter(number, at: start, targets, stream, context)
      let isCancelled = state.withLock { state in
        state.open.append(made)
        return state.isCancelled
      }
      if isCancelled { made.cancel() }
      return made
    }

    /// Closes the pieces that have ended, and waits for the oldest where there are too many of them.
    private func settle(_ breaks: [Frames], _ given: Frames) throws(SpoolError) {
      var open = state.withLock { $0.open }
      for piece in open where piece.number <= breaks.count && breaks[piece.number - 1] <= given {
        if !piece.isClosed { piece.close() }
      }
      while open.count(where: \.isClosed) > SplitStage.Sink.mostEnding {
        try complete(open.removeFirst())
      }
    }

    /// Waits for a piece's files.
    private func complete(_ piece: PieceWriter) throws(SpoolError) {
      let files = try piece.finish()
      guard let (_, status) = piece.status else {
        throw SpoolError("the progress of piece \(piece.number) cannot be told")
      }
      state.withLock { state in
        state.open.removeAll { $0.number == piece.number }
        if piece.needsStreamAgain {
          state.again.append(piece)
        } else {
          state.done[piece.number] = Done(status: status, files: files, checks: piece.checks)
        }
      }
    }

    func progress() -> ListenerProgress? {
      let (finder, given, open, done) = state.withLock { state in
        (
          state.finder.state, state.given, state.open + state.again,
          state.done.values.map(\.status)
        )
      }
      var pieces = done
      var needs = given
      for piece in open {
        // A piece of unknown progress starts from the beginning.
        guard let (needsFrom, status) = piece.status else {
          needs = min(needs, piece.start)
          continue
        }
        needs = min(needs, needsFrom)
        pieces.append(status)
      }
      pieces.sort { $0.number < $1.number }
      let status = Progress(finder: finder, given: needs, pieces: pieces)
      return (try? Findings.json(status)).map { ListenerProgress(needsFrom: needs, state: $0) }
    }

    func flush() throws(SpoolError) {
      for piece in state.withLock({ $0.open }) { try piece.flush() }
    }

    func cancel() {
      let open = state.withLock { state in
        state.isCancelled = true
        return state.open
      }
      open.forEach { $0.cancel() }
    }

    func finish() throws(SpoolError) -> PassOutcome.Result {
      try give(upTo: position)
      let (finder, open) = state.withLock { ($0.finder, $0.open) }
      let breaks = finder.breaks.filter { $0 < position }
      if finder.mustFit {
        try SplitTimes.check(finder.breaks, within: position, at: stream.format.sampleRate)
      }
      open.forEach { $0.close() }
      for piece in open { try complete(piece) }
      if needsStreamAgain { return PassOutcome.Result() }
      let done = state.withLock { $0.done }
      var files: [SplitStage.Report.Files] = []
      for (index, start) in ([.zero] + breaks).enumerated() {
        let end = index < breaks.count ? breaks[index] : position
        guard let piece = done[index + 1] else { continue }
        files.append((start..<end, finder.markers?.titles[index + 1], nil, piece.files))
      }
      var result = try SplitStage.Report.result(
        of: files, done.sorted { $0.key < $1.key }.flatMap(\.value.checks), stream.format,
        in: context.store)
      let clipping = ExportSink.warning(of: targets, in: done.values.map(\.status.state))
      result.warnings += warnings(finder, breaks) + [clipping].compactMap { $0 }
      result.warnings += targets.positionWarnings(of: stream.format)
      return result
    }

    var needsStreamAgain: Bool { state.withLock { !$0.again.isEmpty } }

    private func warnings(_ finder: BreakFinder, _ breaks: [Frames]) -> [String] {
      if let pause = finder.pause, breaks.isEmpty {
        let level = Unit.decibels.format(pause.threshold.value)
        return [
          "no pause of \(pause.minimum.words) below \(level) was found: the whole sound is one piece"
        ]
      }
      guard let markers = finder.markers else { return [] }
      var warnings: [String] = []
      let beyond = markers.breaks.count - breaks.count
      if beyond > 0 {
        warnings.append(
          "\(beyond) marker\(beyond == 1 ? " lies" : "s lie") beyond the end of the sound")
      }
      if breaks.isEmpty { warnings.append("no marker lies within the sound: it is one piece") }
      let length = position.duration(at: stream.format.sampleRate)
      if let own = markers.duration, abs(own.value - length.value) > 0.5 {
        warnings.append(
          "the sound is \(length.words) long and \(markers.recording) \(own.words): its markers may "
            + "lie elsewhere by now")
      }
      return warnings
    }
  }
}
