import Intake
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Store

extension Command {
  /// `spool inbox`: lists and changes the recordings of all inboxes.
  static let inbox = Command(
    name: "inbox", group: "Recordings",
    summary: "List, show, export, retry, release or forget recordings.",
    discussion: """
      list shows the recordings that changed last, by their paths in the inbox. show tells all that is known of one: its run and \
      exports, what its sidecar says, and its history; a noteId under which the same bytes came once \
      more names it too, and so does the name of a copy's file, or the place of a file in the inbox. export gives the original back as it arrived, \
      by the name that it arrived by (a hyphen at its beginning becomes _), with its sidecar and transcripts, and never over another file. retry has failed ones tried \
      again, all of them with --all; one that a device has cancelled only by its name. release lets \
      in what was quarantined, and decides about a recording that claims another one's identity. forget removes a recording with its history, so that the \
      recording is new when it comes again; exports stay, but the store's copy of the recording is \
      given up to spool store gc; of a quarantined one, the reason beside its file goes, and the file too \
      where it is empty. A watch that runs takes notice within a few seconds, and takes a file \
      anew that was left in its inbox. forget --inbox takes an inbox that nobody watches any more off \
      the store's list, so that spool status does not ask for its watch.
      """,
    positionals: [Options.action, Options.recordings],
    options: [
      Options.state, Options.limit, Options.all, Options.target, Options.inbox, Options.store,
      Options.json,
    ],
    examples: [
      Example("What could not be accepted", "spool inbox list --state quarantined"),
      Example("Get an original back", "spool inbox export 3f9a12cd --to ~/Desktop"),
      Example("Try two again", "spool inbox retry 3f9a12cd 81c0"),
      Example("Try all again that failed", "spool inbox retry --all"),
      Example("Watch a folder no longer", "spool inbox forget --inbox ~/Sync/notes"),
    ],
    perform: CommandContext.manageInboxes)
}

extension Options {
  fileprivate enum Action: String, CaseIterable, ArgumentValue {
    case list, show, export, retry, release, forget
  }

  /// Which recordings are listed.
  fileprivate enum State: String, CaseIterable, ArgumentValue {
    case received, processing, uploading, uploaded, failed, cancelled, quarantined
  }

  fileprivate static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, list.")
  fileprivate static let recordings = Positional<[String]>.repeated(
    "RECORDING", minimum: 0,
    help:
      "Its ID, the beginning of that, its device's noteId, or the name of its file or of a copy's.",
    completion: NameKind.recordings.hint())
  fileprivate static let all = Option<Bool>.flag(
    "all",
    help: "With export, all; with retry, all that failed, but none that was cancelled or is tried "
      + "again by itself.")
  fileprivate static let target = Option<String?>.value(
    "to", "DIR", help: "With export, the folder for the originals.",
    defaultText: "the current folder", completion: .folder)
  fileprivate static let inbox = Option<String?>.value(
    "inbox", "DIR",
    help:
      "With forget, an inbox that is no longer watched, and none of whose recordings waits; they stay.",
    completion: .folder)
  fileprivate static let state = Option<State?>.value(
    "state", "STATE", help: "Only recordings in this state.")
  fileprivate static let limit = Option<Int?>.value(
    "limit", "N", short: "n", help: "List so many; 0 lists all.",
    defaultText: "50, with --json all")
}

extension CommandContext {
  fileprivate func manageInboxes() throws(SpoolError) -> ExitCode {
    let action = arguments[Options.action] ?? .list
    if arguments[Options.all],
      ![.retry, .export].contains(action) || !arguments[Options.recordings].isEmpty
    {
      throw .usage(
        "--all goes with retry and export, and without a name", advice: "spool help inbox")
    }
    if arguments[Options.target] != nil, action != .export {
      throw .usage("--to goes with export alone", advice: "spool help inbox")
    }
    if let inbox = arguments[Options.inbox] {
      guard action == .forget, arguments[Options.recordings].isEmpty else {
        throw .usage(
          "--inbox goes with forget alone, and without a name", advice: "spool help inbox")
      }
      return try forget(inbox: inbox)
    }
    guard [.list, .show, .export].contains(action) else {
      try requireStore()
      return try change(action, try openStore())
    }
    let store = try existingStore()
    if action == .list {
      try list(in: store)
    } else if arguments[Options.all] {
      return try exportAll(from: store)
    } else {
      for name in try names(for: action) {
        let recording = try recording(name, in: store)
        if action == .export {
          try export(recording, from: store)
        } else {
          try show(recording, store)
        }
      }
    }
    return .done
  }

  /// Gives back every original; one that is lost does not stop the others.
  private func exportAll(from store: DiskStore) throws(SpoolError) -> ExitCode {
    var code = ExitCode.done
    for recording in try store.recordings.matching(RecordingQuery(limit: .max)).reversed() {
      do throws(SpoolError) { try export(recording, from: store) } catch {
        console.report(error.text(console))
        code = error.exitCode
      }
    }
    return code
  }

  /// Takes an inbox off the store's list, which no process watches; its recordings stay.
  private func forget(inbox: String) throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    // Its folder may be gone, and was recorded without links.
    let paths = [ResolvedPath.of(absolute(inbox)), ResolvedPath.asTyped(inbox)]
    let known = try store.inboxes.watchedInboxes().map(\.path) + store.inboxes.lastWatches().keys
    let path = paths.first { known.contains($0) } ?? paths[0]
    let waiting = try store.recordings.matching(
      RecordingQuery(states: [.received, .failed], isCancelled: false, limit: .max)
    ).filter { $0.inbox == path }
    if known.contains(path), !waiting.isEmpty {
      let names = waiting.prefix(20).map(\.key.name).joined(separator: " ")
      throw SpoolError(
        "\(Count.of(waiting.count, "recording")) of \(path) \(waiting.count == 1 ? "waits" : "wait")",
        reason: "without the inbox, nothing would process \(waiting.count == 1 ? "it" : "them")",
        advice: "watch it again; or give up what waits: "
          + "\(option.completing("\(command: .inboxForget) \(names)"))"
          + (waiting.count > 20 ? ", and so on" : ""), kind: .usage)
    }
    guard try store.inboxes.forget(path) else {
      throw .usage(
        "the store knows no inbox \(path)",
        advice: "\(option.completing("spool status")) lists the inboxes that need action")
    }
    answer(
      JSONLine(["inbox": path, "state": "forgotten"]),
      Format.visible("forgotten: the inbox \(path)"))
    return .done
  }

  private func list(in store: DiskStore) throws(SpoolError) {
    let wanted = arguments[Options.state]
    let state =
      wanted == .cancelled ? .failed : wanted.flatMap { RecordingState(rawValue: $0.rawValue) }
    let (recordings, note) = try newest(Options.limit, otherwise: 50, all: "lists") {
      (limit) throws(SpoolError) in
      try store.recordings.matching(
        RecordingQuery(
          states: state.map { [$0] } ?? [],
          isCancelled: state == .failed ? wanted == .cancelled : nil, limit: limit))
    }
    let paths = try store.recordings.arrivalPaths(of: recordings)
    answer(
      list: recordings.map { $0.line(nil, option, paths: paths[$0.key]) },
      Self.list(recordings, paths))
    note.map(console.report)
    if isJSON { return }
    // Refused files are not in the list, so their folders are shown beside it.
    for inbox in try store.inboxes.watchedInboxes() {
      let lines = InboxStatusText(inbox.path, inbox, line: nil, store: namedStore)
        .overlookedLines
      if lines.isEmpty { continue }
      console.print((["inbox \(Format.visible(inbox.path)):"] + lines).joined(separator: "\n"))
    }
  }

  private func show(_ recording: Recording, _ store: DiskStore) throws(SpoolError) {
    let page = try Recording.Page(of: recording, in: store)
    answer(recording.line(page, option), Self.page(recording, page, option))
  }

  /// Applies the action to each named recording; a failure does not stop the others.
  private func change(_ action: Options.Action, _ store: DiskStore) throws(SpoolError) -> ExitCode {
    var recordings: [Recording] = []
    if arguments[Options.all] {
      recordings = try store.recordings.matching(
        RecordingQuery(states: [.failed], isCancelled: false, limit: .max)
      ).filter { $0.nextAttempt == nil }
      if recordings.isEmpty { console.report("no recording waits to be tried again") }
    } else {
      for name in try names(for: action) {
        let recording = try recording(name, in: store)
        // One that came twice may be named by each of its files.
        if !recordings.contains(where: { $0.key == recording.key }) { recordings.append(recording) }
      }
    }
    var code = ExitCode.done
    for recording in recordings {
      do throws(SpoolError) { try change(action, recording, store) } catch {
        guard recordings.count > 1 else { throw error }
        console.report(error.text(console))
        code = error.exitCode
      }
    }
    // Sidecars hold what people have said or written.
    if action == .forget { try store.dropHistory() }
    return code
  }

  private func change(
    _ action: Options.Action, _ recording: Recording, _ store: DiskStore
  ) throws(SpoolError) {
    let files = try store.recordings.files(of: recording.key)
    let duplicates = action == .forget ? try store.recordings.duplicates(of: recording.key) : []
    if action != .forget { try store.retakeCompanions(of: recording) }
    let outcome =
      switch action {
      case .forget: try store.recordings.forget(recording.key)
      case .release:
        try store.recordings.change(recording.key, .release(reason: RecordingEvent.releaseReason))
      default: try store.recordings.change(recording.key, .retry(reason: "asked for by hand"))
      }
    switch outcome {
    case .changed(let changed):
      if action == .forget { tidy(files, of: recording) }
      let text =
        action == .forget
        ? "forgotten: \(Format.visible(recording.fileName)) (\(recording.key))"
        : "\(Format.visible(changed.fileName)) (\(changed.key)) \(changed.words)"
      answer(changed.line(nil, option, isForgotten: action == .forget), text)
      if action != .forget || isJSON { return }
      let named = arguments[Options.recordings]
      for other in duplicates where !named.contains(where: other.key.name.hasPrefix) {
        console.report(
          "note: " + Format.visible(other.fileName) + " has the same sound, and stays: "
            + option.completing("spool inbox forget \(other.key)") + " removes it too")
      }
      if try !store.inboxes.watchedInboxes().contains(where: {
        $0.path == recording.inbox && $0.processNumber != nil
      }) {
        console.report(
          "note: its acknowledgement and what state.json says of it go when its inbox is watched next"
        )
      }
      // It may be the only copy if the inbox keeps no originals.
      if !recording.isEmpty, !files.contains(where: { $0.isThere(recording.content) }),
        let path = try? store.path(of: recording.content)
      {
        console.report(
          "note: spool store gc may remove its original from now on; copy it first if it lies nowhere "
            + "else: \(Format.visible(path))")
      }
    case .refused(let refusal):
      throw SpoolError(
        "cannot \(action.rawValue) \(recording.key)", reason: refusal.reason,
        advice: refusal.advice ?? refusal.command.map(option.completing)
          ?? store.wordsCorrection(of: recording).map {
            "\(option.completing($0)) corrects its words, and takes an edited text with --from"
          } ?? recording.nextCommands.first.map(option.completing))
    case nil: throw absent(recording.key.name)
    }
  }

  /// Deletes the files of a forgotten recording in quarantine and reports those that stay.
  private func tidy(_ files: [RecordingFile], of recording: Recording) {
    do throws(SpoolError) {
      for path in try recording.tidyQuarantine(of: files) {
        console.report("note: its file stays: \(Format.visible(path))")
      }
    } catch {
      console.report("warning: \(Format.visible(error.description))")
    }
  }

  /// The store option for suggested commands.
  private var option: StoreOption { StoreOption(namedStore) }

  private func names(for action: Options.Action) throws(SpoolError) -> [String] {
    let names = arguments[Options.recordings]
    guard names.isEmpty else { return names }
    throw .usage(
      "spool inbox \(action.rawValue) which recording?",
      advice: "\(option.completing("spool inbox list")) names them")
  }

  private func recording(_ name: String, in store: DiskStore) throws(SpoolError) -> Recording {
    guard let recording = try knownRecording(named: name, in: store) else { throw absent(name) }
    return recording
  }

  /// The recording of an inbox with this ID or a prefix of it, or of this file name as it is printed; nil if
  /// there is none.
  func knownRecording(named name: String, in store: DiskStore) throws(SpoolError) -> Recording? {
    if let found = try store.recordings.recording(named: name) { return found }
    let (exact, printed) = try store.recordings.recordings(called: name)
    let found = exact.isEmpty ? printed : exact
    guard let recording = found.first else { return nil }
    guard found.count == 1 else {
      throw .usage(
        "several recordings came as \(name)",
        reason: found.prefix(3).map(\.key.name).joined(separator: ", ")
          + (found.count > 3 ? ", …" : ""),
        advice: "name one of them")
    }
    if !exact.isEmpty, let other = printed.first {
      console.report(
        "note: this is \(recording.key), the file of exactly this name; \(other.key) has another one, "
          + "which is shown like that")
    }
    return recording
  }

  private func absent(_ name: String) -> SpoolError {
    .usage(
      "there is no recording \"\(name)\"",
      advice: "\(option.completing("spool inbox list")) names them")
  }

  /// Writes a recording's original to the target folder and reports its path.
  private func export(_ recording: Recording, from store: DiskStore) throws(SpoolError) {
    let target = absolute(arguments[Options.target] ?? ".")
    let isNew = !FilePath.exists(target)
    let folder = try OutputFolder.prepare(target)
    do throws(SpoolError) {
      for file in try store.writeOriginals(of: recording, to: folder) {
        answer(
          JSONLine([
            "note": recording.key.name, "role": file.role.rawValue, "path": file.path,
            "bytes": file.content.byteCount, "digest": file.content.digest.hex,
            "written": file.isNew,
          ]),
          Format.visible(
            "\(file.path): \(file.isNew ? "written" : "there already"), "
              + "\(ByteCount(file.content.byteCount)), as it arrived"))
      }
    } catch {
      if isNew { try? FileOperations.system.removeFolder(folder) }
      throw SpoolError(
        "cannot give back the original of \(recording.fileName) (\(recording.key))",
        reason: error.message + (error.reason.map { ": \($0)" } ?? ""),
        advice: error.advice ?? "spool inbox show \(recording.key) says where its files are")
    }
  }
}
