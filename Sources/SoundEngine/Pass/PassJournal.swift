import Audio
import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform
import Synchronization

/// Records a pass's state at intervals on a thread of its own: it takes the listeners' positions,
/// flushes what they have written, and only then writes the journal entry.
// Unchecked: `taps` and `thread` are set by the pass's own thread before the journal's begins, and
// never changed afterwards.
final class PassJournal: @unchecked Sendable {
  /// The most restart points in an entry. After a restart the sound behind one is streamed again.
  private static let momentLimit = 16
  /// The most bytes of all restart points in an entry, unless a few take more.
  private static let byteLimit = 4 << 20

  private let interval: Duration
  private let claim: any WorkClaim
  private let fault: PassFault
  private let note: Mutex<PassState>
  private let pause = Pause()
  private var taps: [SoundTap] = []
  private var thread: BackgroundThread?
  private let lastText = Mutex("")
  private let lastLandmark = Mutex<PassState.Landmark?>(nil)

  /// - Parameter interval: the time between the beginnings of two entries.
  init(_ note: PassState, every interval: Duration, claim: any WorkClaim, fault: PassFault) {
    self.note = Mutex(note)
    self.interval = interval
    self.claim = claim
    self.fault = fault
  }

  deinit { end() }

  /// Starts recording the progress of `taps`, which are in the order of the state's listeners.
  func start(_ taps: [SoundTap]) {
    self.taps = taps
    thread = BackgroundThread(name: "journal") { [self] in
      var rest = interval
      while pause.wait(rest) {
        let start = ContinuousClock.now
        do throws(SpoolError) { try noteNow() } catch {
          fault.record(PassFailure(nil, error))
          return
        }
        rest = Self.pause(after: ContinuousClock.now - start, every: interval)
      }
    }
  }

  /// How long to wait after an entry that took `duration`. The interval runs from the beginning of one
  /// entry to that of the next, flush included: a kill costs at most the interval and the writing of
  /// one entry. Where entries take longer, a tenth of the interval is left to those who work.
  static func pause(after duration: Duration, every interval: Duration) -> Duration {
    max(interval - duration, interval / 10)
  }

  func end() {
    pause.end()
    thread?.join()
  }

  /// Adds a restart point that the stream has passed.
  func add(_ restartPoint: PassState.RestartPoint) {
    note.withLock {
      $0.moments.append(restartPoint)
      $0.prune(to: 2 * Self.momentLimit, byteLimit: 2 * Self.byteLimit)
    }
  }

  /// Records that a listener is done.
  func finish(_ index: Int, _ result: PassOutcome.Result) {
    note.withLock { $0.listeners[index].result = result }
  }

  /// Writes an entry.
  /// - Parameter always: also where what is big has not changed.
  func noteNow(always: Bool = false) throws(SpoolError) {
    let standings = taps.map(\.status)
    let now = Date().timeIntervalSince1970
    for tap in taps { try tap.flush() }
    let text = try note.withLock { (note) throws(SpoolError) -> String? in
      for (index, status) in standings.enumerated() where note.listeners[index].result == nil {
        note.update(index, status, at: now, isAnalysis: taps[index].isAnalysis)
      }
      note.prune(to: Self.momentLimit, byteLimit: Self.byteLimit)
      let landmark = note.landmark
      // What is big is written down only where there is something to be gained from it.
      guard
        always || !note.isBig(Self.byteLimit) || landmark != lastLandmark.withLock({ $0 })
      else {
        return nil
      }
      lastLandmark.withLock { $0 = landmark }
      return try Findings.json(note.written(byteLimit: Self.byteLimit))
    }
    guard let text else { return }
    let isNews = lastText.withLock { last in
      defer { last = text }
      return last != text
    }
    guard isNews else { return }
    try claim.record(text)
  }
}
