import Delivery
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization

/// Shows what is sent: a line for each file or each destination, and on a terminal how far it is. May be called from any
/// thread.
final class SendingRecorder: Sendable {
  private let console: Console
  private let voice: CommandContext.Voice
  private let clock: SystemClock
  private let isSummed: Bool
  private let waiting: @Sendable () -> [WaitingDeliveries]
  private let state: Mutex<State>

  private struct State {
    var lines: LiveLines
    /// What is being sent, by number in the queue.
    var underWay: [Int64: (delivery: QueuedDelivery, progress: UploadProgress, began: Double)] = [:]
    /// What waits in all, and when that was read.
    var waiting: (lines: [String], readAt: Double) = ([], -.infinity)
    /// The last failure of each destination: one that repeats is reported once.
    var troubles: [String: String] = [:]
    var failures: [Int64: SpoolError] = [:]
    /// What each destination has confirmed, by its name.
    var sums: [String: (count: Int, byteCount: Int)] = [:]
  }

  /// Seconds between two looks at all that waits, and from which on a rate tells something.
  private static let second = 1.0

  /// - Parameters:
  ///   - isSummed: whether what is delivered has a line for each destination at the end, as where there are
  ///     too many files for a line each.
  ///   - waiting: reads what destinations have yet to get.
  init(
    _ console: Console, _ voice: CommandContext.Voice, _ clock: SystemClock, isSummed: Bool = false,
    waiting: @Sendable @escaping () -> [WaitingDeliveries]
  ) {
    self.isSummed = isSummed
    self.waiting = waiting
    self.console = console
    self.voice = voice
    self.clock = clock
    state = Mutex(State(lines: LiveLines(console, interval: 0.2)))
  }

  func record(_ event: DeliveryWorker.Event) {
    if voice == .json { return recordJSON(event) }
    state.withLock { state in
      switch event {
      case .began(let delivery):
        var progress = UploadProgress()
        progress.sentByteCount = delivery.sentByteCount
        state.underWay[delivery.id] = (delivery, progress, clock.elapsed)
      case .progress(let delivery, let progress):
        state.underWay[delivery.id]?.progress = progress
        draw(&state)
      case .delivered(let delivery, _):
        // Of what another process sent, nothing is known but that it is there.
        let began = state.underWay.removeValue(forKey: delivery.id)?.began
        state.troubles[delivery.destination] = nil
        if isSummed {
          let sum = state.sums[delivery.destination] ?? (0, 0)
          state.sums[delivery.destination] = (
            sum.count + 1, sum.byteCount + delivery.file.byteCount
          )
        } else if voice == .full {
          tell(
            "delivered  \(delivery.destination):\(delivery.path)  "
              + "\(ByteCount(delivery.file.byteCount))"
              + (began.map { " in \(Format.duration(clock.elapsed - $0))" } ?? ""),
            &state)
        }
      case .postponed(let delivery, let error, let seconds):
        state.underWay[delivery.id] = nil
        told(delivery.destination, error, seconds, &state)
      case .failed(let delivery, let error):
        state.underWay[delivery.id] = nil
        state.failures[delivery.id] = error
        report("failed: \(delivery.destination):\(delivery.path): \(error.instruction)", &state)
      case .held(let name, let error, let seconds): told(name, error, seconds, &state)
      case .trouble(let error): report("warning: \(error.account)", &state)
      }
    }
  }

  /// The failures that were reported, by the numbers of their files.
  var failures: [Int64: SpoolError] { state.withLock { $0.failures } }

  /// Takes the live lines away, and says what each destination has got if that was not said file by file.
  func end() {
    state.withLock { state in
      state.lines.erase()
      guard voice == .full else { return }
      for (name, sum) in state.sums.sorted(by: { $0.key < $1.key }) {
        tell(
          "delivered  \(Count.of(sum.count, "file")) to \(name)  \(ByteCount(sum.byteCount))",
          &state)
      }
    }
  }

  private func recordJSON(_ event: DeliveryWorker.Event) {
    switch event {
    case .began(let delivery): console.print(json: delivery.event("delivery-began"))
    case .progress(let delivery, let progress):
      console.print(
        json: delivery.event("delivery-progress", sent: progress.sentByteCount))
    case .delivered(let delivery, let confirmation):
      console.print(json: delivery.event("delivered", confirmation: confirmation))
    case .postponed(let delivery, let error, let seconds):
      console.print(json: delivery.event("delivery-postponed", trouble: error.account, seconds))
    case .failed(let delivery, let error):
      console.print(json: delivery.event("delivery-failed", trouble: error.instruction))
    case .held(let name, let error, let seconds):
      console.print(
        json: JSONLine(
          "destination-held",
          ["destination": name, "trouble": error.account, "seconds": seconds]))
    case .trouble(let error): console.report("warning: \(Format.visible(error.account))")
    }
  }

  private func told(
    _ name: String, _ error: SpoolError, _ seconds: Double, _ state: inout State
  ) {
    let words = error.account
    if state.troubles[name] == words { return }
    state.troubles[name] = words
    report("note: \(name): \(words); again in \(Format.duration(seconds))", &state)
  }

  private func tell(_ line: String, _ state: inout State) {
    state.lines.erase()
    console.print(Format.visible(line))
  }

  private func report(_ line: String, _ state: inout State) {
    state.lines.erase()
    console.report(Format.visible(line))
  }

  private func draw(_ state: inout State) {
    guard voice == .full, console.isTerminal, state.lines.isDue(clock.elapsed) else { return }
    let now = clock.elapsed
    if now - state.waiting.readAt >= Self.second {
      let all = waiting().filter { $0.files > 1 }
      state.waiting = (all.map { $0.rest(at: clock.now) }, now)
    }
    let lines = state.underWay.sorted { $0.key < $1.key }.map { _, entry in
      let (total, progress) = (max(1, entry.delivery.file.byteCount), entry.progress)
      let done = min(total, progress.sentByteCount)
      let seconds = now - entry.began
      let rate = Double(max(0, done - entry.delivery.sentByteCount)) / max(0.001, seconds)
      var facts: [String] = []
      if done == total {
        facts.append("\(100 * min(total, progress.readByteCount) / total) % read back")
      } else if seconds >= Self.second, rate > 0 {
        facts.append("\(ByteCount(Int(rate)))/s")
        facts.append("\(Format.duration(Double(total - done) / rate)) left")
      }
      return Format.visible(
        "  \(Format.bar(Double(done) / Double(total), width: 20)) "
          + "\(entry.delivery.destination):\(entry.delivery.path)  "
          + facts.joined(separator: ", "))
    }
    state.lines.draw(lines + state.waiting.lines, now: now)
  }
}

extension QueuedDelivery {
  /// The event of a delivery that is under way.
  func event(
    _ name: String, sent: Int? = nil, trouble: String? = nil, _ seconds: Double? = nil,
    confirmation: Confirmation? = nil
  ) -> JSONLine {
    JSONLine(
      name,
      [
        "id": Int(id), "destination": destination, "path": path, "file": file.name,
        "byteCount": file.byteCount, "sentByteCount": sent, "trouble": trouble,
        "seconds": seconds, "digest": confirmation?.digest.hex,
        "identifier": confirmation?.identifier,
        "confirmedAt": confirmation.map { DateTime(secondsSince1970: $0.at) },
      ])
  }

  /// The entry of the queue as `--json` shows it.
  /// - Parameter end: until when its destination is held, in seconds since 1970; nil if it is not.
  func line(heldUntil end: Double?) -> JSONLine {
    let size = file.byteCount
    let confirmed = state == .delivered ? confirmation : nil
    let progress = state == .delivered ? 1 : size == 0 ? 0 : Double(sentByteCount) / Double(size)
    return JSONLine([
      "id": Int(id), "destination": destination, "path": path, "file": file.name,
      "what": file.content.rawValue, "state": state.rawValue, "byteCount": size,
      "sentByteCount": sentByteCount, "progress": min(1, progress), "digest": file.digest.hex,
      "attempts": attempts, "addedAt": DateTime(secondsSince1970: addedAt),
      "nextTry": state == .waiting ? DateTime(secondsSince1970: max(nextTry, end ?? 0)) : nil,
      "trouble": trouble, "identifier": confirmed?.identifier,
      "confirmedAt": confirmed.map { DateTime(secondsSince1970: $0.at) },
    ])
  }
}
