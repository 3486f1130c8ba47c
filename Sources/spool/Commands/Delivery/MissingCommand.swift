import Delivery
import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool deliver missing`: what a destination has not got.
  static let deliverMissing = Command(
    name: "deliver missing", group: "Care",
    summary: "List the recordings whose original a destination has not got.",
    discussion: """
      Of the recordings of all inboxes, whatever has become of them, and of those that runs have read, \
      each is listed whose original the destination has not confirmed: since when it is known here, where \
      it lies, and which other destinations have it. A recording with the sound of another one that is \
      there counts as being there. Nothing is read at the destination: spool deliver verify does that.

      The command that sends those whose files are all here is printed below the list. The exit code is 0, \
      with a list or without.
      """,
    positionals: [Options.destination],
    options: [Options.destinations, Options.store, Options.json],
    examples: [
      Example("What has no copy on the NAS", "spool deliver missing nas"),
      Example("Send what a run has read", "spool deliver send last --to nas --what original"),
    ],
    perform: CommandContext.listMissing)
}

extension Options {
  fileprivate static let destination = Positional<String>.required(
    "DESTINATION", help: "Its name; spool deliver destinations lists them.",
    completion: NameKind.destinations.hint())
}

/// A recording whose original a destination has not confirmed.
private struct MissingOriginal {
  let name: String
  let digest: Digest
  /// Bytes; nil if it is not known.
  let byteCount: Int?
  /// The recording of an inbox; nil for a run's.
  let recording: RecordingKey?
  let run: RunID?
  /// When it was taken in or first run, in seconds since 1970.
  let since: Double
  /// Where it lies; nil if it is lost.
  let place: String?
  /// The other destinations that have it.
  let copies: [String]
  /// Whether it waits until a person releases it.
  var isHeld = false
  /// Whether it can be sent as it is: it was processed, and its bytes are here.
  var canBeSent = false

  var line: JSONLine {
    JSONLine([
      "note": recording?.name, "run": run?.name, "name": name, "digest": digest.hex,
      "byteCount": byteCount, "since": DateTime(secondsSince1970: since), "place": place,
      "copies": copies, "isHeld": isHeld ? true : nil,
    ])
  }

  var text: String {
    let id = recording?.name ?? run.map { "run \($0)" } ?? ""
    let elsewhere = copies.isEmpty ? "" : ", also at \(copies.joined(separator: ", "))"
    return "\(Format.pad(id, 14))  since \(Format.time(since))  \(name)  "
      + (place ?? "lost: neither the store nor its folder has it") + elsewhere
      + (isHeld ? ", held: it is marked as sensitive" : "")
  }
}

extension CommandContext {
  fileprivate func listMissing() throws(SpoolError) -> ExitCode {
    let name = arguments[Options.destination]
    let store = try existingStore()
    // A destination that was taken out of the file is asked about all the same.
    try requireDestination(named: name, in: store)
    let missing = try missing(at: name, in: store).sorted {
      ($0.since, $0.name) < ($1.since, $1.name)
    }
    if isJSON {
      for original in missing { console.print(json: original.line) }
      return .done
    }
    var lines = missing.map(\.text)
    lines.append(
      missing.isEmpty
        ? "\(name) has the original of every recording that is known here"
        : "\(name) has not got the \(missing.count == 1 ? "original" : "originals") of "
          + Count.of(missing.count, "recording"))
    console.print(Format.visible(lines: lines))
    func names(where isNamed: (MissingOriginal) -> Bool) -> [String] {
      missing.filter(isNamed).compactMap { $0.recording?.name ?? $0.run?.name }
        .prefix(Self.offeredLimit).map(\.self)
    }
    let (sent, held) = (names { $0.canBeSent && !$0.isHeld }, names(where: \.isHeld))
    let ways = [
      sent.isEmpty ? [] : ["send"] + sent + ["--to", name],
      held.isEmpty ? [] : ["release"] + held,
    ]
    console.offer(ways.filter { !$0.isEmpty }.compactMap { NextCommand(deliveryCommand($0)) })
    return .done
  }

  /// How many recordings the command names that sends them; the rest comes in the next list.
  private static let offeredLimit = 50

  private func missing(
    at name: String, in store: DiskStore
  ) throws(SpoolError) -> [MissingOriginal] {
    let confirmed = try store.deliveries.confirmedOriginals()
    var query = DeliveryQueue.Query()
    (query.destination, query.states) = (name, [.held])
    let held = Set(
      try store.deliveries.matching(query).filter { $0.file.content == .original }.map(
        \.file.digest))
    func isThere(_ digest: Digest) -> Bool { confirmed[digest]?.contains(name) == true }
    let recordings = try store.recordings.matching(RecordingQuery(limit: .max))
    let runs = try store.runs.newest(limit: .max)
    // The newest comes first: its files are sent.
    var makers: [String: RunRecord] = [:]
    for run in runs where run.state == .done {
      for digest in (run.recordings ?? [:]).values where makers[digest.hex + run.pipeline] == nil {
        makers[digest.hex + run.pipeline] = run
      }
    }
    let contents = Dictionary(recordings.map { ($0.key, $0.content.digest) }) { first, _ in first }
    var missing: [MissingOriginal] = []
    var told: Set<Digest> = []
    for recording in recordings {
      let digest = recording.content.digest
      let others = recording.original.flatMap { contents[$0] }
      if isThere(digest) || others.map(isThere) == true || recording.isEmpty { continue }
      guard told.insert(digest).inserted else { continue }
      let place = try place(of: recording, in: store)
      missing.append(
        MissingOriginal(
          name: recording.fileName, digest: digest, byteCount: recording.content.byteCount,
          recording: recording.key, run: nil, since: recording.receivedAt,
          place: place, copies: confirmed[digest] ?? [], isHeld: held.contains(digest),
          canBeSent: place != nil && recording.original == nil && recording.state == .uploaded
            && (makers[digest.hex + recording.pipeline]?.hasItsFiles == true
              || confirmed[digest] != nil)
        ))
    }
    told.formUnion(contents.values)
    // The oldest run comes first: it says since when.
    for run in runs.reversed() where !store.isOfInbox(run) {
      for (input, path) in run.orderedInputs {
        guard let digest = run.recordings?[input],
          run.soundInputs?.contains(input) ?? true, !isThere(digest)
        else { continue }
        let kept = store.file(of: digest)
        let place = FilePath.exists(path) ? path : kept
        // What was no recording, or was given up, is no loss.
        if place == nil && [.refused, .dropped].contains(run.state) { continue }
        guard told.insert(digest).inserted else { continue }
        missing.append(
          MissingOriginal(
            name: path.pathNames.last ?? path, digest: digest,
            byteCount: (try? FileStamp(following: kept ?? path)).map { Int($0.byteCount) },
            recording: nil, run: run.id, since: run.startedAt,
            place: place, copies: confirmed[digest] ?? [], isHeld: held.contains(digest),
            canBeSent: place == path && run.state == .done && run.hasItsFiles))
      }
    }
    return missing
  }

  /// Where a recording of an inbox lies; nil if it is lost.
  private func place(of recording: Recording, in store: DiskStore) throws(SpoolError) -> String? {
    if let path = try? store.path(of: recording.content) { return path }
    return try store.recordings.files(of: recording.key)
      .first { $0.isThere(recording.content) }?.printablePath
  }
}

extension RunRecord {
  /// Whether all that it published is where it was.
  var hasItsFiles: Bool { published.allSatisfy { FilePath.exists($0.path) } }
}
