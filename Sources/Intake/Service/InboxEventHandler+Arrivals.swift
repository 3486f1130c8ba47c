internal import PipelineEngine
internal import PipelineModel
import Platform
internal import Store

extension InboxEventHandler {
  /// Takes in a stable recording, or quarantines it if it cannot be accepted.
  mutating func takeIn(_ recording: StableRecording, refusal: String? = nil) {
    attempt(at: recording.path) { (handler) throws(SpoolError) in
      let path = recording.path
      let admission = try handler.processor.takeIn(
        recording, container: refusal == nil ? handler.container(of: path) : nil, refusal: refusal)
      guard let admission else { return handler.watcher.lookAgain(at: path) }
      // They came with their recording, though they may have been reported before.
      for companion in [recording.sidecar].compactMap(\.self) + recording.transcripts {
        handler.status.forget(companion)
        handler.held[companion] = nil
      }
      switch admission {
      case .new(let recording) where recording.state == .quarantined:
        handler.tell(.quarantined, recording, text: recording.reason)
        handler.tellQuarantinedCompanions(of: recording, isNew: true)
      case .new(let recording):
        handler.tell(.received, recording)
        handler.tellQuarantinedCompanions(of: recording, isNew: true)
        handler.warn(of: recording)
      case .duplicate(let known):
        let ignored = handler.processor.ignoredFields(ofSidecarAt: recording.sidecar, by: known)
        let text =
          known.state == .received
          ? "it has come before, and waits to be processed" : "it has come before"
        let isFirst = ignored == nil && handler.hasFirstSidecar(known, with: recording.sidecar)
        handler.tell(
          .duplicate, known, file: path.description,
          text: text + (isFirst ? handler.words(onLateSidecarOf: known) : "")
            + (ignored.map { "; " + handler.processor.words(ignoring: $0, by: known) } ?? ""))
        handler.tellQuarantinedCompanions(of: known, isNew: false)
        handler.warn(of: known, isCopy: true)
        if isFirst { handler.deliverAgain("its sidecar", of: known) }
        handler.tellHeld(try handler.processor.holdIfSensitive(known), of: known)
        handler.takeTranscripts(besideCopy: recording, of: known)
      case .conflict(let recording, let other):
        // Whether it is a duplicate is known once it is decoded.
        let isNew = recording.revision == 1
        let isDecided =
          recording.state == .quarantined || handler.processor.rules.conflicts == .process
        handler.tell(
          isDecided || !isNew ? .conflict : .received, recording,
          file: isNew ? nil : path.description,
          text: Recording.words(claiming: other)
            + (isNew ? "" : "; its bytes have come before, as \(recording.fileName)"))
        handler.warn(of: recording)
      case .known: break
      }
    }
    report { $0.isStirred = true }
  }

  /// Takes in a sidecar that came by itself.
  /// - Parameter mayWait: whether it may belong to a recording that has not come yet, although one
  ///   of its name is done.
  mutating func takeSidecar(_ path: InboxPath, _ stamp: FileStamp, mayWait: Bool = true) {
    attempt(at: path) { (handler) throws(SpoolError) in
      switch try handler.processor.takeSidecar(at: path, stamp: stamp, mayWait: mayWait) {
      case .attached(let recording):
        handler.tellSidecar(path, of: recording)
        // What it names may lie in the inbox already.
        if let missing = try handler.processor.store.missingTranscript(of: recording) {
          handler.watcher.lookAgain(at: missing.path)
        }
      case .sensitive(let recording, let heldCount):
        handler.tellSidecar(path, of: recording)
        handler.tellHeld(heldCount, of: recording)
      case .refused(let refusal):
        handler.refuse(path, refusal.reason)
      case .waiting:
        let namesake = try handler.processor.recipient(of: path)?.recording
        handler.status.wait(
          path,
          namesake.map { "no recording of its name has come since \($0.fileName) was taken in" }
            ?? "its recording has not been taken in")
      case .held(let recording): handler.hold(path, stamp, besides: recording)
      case .transcript:
        handler.status.ignore(path)
        handler.tell(
          .ignored, file: path.description,
          text: "it is a transcript, no sidecar, and is left there")
      case .changed: handler.watcher.lookAgain(at: path)
      case .known, .late: break
      }
    }
  }

  private func tellSidecar(_ path: InboxPath, of recording: Recording) {
    tell(.sidecar, recording, text: path.description + words(onLateSidecarOf: recording))
    if recording.isClaimOpen { tell(.conflict, recording, text: recording.reason) }
    warn(of: recording)
    deliverAgain(path.description, of: recording)
  }

  /// Queues what has become known of a recording since its files were queued, with a new document.
  /// - Parameter news: what that is, as a noun.
  private func deliverAgain(_ news: String, of recording: Recording) {
    guard [.uploading, .uploaded].contains(recording.state) else { return }
    let store = processor.store
    var known = (try? store.deliveries.destinations(of: recording.key)) ?? []
    if known.isEmpty { return }
    var obstacle = "no run of it is known here"
    do throws(SpoolError) {
      if let delivery = engine.delivery?(recording), let run = try store.lastDoneRun(of: recording)
      {
        for var request in deliveries {
          request.isRequired = request.isRequired && recording.state == .uploading
          let context = DeliveryContext(
            request, of: run, files: store.files(of: run), exportFolder: store)
          _ = try delivery.queue(context)
        }
        let covered = deliveries.flatMap(\.destinations)
        known.removeAll(where: covered.contains)
        if known.isEmpty { return }
        obstacle = "the pipeline sends nothing there"
      }
    } catch { obstacle = error.account }
    let ways = known.map { "\(command: .deliverSend) \(recording.key) \(option: .to) \($0)" }
    tell(
      .warning, recording,
      text: "\(known.joined(separator: ", ")) will not learn of \(news): \(obstacle); "
        + ways.map(engine.option.completing).joined(separator: "; ") + " sends it")
  }

  /// Reports what is held from now on of a recording that is sensitive.
  private func tellHeld(_ count: Int, of recording: Recording) {
    if count > 0 { tell(.warning, recording, text: processor.words(holding: count, of: recording)) }
  }

  /// Takes in a transcript that came by itself.
  /// - Parameter mayWait: whether it may belong to a recording that has not come yet, although one
  ///   of its name is done.
  mutating func takeTranscript(_ path: InboxPath, _ stamp: FileStamp, mayWait: Bool = true) {
    attempt(at: path) { (handler) throws(SpoolError) in
      switch try handler.processor.takeTranscript(at: path, stamp: stamp, mayWait: mayWait) {
      case .attached(let recording):
        let retry = handler.processor.option.completing("\(command: .inboxRetry) \(recording.key)")
        handler.tell(
          .transcript, recording,
          text: path.description
            + (recording.state == .quarantined ? "; \(retry) does the recording with it" : ""))
      case .waiting: handler.status.wait(path, "its recording has not been taken in")
      case .held(let recording):
        handler.hold(path, stamp, besides: recording, isTranscript: true)
      case .late(let recording):
        let processor = handler.processor
        let way = processor.store.wordsCorrection(of: recording, from: processor.fullPath(path))
        handler.refuse(
          path,
          "it is left at \(processor.fullPath(path)): it came "
            + (recording.state == .uploaded
              ? "when \(recording.fileName) was processed already; "
              : "while \(recording.fileName) was being processed; ")
            + (way.map { "to use it: \(processor.option.completing($0))" }
              ?? "to do the recording again with it: "
              + recording.wayOfRepeating(
                processor.option,
                without: StoredFacts(of: recording).transcript == nil ? nil : "an earlier text")))
      case .changed: handler.watcher.lookAgain(at: path)
      case .known, .refused, .transcript, .sensitive: break
      }
    }
    report { $0.isStirred = true }
  }

  /// Reports the transcripts that came with a copy of a recording: those that it has now, and those that
  /// came too late.
  private mutating func takeTranscripts(besideCopy copy: StableRecording, of known: Recording) {
    guard let folder = try? InboxFolder(at: processor.inbox) else { return }
    for path in copy.transcripts {
      guard let stamp = try? folder.stamp(of: path) else { continue }
      if !processor.isKnown(path, stamp) {
        takeTranscript(path, stamp, mayWait: false)
      } else if known.takesTranscripts {
        let name = StoredFacts(of: known).transcript
        let isUsed = name == path.name?.description
        tell(
          isUsed ? .transcript : .warning, known,
          text: isUsed
            ? path.description : "\(path) is not used: it has \(name ?? "another text") already")
      }
    }
  }

  /// Lets a sidecar or a transcript wait for a new recording of its name.
  private mutating func hold(
    _ path: InboxPath, _ stamp: FileStamp, besides recording: Recording, isTranscript: Bool = false
  ) {
    held[path] = HeldCompanion(
      stamp: stamp, isTranscript: isTranscript, due: engine.clock.elapsed + holdPeriod)
    status.wait(
      path, "\(recording.fileName), which came before, is done: it waits for another one")
  }

  /// Takes in the sidecars and transcripts that have waited long enough for a new recording.
  mutating func takeHeld() {
    for (path, companion) in held where companion.due <= engine.clock.elapsed {
      held[path] = nil
      if companion.isTranscript {
        takeTranscript(path, companion.stamp, mayWait: false)
      } else {
        takeSidecar(path, companion.stamp, mayWait: false)
      }
    }
  }

  /// Applies a device's command.
  mutating func takeCommand(_ path: InboxPath, _ stamp: FileStamp) {
    attempt(at: path) { (handler) throws(SpoolError) in
      switch try handler.processor.takeCommand(at: path, stamp: stamp) {
      case .decided(let result, let request):
        handler.tell(
          .command, file: path.description, key: result.recording,
          text: result.words(on: request) + handler.words(onExportsRenamedBy: request, result))
        guard result.isFresh, result.status == .applied, let key = result.recording else { break }
        if request == .cancel { handler.report { $0.cancel(key) } }
        if case .rename = request, let recording = try handler.processor.recording(key) {
          handler.deliverAgain("its title", of: recording)
        }
      case .malformed(let result, let reason):
        handler.tell(
          .command, file: path.description, key: result.recording,
          text: result.words(malformed: reason))
      case .changed: handler.watcher.lookAgain(at: path)
      }
    }
    report { $0.isStirred = true }
  }

  /// Whether a recording had no sidecar before the one that came with a copy.
  private func hasFirstSidecar(_ recording: Recording, with path: InboxPath?) -> Bool {
    guard path != nil, recording.sidecar != nil,
      let files = try? processor.store.recordings.files(of: recording.key)
    else { return false }
    return files.count { $0.role == .sidecar } == 1
  }

  /// What a sidecar does not change that came when its recording was done or being processed.
  private func words(onLateSidecarOf recording: Recording) -> String {
    let isDone = recording.state == .uploaded
    guard isDone || recording.state == .processing else { return "" }
    let late =
      isDone
      ? "when the recording was done, and its exports stay as they are"
      : "when the recording was being processed, and its exports are made without it"
    // Else it is a copy of that one again.
    let keys = [recording.original, recording.key].compactMap(\.self)
    let names = keys.map(\.name).joined(separator: " ")
    let forget = processor.option.completing("\(command: .inboxForget) \(names)")
    return
      "; the sidecar came \(late): to do it again with it, "
      + processor.rules.bringingBack(recording.key, option: processor.option)
      + "move them away, type \(forget), and deliver both again"
  }

  /// What becomes of the exports of a recording that a device has given another title: nothing.
  private func words(
    onExportsRenamedBy request: RecordingCommand.Request, _ result: RecordingCommandResult
  ) -> String {
    guard case .rename = request, result.isFresh, result.status == .applied,
      let key = result.recording,
      let recording = try? processor.store.recordings.recording(key), recording.state == .uploaded
    else { return "" }
    return "; its exports, made before, keep their names and tags"
  }

  /// Runs an action on a file; after a failure that may pass, the file is examined again later, as
  /// if it had just come.
  private mutating func attempt(
    at path: InboxPath, _ work: (inout InboxEventHandler) throws(SpoolError) -> Void
  ) {
    status.forget(path)
    do throws(SpoolError) {
      try work(&self)
      again[path] = nil
    } catch {
      // The watch ends, and the next one takes it in.
      if error.cause == .cancelled { return }
      switch error.kind {
      case .link, .wrongKind, .special, .sparse, .tooLarge:
        refuse(path, error.why)
      default:
        status.wait(path, error.description)
        again[path] = engine.clock.elapsed + Self.pause
        tell(.trouble, file: path.description, text: error.description, seconds: Self.pause)
      }
    }
    owesMore()
  }

  /// Reports files that are ignored for their names, if there are more than before.
  mutating func overlook(_ files: IgnoredFiles) {
    status.overlook(files)
    if files.count > toldOverlookedCount, let oldest = files.files.first {
      let others = files.count - 1
      let seconds = Int(max(0, engine.clock.now - Double(oldest.since) / 1e9))
      let rest = seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
      tell(
        .refused, file: oldest.path.description,
        text: "never taken: \(oldest.reason), and it has not changed for \(rest)"
          + (others > 0 ? "; others with temporary or hidden names: \(others)" : ""))
    }
    toldOverlookedCount = files.count
  }

  /// Reports a file that stays where it is, and why.
  mutating func refuse(_ path: InboxPath, _ reason: String) {
    status.refuse(path, reason)
    tell(.refused, file: path.description, text: reason)
  }

  /// Reports the sidecar and the transcripts that came with an earlier, incomplete file of a
  /// recording's name: those that it has taken over, and those that it has not.
  private func tellQuarantinedCompanions(of recording: Recording, isNew: Bool) {
    let recordings = processor.store.recordings
    guard let files = try? recordings.files(of: recording.key) else { return }
    if isNew {
      for file in files where file.place == .quarantine && file.role != .recording {
        tell(
          file.role == .sidecar ? .sidecar : .transcript, recording,
          text: "\(file.location), which came with its cut-off version")
      }
    }
    let unused = (try? recordings.companionsQuarantined(besides: recording, files)) ?? []
    for file in unused {
      tell(
        .warning, recording,
        text: "\(file.location) is not used: it came with an earlier file of this name, "
          + "\(file.recording), which was not whole and is not its beginning; to do the recording "
          + "again with it, type "
          + processor.option.completing("\(command: .inboxForget) \(recording.key)")
          + ", and deliver both again")
    }
  }

  /// Reports doubts about a recording's completeness and problems of its sidecar.
  private func warn(of recording: Recording, isCopy: Bool = false) {
    let facts = StoredFacts(of: recording)
    for difference in facts.differences { tell(.warning, recording, text: difference) }
    if isCopy { return }
    if let doubt = facts.doubt { tell(.warning, recording, text: doubt) }
    for problem in facts.problems {
      tell(.warning, recording, text: "its sidecar: \(problem)")
    }
  }

  /// What the file's container declares; nil if it declares nothing readable.
  private func container(of path: InboxPath) -> ContainerFacts? {
    guard let folder = try? InboxFolder(at: processor.inbox), let file = try? folder.open(path)
    else { return nil }
    return engine.probe.facts(of: file.readingPath)
  }
}

/// A sidecar or a transcript that waits for a new recording of its name.
struct HeldCompanion {
  /// The version that was stable.
  let stamp: FileStamp
  let isTranscript: Bool
  /// When it is examined again, in seconds.
  let due: Double
}
