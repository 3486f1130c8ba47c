import Delivery
import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool deliver verify`: reads back what a destination has.
  static let deliverVerify = Command(
    name: "deliver verify", group: "Care",
    summary: "Read back what a destination has, and compare it.",
    discussion: """
      Every file that the store knows as delivered there is read again, and compared in length and SHA-256 \
      with what was confirmed; with --read 5%, a random sample of so many. Nothing is changed, here or \
      there. One line names each file that is missing or has other bytes, and how it is sent again: \
      nothing there is replaced, so a damaged file has to be moved away first.

      The exit code is 0 if all is sound, 4 if a file is missing or has other bytes, and 1 where the \
      destination could not be read: an empty folder to which files were delivered counts as that of a \
      disk which is not mounted.
      """,
    positionals: [Options.destination],
    options: [Options.read, Options.destinations, Options.store, Options.json, Options.quiet],
    examples: [
      Example("All of it", "spool deliver verify nas"),
      Example("A sample, as once a week", "spool deliver verify cloud --read 5%"),
    ],
    perform: CommandContext.verifyDestination)
}

extension Options {
  fileprivate static let destination = Positional<String>.required(
    "DESTINATION", help: "Its name; spool deliver destinations lists them.",
    completion: NameKind.destinations.hint())
  fileprivate static let read = Option<ReadShare>.value(
    "read", "SHARE", default: ReadShare.all, help: "How much is read: all, or a share such as 5%.")
}

/// How much of what is there is read: `all`, `5%`.
private struct ReadShare: ArgumentValue {
  /// From 0 to 1, and not 0.
  let fraction: Double
  let argument: String

  static let all = ReadShare(fraction: 1, argument: "all")
  static let expectation = "all, or a share above 0 such as 5%"

  private init(fraction: Double, argument: String) {
    (self.fraction, self.argument) = (fraction, argument)
  }

  init?(argument: String) {
    if argument == "all" {
      self = .all
      return
    }
    guard argument.hasSuffix("%"), let percent = Double(argument.dropLast().trimmingSpaces),
      percent > 0, percent <= 100
    else { return nil }
    self.init(fraction: percent / 100, argument: argument)
  }
}

extension Substring {
  fileprivate var trimmingSpaces: String { String(self).trimmingSpaces }
}

/// What was found in the place of delivered files.
private struct VerifiedDeliveries {
  var (fileCount, byteCount) = (0, 0)
  var (missingCount, damagedCount, unreadCount) = (0, 0, 0)
  /// Why the rest was not read.
  var trouble: SpoolError?

  /// Files whose bytes were read.
  var readCount: Int { fileCount - missingCount - unreadCount }

  var isSound: Bool { missingCount + damagedCount == 0 }

  var exitCode: ExitCode {
    if !isSound { return .verificationFailed }
    return trouble == nil && unreadCount == 0 ? .done : .failed
  }
}

extension CommandContext {
  fileprivate func verifyDestination() throws(SpoolError) -> ExitCode {
    let destination = try destination(
      named: arguments[Options.destination], in: destinations())
    let store = try existingStore()
    var query = DeliveryQueue.Query()
    (query.destination, query.states) = (destination.name, [.delivered])
    var files = try store.deliveries.matching(query)
    let allCount = files.count
    let share = arguments[Options.read].fraction
    if share < 1, !files.isEmpty {
      let count = min(files.count, max(1, Int((Double(files.count) * share).rounded(.up))))
      files = files.shuffled().prefix(count).sorted { $0.id < $1.id }
    }
    let stop = console.heed(SignalWatch.begin())
    let found = try verify(files, at: destination, in: store, stop)
    if let signal = stop.signalNumber { return .interrupted(by: signal) }
    tell(found, of: allCount, at: destination.name)
    if let trouble = found.trouble { console.report(trouble.text(console)) }
    return found.exitCode
  }

  private func verify(
    _ files: [QueuedDelivery], at destination: Destination, in store: DiskStore,
    _ stop: StopRequest
  ) throws(SpoolError) -> VerifiedDeliveries {
    var reader = DestinationReader(
      destination, Environment.variables, scratch: Environment.temporaryFolder
    ) { !stop.isRequested }
    let meter = readingMeter()
    defer { meter.clear() }
    var result = VerifiedDeliveries()
    let total = files.reduce(0) { $0 + $1.file.byteCount }
    var doneBytes = 0
    for delivery in files {
      meter.show(doneBytes, of: total, files: result.fileCount, of: files.count)
      do throws(SpoolError) {
        let confirmed = delivery.confirmation
        let isClear =
          destination.encryption != nil && confirmed?.digest == delivery.file.digest
        let file = DestinationReader.Expectation(
          try RemotePath(delivery.path),
          byteCount: confirmed?.byteCount ?? delivery.file.byteCount,
          digest: confirmed?.digest ?? delivery.file.digest)
        let finding = isClear ? try reader.checkDecrypted(file) : try reader.check(file)
        meter.clear()
        switch finding {
        case .sound: result.byteCount += delivery.file.byteCount
        case .missing:
          try destination.requireMounted(store.deliveries)
          result.missingCount += 1
          tell(delivery, "missing", nil, in: store)
        case .damaged(let reason):
          result.damagedCount += 1
          result.byteCount += delivery.file.byteCount
          tell(delivery, "damaged", reason, in: store)
        }
      } catch {
        meter.clear()
        if error.cause == .cancelled { return result }
        if error.remedy == .hold {
          result.trouble = error
          return result
        }
        result.unreadCount += 1
        tell(delivery, "unread", error.account, in: store)
      }
      result.fileCount += 1
      doneBytes += delivery.file.byteCount
    }
    return result
  }

  /// One line for a file that is not sound, with what to do.
  private func tell(
    _ delivery: QueuedDelivery, _ finding: String, _ reason: String?, in store: DiskStore
  ) {
    let advice = finding == "unread" ? nil : advice(for: delivery, finding, in: store)
    if isJSON {
      console.print(
        json: JSONLine([
          "id": Int(delivery.id), "destination": delivery.destination, "path": delivery.path,
          "finding": finding, "reason": reason, "advice": advice,
        ]))
      return
    }
    let facts = [reason, advice].compactMap(\.self).joined(separator: "; ")
    console.print(
      Format.visible(
        "\(Format.pad(finding, 9))\(delivery.destination):\(delivery.path)"
          + (facts.isEmpty ? "" : ": \(facts)")))
  }

  private func advice(
    for delivery: QueuedDelivery, _ finding: String, in store: DiskStore
  ) -> String {
    let again = deliveryCommand(["retry", "\(delivery.id)"])
    var steps: [String] = []
    if finding == "damaged" { steps.append("move it away there") }
    do throws(SpoolError) { _ = try store.deliveries.source(of: delivery.file) } catch {
      steps.append("\(error.why): \(error.advice ?? "put it back")")
    }
    steps.append("\(again) sends it again")
    return steps.joined(separator: ", then ")
  }

  private func tell(_ found: VerifiedDeliveries, of allCount: Int, at name: String) {
    if isJSON {
      console.print(
        json: JSONLine([
          "destination": name, "delivered": allCount, "files": found.fileCount,
          "byteCount": found.byteCount, "missing": found.missingCount,
          "damaged": found.damagedCount, "unread": found.unreadCount,
          "sound": found.isSound && found.unreadCount == 0 && found.trouble == nil,
        ]))
      return
    }
    if isQuiet, found.exitCode == .done { return }
    if allCount == 0 {
      return console.print(Format.visible("nothing was delivered to \(name) yet"))
    }
    let counts = [
      (found.missingCount, "missing"), (found.damagedCount, "with other bytes"),
      (found.unreadCount, "not read"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    // What is wrong with the destination itself is reported.
    if found.fileCount == 0 { return }
    let rest = found.readCount < allCount ? " of \(allCount)" : ""
    let verdict =
      counts.isEmpty
      ? found.trouble == nil ? "all as they were confirmed" : "all of these as they were confirmed"
      : counts.joined(separator: ", ")
    console.print(
      Format.visible(
        "\(name): \(found.readCount)\(rest) \(allCount == 1 ? "file" : "files") read, "
          + "\(ByteCount(found.byteCount)): \(verdict)"))
  }
}
