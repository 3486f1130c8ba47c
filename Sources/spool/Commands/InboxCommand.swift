import Arguments
import Inbox
import PipelineModel
import Store

/// `spool inbox`: the notes of all inboxes, and what can be done about them.
struct InboxCommand: Command {
  /// What is to be done.
  enum Action: String, CaseIterable, ArgumentValue {
    case list, show, export, retry, release, forget
  }

  /// Which notes are listed.
  enum State: String, CaseIterable, ArgumentValue {
    case received, processing, uploading, uploaded, failed, cancelled, quarantined
  }

  private static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, list.")
  private static let notes = Positional<[String]>.repeated(
    "NOTE", minimum: 0, help: "The note's name, the beginning of it, or its device's noteId.")
  private static let all = Option<Bool>.flag(
    "all",
    help: "With retry, every failed note, but none that was cancelled or is tried again by itself.")
  private static let target = Option<String?>.value(
    "to", "DIR", help: "With export, the folder for the originals.",
    defaultText: "the current folder", completion: .folder)
  private static let state = Option<State?>.value(
    "state", "STATE", help: "Only notes that stand so.")
  private static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 50, help: "List so many; 0 lists all.")

  static let declaration = CommandDeclaration(
    name: "inbox", group: "Watch",
    summary: "List, show, export, retry, release or forget notes.",
    discussion: """
      list shows the notes that changed last. show tells all that is known of one: its run and \
      exports, what its sidecar says, and its history; a noteId under which the same bytes came once \
      more names it too. export gives the original back as it arrived, \
      by the name that it arrived by, and never over another file. retry has failed ones tried \
      again, all of them with --all; one that a device has cancelled only by its name. release lets in what was quarantined, and decides about a note \
      that claims another one's identity. forget strikes a note with its history, so that the \
      recording is new when it comes again; exports stay, but the store's copy of the recording is \
      given up to spool gc; of a quarantined one, the reason beside its file goes, and the file too \
      where it is empty. A watch that runs takes notice within a few seconds, and takes a file \
      anew that was left in its inbox.
      """,
    positionals: [action, notes],
    options: [state, limit, all, target, Options.store, Options.json],
    examples: [
      Example("What could not be accepted", "spool inbox list --state quarantined"),
      Example("Get an original back", "spool inbox export 3f9a12cd --to ~/Desktop"),
      Example("Try two again", "spool inbox retry 3f9a12cd 81c0"),
      Example("Try all again that failed", "spool inbox retry --all"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console)
    let action = arguments[Self.action] ?? .list
    do throws(Workbench.Refusal) {
      if arguments[Self.all], action != .retry || !arguments[Self.notes].isEmpty {
        throw usage("--all goes with retry alone, and without a note", console)
      }
      if arguments[Self.target] != nil, action != .export {
        throw usage("--to goes with export alone", console)
      }
      guard [.list, .show, .export].contains(action) else {
        return try change(action, try bench.store(at: arguments[Options.store]), console)
      }
      let readable = try bench.readableStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      if action == .list {
        try list(in: readable.store, console)
      } else {
        let export = NoteExport(
          store: readable.store, folder: arguments[Self.target] ?? ".",
          isJSON: arguments[Options.json], console: console)
        for name in try names(for: action, console) {
          if action == .export {
            try export.write(try note(name, in: readable.store, console))
            continue
          }
          try show(try note(name, in: readable.store, console), readable.store, console)
        }
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func list(in store: DiskStore, _ console: Console) throws(Workbench.Refusal) {
    let limit = arguments[Self.limit]
    guard limit >= 0 else {
      throw Workbench.Refusal(
        text: "\(console.red("error:")) --limit is 0 or more, not \(limit)\nnext:  0 lists all",
        code: .usage)
    }
    let wanted = arguments[Self.state]
    let state = wanted == .cancelled ? .failed : wanted.flatMap { NoteState(rawValue: $0.rawValue) }
    let notes = try asking(console) { () throws(StoreError) in
      try store.notes(
        NoteQuery(
          states: state.map { [$0] } ?? [],
          isCancelled: state == .failed ? wanted == .cancelled : nil,
          limit: limit == 0 ? .max : limit))
    }
    if arguments[Options.json] {
      for note in notes { console.print(JSONText.of(NoteLine(note, nil, option))) }
    } else {
      console.print(NoteText.list(notes))
      // What never becomes a note is missing from this list, and may be missed.
      let inboxes = try asking(console) { () throws(StoreError) in try store.watchedInboxes() }
      for inbox in inboxes {
        let lines = InboxStatus(inbox, line: nil, store: arguments[Options.store]).overlookedLines
        if lines.isEmpty { continue }
        console.print((["inbox \(Format.visible(inbox.path)):"] + lines).joined(separator: "\n"))
      }
    }
  }

  private func show(
    _ note: Note, _ store: DiskStore, _ console: Console
  ) throws(Workbench.Refusal) {
    let page = try asking(console) { () throws(StoreError) in try NotePage(of: note, in: store) }
    console.print(
      arguments[Options.json]
        ? JSONText.of(NoteLine(note, page, option)) : NoteText.page(note, page, option))
  }

  /// Does it to each note that is named; one that does not allow it keeps none of the others from it.
  private func change(
    _ action: Action, _ store: DiskStore, _ console: Console
  ) throws(Workbench.Refusal) -> ExitCode {
    var notes: [Note] = []
    if arguments[Self.all] {
      notes = try asking(console) { () throws(StoreError) in
        try store.notes(NoteQuery(states: [.failed], isCancelled: false, limit: .max))
      }.filter { $0.nextAttempt == nil }
      if notes.isEmpty { console.report("no note waits to be tried again") }
    } else {
      for name in try names(for: action, console) {
        notes.append(try note(name, in: store, console))
      }
    }
    var code = ExitCode.done
    for note in notes {
      do throws(Workbench.Refusal) { try change(action, note, store, console) } catch {
        guard notes.count > 1 else { throw error }
        console.report(error.text)
        code = error.code
      }
    }
    return code
  }

  private func change(
    _ action: Action, _ note: Note, _ store: DiskStore, _ console: Console
  ) throws(Workbench.Refusal) {
    let files = try asking(console) { () throws(StoreError) in try store.files(of: note.key) }
    let outcome = try asking(console) { () throws(StoreError) in
      switch action {
      case .forget: try store.forget(note.key)
      case .release: try store.change(note.key, .release(reason: "released by hand"))
      default: try store.change(note.key, .retry(reason: "asked for by hand"))
      }
    }
    switch outcome {
    case .changed(let changed):
      if action == .forget { tidy(files, of: note, console) }
      if arguments[Options.json] {
        console.print(JSONText.of(NoteLine(changed, nil, option)))
      } else {
        guard action == .forget else {
          console.print(
            "\(Format.visible(changed.fileName)) (\(changed.key)) \(changed.words)")
          return
        }
        console.print("forgotten: \(Format.visible(note.fileName)) (\(note.key))")
        // It may be the only copy, where the inbox keeps nothing.
        if !note.isEmpty, let path = try? store.path(of: note.recording) {
          console.report(
            "note: spool gc may remove its original from now on; copy it first if it lies nowhere "
              + "else: \(Format.visible(path))")
        }
      }
    case .refused(let refusal):
      throw Workbench.Refusal(
        text: ErrorText(
          StageError(
            "cannot \(action.rawValue) \(note.key)", reason: refusal.reason,
            advice: refusal.advice
              ?? (refusal.command ?? note.nextCommands.first).map(option.completing))
        ).render(console), code: .failed)
    case nil: throw absent(note.key.name, console)
    }
  }

  /// Takes away what in quarantine speaks of a note that was forgotten, and tells what stays there.
  private func tidy(_ files: [NoteFile], of note: Note, _ console: Console) {
    do throws(CustodyError) {
      for path in try QuarantineLeavings(of: note, files: files).kept {
        console.report("note: its file stays: \(Format.visible(path))")
      }
    } catch {
      console.report("warning: \(Format.visible(error.description))")
    }
  }

  /// How the store is named in what is to be typed next.
  private var option: StoreOption { StoreOption(arguments[Options.store]) }

  private func names(
    for action: Action, _ console: Console
  ) throws(Workbench.Refusal) -> [String] {
    let names = arguments[Self.notes]
    guard names.isEmpty else { return names }
    throw Workbench.Refusal(
      text: "\(console.red("error:")) spool inbox \(action.rawValue) which note?\n"
        + "next:  \(option.completing("spool inbox list")) names them", code: .usage)
  }

  private func note(
    _ name: String, in store: DiskStore, _ console: Console
  ) throws(Workbench.Refusal) -> Note {
    let found = try asking(console) { () throws(StoreError) in try store.note(named: name) }
    guard let found else { throw absent(name, console) }
    return found
  }

  private func usage(_ message: String, _ console: Console) -> Workbench.Refusal {
    Workbench.Refusal(
      text: "\(console.red("error:")) \(message)\nnext:  spool help inbox", code: .usage)
  }

  private func absent(_ name: String, _ console: Console) -> Workbench.Refusal {
    Workbench.Refusal(
      text: "\(console.red("error:")) there is no note \"\(Format.visible(name))\"\n"
        + "next:  \(option.completing("spool inbox list")) names them", code: .usage)
  }

  private func asking<Result>(
    _ console: Console, _ body: () throws(StoreError) -> Result
  ) throws(Workbench.Refusal) -> Result {
    do throws(StoreError) { return try body() } catch {
      throw Workbench.Refusal(text: ErrorText(StageError(error)).render(console), code: .failed)
    }
  }
}
