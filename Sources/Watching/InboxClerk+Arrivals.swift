internal import AudioModel
internal import Inbox
internal import PipelineEngine
internal import Media
internal import PipelineModel

/// What is done with each thing that arrived.
extension InboxClerk {
  /// Takes in a recording that settled, or, where it cannot be accepted, has it quarantined.
  mutating func takeIn(_ recording: SettledRecording, refusal: String? = nil) {
    attempt(at: recording.path) { (clerk) throws(CustodyError) in
      let path = recording.path
      let intake = try clerk.custody.takeIn(
        recording, container: refusal == nil ? clerk.container(of: path) : nil, refusal: refusal)
      // It came with its recording, though it may have been told of before.
      if intake != .changed {
        if let sidecar = recording.sidecar { clerk.standing.forget(sidecar) }
        for transcript in recording.transcripts { clerk.standing.forget(transcript) }
      }
      switch intake {
      case .received(let note):
        clerk.tell(.received, note)
        clerk.warn(of: note)
      case .quarantined(let note): clerk.tell(.quarantined, note, text: note.reason)
      case .duplicate(let note):
        clerk.tell(.duplicate, note, file: path.description, text: "it has come before")
        clerk.warn(of: note, isCopy: true)
      case .conflict(let note, let other):
        // Whether a new one is the same sound is known once it is decoded.
        let isNew = note.revision == 1
        let isDecided = note.state == .quarantined || clerk.custody.rules.conflicts == .process
        clerk.tell(
          isDecided || !isNew ? .conflict : .received, note, file: isNew ? nil : path.description,
          text: Note.words(claiming: other)
            + (isNew ? "" : "; its bytes have come before, as \(note.fileName)"))
        clerk.warn(of: note)
      case .known: break
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
    report(.stirred)
  }

  /// Takes in a sidecar that came by itself.
  mutating func takeSidecar(_ path: InboxPath, _ stamp: FileStamp) {
    attempt(at: path) { (clerk) throws(CustodyError) in
      switch try clerk.custody.takeSidecar(at: path, stamp: stamp) {
      case .attached(let note):
        clerk.tell(.sidecar, note, text: path.description)
        if note.isClaimOpen { clerk.tell(.conflict, note, text: note.reason) }
        clerk.warn(of: note)
      case .known: break
      case .refused(let refusal):
        clerk.refuse(path, refusal.reason)
      case .waiting: clerk.standing.wait(path, "its recording has not been taken in")
      case .transcript:
        clerk.standing.ignore(path)
        clerk.tell(
          .ignored, file: path.description,
          text: "it is a transcript, no sidecar, and is left there")
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
  }

  /// Takes in a transcript that came by itself.
  mutating func takeTranscript(_ path: InboxPath, _ stamp: FileStamp) {
    attempt(at: path) { (clerk) throws(CustodyError) in
      switch try clerk.custody.takeTranscript(at: path, stamp: stamp) {
      case .attached(let note): clerk.tell(.transcript, note, text: path.description)
      case .waiting: clerk.standing.wait(path, "its recording has not been taken in")
      case .late(let note):
        clerk.refuse(
          path, "it came when \(note.fileName) was processed already, which \(note.words)")
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
    report(.stirred)
  }

  /// Does what a device asks for.
  mutating func takeCommand(_ path: InboxPath, _ stamp: FileStamp) {
    attempt(at: path) { (clerk) throws(CustodyError) in
      switch try clerk.custody.takeCommand(at: path, stamp: stamp) {
      case .decided(let result, let request):
        clerk.tell(
          .command, file: path.description, key: result.note,
          text: CommandWords.text(request, result))
        if result.isFresh, request == .cancel, result.status == .applied, let note = result.note {
          clerk.report(.cancelled(note))
        }
      case .malformed(let result, let reason):
        clerk.tell(
          .command, file: path.description, key: result.note,
          text: CommandWords.text(malformed: reason, result))
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
    report(.stirred)
  }

  /// Does something with a file; where it fails for a reason that may pass, the file is looked at
  /// again later, as if it had just come.
  private mutating func attempt(
    at path: InboxPath, _ work: (inout InboxClerk) throws(CustodyError) -> Void
  ) {
    standing.forget(path)
    do throws(CustodyError) {
      try work(&self)
      again[path] = nil
    } catch {
      switch error.kind {
      case .link, .wrongKind, .special, .sparse, .tooLarge:
        refuse(path, error.reason)
      default:
        standing.wait(path, error.description)
        again[path] = engine.clock.elapsed + Self.pause
        tell(.trouble, file: path.description, text: error.description, seconds: Self.pause)
      }
    }
    owesMore()
  }

  /// Tells of files that are left alone for their names, where there are more of them than before.
  mutating func overlook(_ files: OverlookedFiles) {
    standing.overlook(files)
    if files.count > toldOverlookedCount, let oldest = files.files.first {
      let others = files.count - 1
      let minutes = Int(max(0, engine.clock.now - Double(oldest.since) / 1e9) / 60)
      tell(
        .refused, file: oldest.path.description,
        text: "never taken: \(oldest.reason), and it has not changed for \(minutes) min"
          + (others > 0 ? "; others with temporary or hidden names: \(others)" : ""))
    }
    toldOverlookedCount = files.count
  }

  /// Leaves a file where it is, for a reason that its owner should know.
  mutating func refuse(_ path: InboxPath, _ reason: String) {
    standing.refuse(path, reason)
    tell(.refused, file: path.description, text: reason)
  }

  /// Tells what speaks against a note's being whole, and what is wrong with its sidecar.
  private func warn(of note: Note, isCopy: Bool = false) {
    let facts = KeptFacts(of: note)
    for difference in facts.differences { tell(.warning, note, text: difference) }
    if isCopy { return }
    if let doubt = facts.doubt { tell(.warning, note, text: doubt) }
    for problem in facts.problems {
      tell(.warning, note, text: "its sidecar: \(problem)")
    }
  }

  /// What the file's container says of it; nil where it says nothing that can be read.
  private func container(of path: InboxPath) -> ContainerFacts? {
    guard let folder = try? InboxFolder(at: custody.inbox), let file = try? folder.open(path),
      let found = try? MediaProbe.describe(file.readingPath)
    else { return nil }
    return ContainerFacts(tags: found.tags, duration: found.duration?.value)
  }
}
