import Intake
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store
import Synchronization

/// The log of a watch: one line of text or one JSON object an event.
struct WatchLog: Sendable {
  let store: DiskStore
  /// The watch's command line, which is stored for each inbox when its watch begins.
  let line: String
  let console: Console
  let isJSON: Bool
  private let uploads = ToldUploads()

  init(store: DiskStore, line: String, console: Console, isJSON: Bool) {
    self.store = store
    self.line = line
    self.console = console
    self.isJSON = isJSON
  }

  func record(_ event: WatchEvent) {
    if event.event == .uploaded, let name = event.recording,
      let recording = try? store.recordings.recording(RecordingKey(name)),
      !uploads.take(recording)
    {
      return
    }
    if event.event == .watching, let inbox = event.inbox {
      // On a full disk, the watch continues without storing its command line.
      try? store.inboxes.remember(watch: line, ofInbox: inbox)
    }
    if isJSON { console.print(json: event) } else { console.print(Self.line(event)) }
    if let trouble = console.outputTrouble, uploads.takeLoss() {
      console.report(
        "warning: standard output takes no more events (\(trouble)); the watch goes on without")
    }
  }

  /// `2026-11-21 14:22:05  uploaded     walk.m4a (3f9a12cd04ee): 3 files, in 1.2 s`
  static func line(_ event: WatchEvent) -> String {
    var subject = [event.file ?? event.inbox].compactMap { $0 }
    if let recording = event.recording { subject.append("(\(recording))") }
    var facts: [String] = []
    if let text = event.text { facts.append(text) }
    if let exports = event.exports {
      facts.append(exports.count == 1 ? "1 file" : "\(exports.count) files")
    }
    facts += WordQuality.all(in: event.findings ?? [:]).map(\.line)
    facts += RecordingDamage.lines(event.damage ?? [:])
    if let seconds = event.seconds {
      facts.append((event.event == .retrying ? "again in " : "in ") + Format.duration(seconds))
    }
    let rest = [subject.joined(separator: " "), facts.joined(separator: ", ")]
      .filter { !$0.isEmpty }.joined(separator: ": ")
    // A file that is released from the inbox may have been quarantined: people read that it is settled.
    let word = event.event == .released ? "settled" : event.event.rawValue
    let head = "\(Format.time(event.at))  \(Format.pad(word, 11))"
    return Format.visible(
      rest.isEmpty ? "\(Format.time(event.at))  \(word)" : "\(head)  \(rest)")
  }
}

/// What was logged, and is not logged again: the recordings that were lately uploaded, which the thread
/// that sends and the one that looks after the inbox both find out, and that nothing reads the log.
private final class ToldUploads: Sendable {
  private static let limit = 1000
  private let told = Mutex<[(key: RecordingKey, time: Double?)]>([])
  private let isLossTold = Mutex(false)

  /// Whether it was not told yet that nothing reads the log; takes that for told.
  func takeLoss() -> Bool {
    isLossTold.withLock { isTold in
      defer { isTold = true }
      return !isTold
    }
  }

  /// Whether this upload was not told of yet; takes it for told.
  func take(_ recording: Recording) -> Bool {
    told.withLock { told in
      let isTold = told.contains { $0.key == recording.key && $0.time == recording.uploadedAt }
      if isTold { return false }
      told.append((recording.key, recording.uploadedAt))
      if told.count > Self.limit { told.removeFirst() }
      return true
    }
  }
}

/// Requests time stamps on a thread of its own, without delaying recordings.
extension WatchLog {
  /// Seconds between checks for due requests.
  private static let lookPeriod = 2.0

  /// Starts the thread.
  /// - Returns: stops it within about a second; a pending request is repeated later.
  func beginStamping() -> () -> Void {
    let stop = StopRequest()
    let bell = Mailbox<Void>()
    let thread = BackgroundThread(name: "stamps") { requestStamps(until: stop, bell) }
    return {
      stop.request(signal: 15)
      bell.send(())
      thread.join()
    }
  }

  private func requestStamps(until stop: StopRequest, _ bell: Mailbox<Void>) {
    let clock = SystemClock()
    func tell(_ event: WatchEvent.Event, _ text: String, of receipt: String? = nil) {
      record(
        WatchEvent(
          event, at: clock.now, file: receipt.map(Format.visible), text: Format.visible(text)))
    }
    var lastTrouble: String?
    while !stop.isRequested {
      do throws(SpoolError) {
        if let next = try store.stamps.nextAttempt(), next <= clock.now {
          _ = try StampRound(store, clock: clock, stop: stop).run { stamp, outcome in
            switch outcome {
            case .success(let found):
              tell(.stamped, "\(found.timeText), \(found.authority)", of: stamp.path)
            case .failure(let trouble):
              tell(.trouble, "no time stamp yet: \(trouble.message)", of: stamp.path)
            }
          }
        }
        lastTrouble = nil
      } catch {
        let words = error.account
        if words != lastTrouble { tell(.trouble, words) }
        lastTrouble = words
      }
      _ = bell.receive(atMost: .seconds(Self.lookPeriod))
    }
  }
}
