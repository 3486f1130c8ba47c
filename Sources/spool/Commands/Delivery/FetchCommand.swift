import Delivery
import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool deliver fetch`: brings delivered files back.
  static let deliverFetch = Command(
    name: "deliver fetch", group: "Care",
    summary: "Bring delivered files of a recording or a run back.",
    discussion: """
      The files that the destination has confirmed are read into a folder, under the paths that they have \
      there. Each gets its name when all of its bytes are there and have the SHA-256 that was confirmed. \
      No file is replaced: one that is there already with the same bytes is left as it is, and another one \
      of its name is an error. A fetch that was interrupted goes on when it is run again.

      On a computer without the store, spool store restore --from brings everything back.

      The exit code is 4 if the destination has lost a file or has other bytes, and 1 for other failures.
      """,
    positionals: [Options.source, Options.subjects],
    options: [
      Options.target, Options.what, Options.destinations, Options.store, Options.json,
      Options.quiet,
    ],
    examples: [
      Example("All of a recording", "spool deliver fetch nas 3f9a12cd --out ~/Desktop"),
      Example("Only the original", "spool deliver fetch cloud walk.m4a --what original"),
    ],
    perform: CommandContext.fetchFiles)
}

extension Options {
  fileprivate static let source = Positional<String>.required(
    "DESTINATION", help: "Its name; spool deliver destinations lists them.",
    completion: NameKind.destinations.hint())
  fileprivate static let target = Option<String?>.value(
    "out", "FOLDER", short: "o", help: "The folder for them, which is made if it is missing.",
    defaultText: "the current folder", completion: .folder)
  fileprivate static let what = Option<[String]>.values(
    "what", "KIND", help: "exports, receipt, transcript or original; left out, all of them.")
}

extension CommandContext {
  fileprivate func fetchFiles() throws(SpoolError) -> ExitCode {
    let destination = try destination(named: arguments[Options.source], in: destinations())
    let contents = try contents(arguments[Options.what])
    let store = try existingStore()
    var files: [QueuedDelivery] = []
    for name in arguments[Options.subjects] {
      var found: [QueuedDelivery] = []
      var isHeld = false
      for owner in try deliveryOwners(named: name, in: store) {
        var query = DeliveryQueue.Query.of(owner)
        (query.destination, query.states) = (destination.name, [.delivered])
        found += try store.deliveries.matching(query).filter {
          contents?.contains($0.file.content) ?? true
        }
        query.states = [.held]
        if try !store.deliveries.matching(query).isEmpty { isHeld = true }
      }
      if found.isEmpty {
        throw SpoolError(
          "\(destination.name) has nothing of \(name)",
          reason: "no such file of it was confirmed there",
          advice: isHeld
            ? deliveryCommand(["release", name]) + " has it sent: it is marked as sensitive"
            : deliveryCommand(["send", name, "--to", destination.name]) + " sends it")
      }
      for file in found where !files.contains(where: { $0.id == file.id }) { files.append(file) }
    }
    try destination.requireMounted(store.deliveries)
    let folder = try OutputFolder.prepare(absolute(arguments[Options.target] ?? "."))
    let stop = console.heed(SignalWatch.begin())
    var reader = DestinationReader(destination, Environment.variables, scratch: folder) {
      !stop.isRequested
    }
    var code = ExitCode.done
    for delivery in files {
      do throws(SpoolError) {
        let expected = DestinationReader.Expectation(
          try RemotePath(delivery.path), byteCount: delivery.file.byteCount,
          digest: delivery.file.digest, at: try RemotePath(delivery.clearPath))
        let fetched = try reader.fetch(expected, into: folder)
        tell(delivery, fetched, "\(folder)/\(delivery.clearPath)")
      } catch {
        if let signal = stop.signalNumber { return .interrupted(by: signal) }
        if error.remedy == .hold || error.isFullDisk { throw error }
        let isLost = error.kind == .missing || error.kind == .broken
        code = isLost || code == .verificationFailed ? .verificationFailed : .failed
        tell(delivery, error)
      }
    }
    return code
  }

  private func tell(
    _ delivery: QueuedDelivery, _ fetched: DestinationReader.Fetched, _ place: String
  ) {
    if isJSON {
      console.print(
        json: JSONLine([
          "id": Int(delivery.id), "path": delivery.path, "place": place,
          "what": delivery.file.content.rawValue, "byteCount": delivery.file.byteCount,
          "digest": delivery.file.digest.hex, "written": fetched == .written,
        ]))
    } else if !isQuiet {
      let word = fetched == .written ? "fetched" : "there already"
      console.print(Format.visible("\(word): \(place), \(ByteCount(delivery.file.byteCount))"))
    }
  }

  private func tell(_ delivery: QueuedDelivery, _ error: SpoolError) {
    if isJSON {
      console.print(
        json: JSONLine([
          "id": Int(delivery.id), "path": delivery.path, "what": delivery.file.content.rawValue,
          "byteCount": delivery.file.byteCount, "digest": delivery.file.digest.hex,
          "trouble": error.account,
        ]))
    } else {
      console.report(
        Format.visible("\(delivery.destination):\(delivery.path): ") + error.text(console))
    }
  }
}
