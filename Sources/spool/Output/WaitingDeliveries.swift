import Delivery
import PipelineEngine
import PipelineModel
import Platform
import Store

/// What one destination has yet to get, as `spool status` shows it.
struct WaitingDeliveries: Encodable {
  let destination: String
  /// Files that wait or are being sent.
  let files: Int
  let byteCount: Int
  let sentByteCount: Int
  /// How much is there of them and of what was confirmed since the oldest was added, from 0 to 1; nil if
  /// none waits.
  let progress: Double?
  /// Files that only a person can help.
  let failed: Int
  /// Files of sensitive recordings, which a person has to release.
  let held: Int
  /// When the oldest of them was added.
  let since: DateTime
  /// When the next one is tried; nil if none waits.
  let nextTry: DateTime?
  let isPaused: Bool
  /// What it gets while something is sent; nil if that is unknown.
  let bytesPerSecond: Int?
  /// When everything is there at that rate; nil if that is unknown.
  let expectedEnd: DateTime?
  /// Why nothing is sent; nil if nothing is known to be wrong.
  let trouble: String?
  /// When it is sent to again by its hours; nil if it is not by these that files wait.
  let hours: String?

  /// Whether a user has it so that nothing is sent now.
  var isResting: Bool { isPaused || hours != nil }

  /// Those of all destinations, by name. O(n) in the queue.
  /// - Parameter configured: the destinations whose hours count.
  static func all(
    in queue: DeliveryQueue, _ configured: [Destination] = []
  ) throws(SpoolError) -> [WaitingDeliveries] {
    let tally = try queue.tally().filter { $0.state != .delivered }
    if tally.isEmpty { return [] }
    let states = try queue.destinations()
    let now = queue.now
    var all: [WaitingDeliveries] = []
    for name in Set(tally.map(\.destination)).sorted() {
      let rows = tally.filter { $0.destination == name }
      let destination = configured.first { $0.name == name }
      let limit = destination?.bytesPerSecond.map(Double.init)
      all.append(
        WaitingDeliveries(
          rows, states[name], try queue.trouble(of: name),
          hours: destination.flatMap { CommandContext.hours(of: $0, at: now) },
          rate: [try queue.rate(of: name), limit].compactMap(\.self).min(),
          confirmed: try queue.confirmed(
            at: name, since: rows.map(\.since).min() ?? now
          ).byteCount, at: now))
    }
    return all
  }

  /// - Parameters:
  ///   - rows: those of one destination, at least one.
  ///   - rate: in bytes per second.
  ///   - confirmed: the bytes that were confirmed since the first of them was added.
  private init(
    _ rows: [DeliveryTally], _ state: DestinationState?, _ trouble: String?, hours: String?,
    rate: Double?, confirmed: Int, at now: Double
  ) {
    let isHeld = rows.contains { $0.state == .held }
    // Documents are made behind what is held.
    let open = rows.filter {
      ![.failed, .held].contains($0.state) && !(isHeld && $0.state == .pending)
    }
    destination = rows.first?.destination ?? ""
    files = open.reduce(0) { $0 + $1.count }
    byteCount = open.reduce(0) { $0 + $1.byteCount }
    sentByteCount = open.reduce(0) { $0 + $1.sentByteCount }
    failed = rows.filter { $0.state == .failed }.reduce(0) { $0 + $1.count }
    held = rows.filter { $0.state == .held }.reduce(0) { $0 + $1.count }
    since = DateTime(secondsSince1970: rows.map(\.since).min() ?? 0)
    nextTry = open.filter { $0.state != .pending }.map(\.nextTry).min().map {
      DateTime(secondsSince1970: max($0, state?.heldUntil ?? 0))
    }
    let total = byteCount + confirmed
    progress =
      nextTry == nil || total == 0 ? nil : min(1, Double(sentByteCount + confirmed) / Double(total))
    isPaused = state?.isPaused ?? false
    // What was wrong is mended where something is sent.
    let isUploading = rows.contains { $0.state == .uploading }
    self.trouble = isUploading ? nil : state?.trouble ?? trouble
    self.hours = hours
    let isGoingOn =
      hours == nil && (isUploading || nextTry != nil && !isPaused && state?.heldUntil == nil)
    bytesPerSecond = isGoingOn ? rate.map { Int($0) } : nil
    let rest = Double(max(0, byteCount - sentByteCount))
    expectedEnd =
      isGoingOn
      ? rate.flatMap { $0 > 0 ? DateTime(secondsSince1970: now + rest / $0) : nil } : nil
  }

  /// `; 34 % there, 1.2 MB/s, done in about 5 min`.
  func pace(at now: Double) -> String {
    guard let bytesPerSecond, let expectedEnd else { return "" }
    let share = progress.map { "\(Int($0 * 100)) % there, " } ?? ""
    return "; \(share)\(ByteCount(bytesPerSecond))/s, done in about "
      + Format.duration(max(0, expectedEnd.seconds - now))
  }

  /// `  nas: 38 files to go, 21 MB; 34 % there, 1.2 MB/s, done in about 3 min`.
  func rest(at now: Double) -> String {
    Format.visible(
      "  \(destination): \(Count.of(files, "file")) to go, \(ByteCount(byteCount))" + pace(at: now))
  }

  /// - Parameter isSending: whether a process sends what is queued.
  func lines(at now: Double, isSending: Bool) -> [String] {
    var lines: [String] = []
    if files > 0 {
      let when =
        isPaused
        ? "paused"
        : hours ?? nextTry.map { time in
          !isSending
            ? "nothing sends now"
            : time.seconds > now ? "again in \(Format.duration(time.seconds - now))" : "due now"
        } ?? (failed > 0 ? "behind those that it cannot get" : "not made yet")
      lines.append(
        "\(Format.padLeft("\(files)", 7))  \(files == 1 ? "file" : "files") on the way to "
          + "\(destination) since \(Format.time(since)), \(ByteCount(byteCount)), \(when)"
          + pace(at: now))
    }
    if failed > 0 {
      lines.append(
        "\(Format.padLeft("\(failed)", 7))  \(failed == 1 ? "file" : "files") that \(destination) "
          + "cannot get")
    }
    if held > 0 {
      lines.append(
        "\(Format.padLeft("\(held)", 7))  \(held == 1 ? "file" : "files") of sensitive recordings held "
          + "for \(destination): \(command: .deliverQueue) --state held")
    }
    return (lines + (trouble.map { ["         \($0)"] } ?? [])).map(Format.visible)
  }
}

extension WaitingDeliveries {
  /// What sends files that wait or have failed.
  /// - Parameters:
  ///   - isSending: whether a process sends what is queued.
  ///   - commands: those that send, as words behind `spool deliver`.
  static func commands(
    _ deliveries: [WaitingDeliveries], isSending: Bool, _ commands: [[String]]
  ) -> [String] {
    let retrying = deliveries.contains { $0.failed > 0 } ? ["\(command: .deliverRetry)"] : []
    // Documents about files that cannot be sent wait for these.
    let waits = deliveries.contains {
      $0.files > 0 && !$0.isResting && ($0.nextTry != nil || $0.failed == 0)
    }
    let sending = commands.map { ShellWords.line(["spool", "deliver"] + $0) }
    return retrying + (waits && !isSending ? sending : [])
  }
}
