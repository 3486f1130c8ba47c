import AudioModel
import FoundationEssentials
import PipelineEngine
import PipelineModel
import Synchronization
import Threading

/// Keeps a pass's note up to date: now and then, on a thread of its own, it asks the listeners how far
/// they are, flushes what they have written, and only then notes it.
// Unchecked: `taps` and `thread` are set by the pass's own thread before the journal's begins, and
// never changed afterwards.
final class PassJournal: @unchecked Sendable {
  /// Moments that are noted, at most; a stretch between two of them is streamed again.
  private static let momentLimit = 16
  /// Bytes that the noted moments may take together, unless few of them take more.
  private static let byteLimit = 4 << 20

  private let rhythm: NoteRhythm
  private let claim: any WorkClaim
  private let fault: PassFault
  private let note: Mutex<PassNote>
  private let pause = Pause()
  private var taps: [SoundTap] = []
  private var thread: BackgroundThread?
  private let lastText = Mutex("")
  private let lastLandmark = Mutex<PassNote.Landmark?>(nil)

  /// A journal that begins with what an earlier process noted, and is written at this interval.
  init(_ note: PassNote, every interval: Duration, claim: any WorkClaim, fault: PassFault) {
    self.note = Mutex(note)
    rhythm = NoteRhythm(interval: interval)
    self.claim = claim
    self.fault = fault
  }

  deinit { end() }

  /// Begins to note the progress of `taps`, which are in the order of the note's listeners.
  func start(_ taps: [SoundTap]) {
    self.taps = taps
    thread = BackgroundThread(name: "journal") { [self] in
      var rest = rhythm.interval
      while pause.wait(rest) {
        let start = ContinuousClock.now
        do throws(StageError) { try noteNow() } catch {
          fault.note(PassFailure(nil, error))
          return
        }
        rest = rhythm.pause(after: ContinuousClock.now - start)
      }
    }
  }

  /// Ends the thread.
  func end() {
    pause.end()
    thread?.join()
  }

  /// Adds a moment that the stream has passed.
  func add(_ moment: PassNote.Moment) {
    note.withLock {
      $0.moments.append(moment)
      $0.prune(to: 2 * Self.momentLimit, byteLimit: 2 * Self.byteLimit)
    }
  }

  /// Takes up that a listener is done.
  func finish(_ index: Int, _ result: PassOutcome.Result) {
    note.withLock { $0.listeners[index].result = result }
  }

  /// Notes how far the pass is.
  func noteNow() throws(StageError) {
    let standings = taps.map(\.standing)
    let now = Date().timeIntervalSince1970
    for tap in taps { try tap.flush() }
    let text = try note.withLock { (note) throws(StageError) -> String? in
      for (index, standing) in standings.enumerated() where note.listeners[index].result == nil {
        note.update(index, standing, at: now, isAnalysis: taps[index].isAnalysis)
      }
      note.prune(to: Self.momentLimit, byteLimit: Self.byteLimit)
      let landmark = note.landmark
      // What is big is written down only where there is something to be gained from it.
      guard !note.isBig(Self.byteLimit) || landmark != lastLandmark.withLock({ $0 }) else {
        return nil
      }
      lastLandmark.withLock { $0 = landmark }
      do { return try Findings.json(note.written(byteLimit: Self.byteLimit)) } catch {
        throw StageError("cannot note the progress", reason: "\(error)")
      }
    }
    guard let text else { return }
    let isNews = lastText.withLock { last in
      defer { last = text }
      return last != text
    }
    guard isNews else { return }
    do throws(StoreError) { try claim.note(text) } catch { throw StageError(error) }
  }
}
