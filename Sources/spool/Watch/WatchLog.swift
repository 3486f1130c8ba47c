import Glibc
import Intake
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

/// The log of a watch: one line of text or one JSON object an event.
struct WatchLog: WatchRecorder {
  private let console: Console
  private let isJSON: Bool

  init(_ console: Console, isJSON: Bool) {
    self.console = console
    self.isJSON = isJSON
  }

  func record(_ event: WatchEvent) {
    console.print(isJSON ? JSONText.of(event) : Self.line(event))
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
    if let seconds = event.seconds {
      facts.append((event.event == .retrying ? "again in " : "in ") + Format.duration(seconds))
    }
    let rest = [subject.joined(separator: " "), facts.joined(separator: ", ")]
      .filter { !$0.isEmpty }.joined(separator: ": ")
    let head = "\(Format.time(event.at))  \(Format.pad(event.event.rawValue, 11))"
    return Format.visible(
      rest.isEmpty ? "\(Format.time(event.at))  \(event.event.rawValue)" : "\(head)  \(rest)")
  }
}

/// Requests time stamps on a thread of its own, without delaying recordings.
final class WatchStamps: Sendable {
  /// Seconds between checks for due requests.
  private static let lookPeriod = 2.0

  private let stop = StopRequest()
  private let bell = Mailbox<Void>()
  private let thread: BackgroundThread

  init(_ store: DiskStore, log: WatchLog) {
    let work = Work(store: store, log: log, stop: stop, bell: bell)
    thread = BackgroundThread(name: "stamps") { work.run() }
  }

  /// Stops within about a second; a pending request is repeated later.
  func end() {
    stop.request(signal: 15)
    bell.send(())
    thread.join()
  }

  /// The thread's state.
  private struct Work: Sendable {
    let store: DiskStore
    let log: WatchLog
    let stop: StopRequest
    let bell: Mailbox<Void>
    let clock = SystemClock()

    func run() {
      var lastTrouble: String?
      while !stop.isRequested {
        do throws(SpoolError) {
          if let next = try store.stamps.nextAttempt(), next <= clock.now {
            _ = try StampRound(store, clock: clock, stop: stop).run(report: tell)
          }
          lastTrouble = nil
        } catch {
          let words = "cannot \(error.action) \(error.path): \(error.why)"
          if words != lastTrouble { tell(.trouble, words) }
          lastTrouble = words
        }
        _ = bell.receive(atMost: .seconds(WatchStamps.lookPeriod))
      }
    }

    private func tell(_ stamp: AwaitedStamp, _ outcome: Result<TimeStamp, StampRound.Trouble>) {
      switch outcome {
      case .success(let found):
        tell(.stamped, "\(found.timeText), \(found.authority)", of: stamp.path)
      case .failure(let trouble):
        tell(.trouble, "no time stamp yet: \(trouble.message)", of: stamp.path)
      }
    }

    private func tell(_ event: WatchEvent.Event, _ text: String, of receipt: String? = nil) {
      log.record(
        WatchEvent(
          event, at: clock.now, file: receipt.map(Format.visible), text: Format.visible(text)))
    }
  }
}
