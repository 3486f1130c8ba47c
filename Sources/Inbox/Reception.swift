internal import JSONText
internal import Sidecars

/// Takes what a watch sees through settling to the news of an inbox. It belongs to one thread.
struct Reception: ~Copyable {
  private var watch: FolderWatch
  private var settling: Settling
  private let isKnown: @Sendable (InboxPath, FileStamp) -> Bool
  private let examine: @Sendable (borrowing ArrivedFile) -> ContainerVerdict
  private let measure: @Sendable (borrowing ArrivedFile) -> Int?

  /// Makes a reception that has not looked yet.
  init(
    watch: consuming FolderWatch, rules: SettlingRules,
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool,
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int?
  ) {
    self.watch = watch
    settling = Settling(rules: rules)
    self.isKnown = isKnown
    self.examine = examine
    self.measure = measure
  }

  /// Waits for something to do, for at most so long, does it as long as it may, and hands on the
  /// news.
  mutating func turn(
    atMost limit: Duration, while mayGoOn: () -> Bool = { true }, report: (Arrival) -> Void
  ) {
    let now = Moment.now
    let wait = settling.nextLook.map { max(.zero, $0 - now) } ?? limit
    for event in watch.wait(atMost: min(limit, wait)) { take(event, report) }
    for path in settling.due(at: Moment.now) { look(at: path, report) }
    for step in settling.steps(at: Moment.now) {
      guard mayGoOn() else { return }
      take(step, report)
    }
  }

  /// Makes it look through the whole inbox in its next turn.
  mutating func rescan() { watch.schedule.ask() }

  /// Takes every file as one that has just come that nobody has dealt with.
  mutating func recheck() {
    for (path, stamp) in watch.known.files
    where stamp.kind == .file && !settling.contains(path) && !isKnown(path, stamp) {
      settling.note(stamp, at: path, now: Moment.now)
    }
  }

  /// Takes a file as one that has just come.
  mutating func lookAgain(at path: InboxPath, report: (Arrival) -> Void) {
    settling.forget(path)
    if case .there(let stamp) = watch.look(at: path) { take(.found(path, stamp), report) }
  }

  private mutating func take(_ event: InboxEvent, _ report: (Arrival) -> Void) {
    switch event {
    case .found(let path, let stamp):
      if stamp.kind == .file {
        if !isKnown(path, stamp) { settling.note(stamp, at: path, now: Moment.now) }
      } else {
        settling.forget(path)
        do throws(InboxError) {
          try InboxFolder.refuse(stamp.kind, path)
        } catch {
          report(.refused(path, error))
        }
      }
    case .gone(let path):
      settling.forget(path)
      report(.gone(path))
    case .written(let path): settling.noteWriter(isAtWork: true, at: path)
    case .closed(let path): settling.noteWriter(isAtWork: false, at: path)
    case .writersLost: settling.forgetWriters()
    case .overlooked(let files): report(.overlooked(files))
    case .inboxLost(let error): report(.inboxLost(error))
    case .inboxBack: report(.inboxBack)
    case .trouble(let error): report(.trouble(error))
    }
  }

  private mutating func look(at path: InboxPath, _ report: (Arrival) -> Void) {
    switch watch.look(at: path) {
    case .there(let stamp) where stamp.kind == .file:
      settling.note(stamp, at: path, now: Moment.now)
    case .there(let stamp): take(.found(path, stamp), report)
    case .gone: take(.gone(path), report)
    case .unreachable: break
    }
  }

  private mutating func take(_ step: Settling.Step, _ report: (Arrival) -> Void) {
    switch step {
    case .examine(let path): examineFile(at: path, report)
    case .measure(let path): measureFile(at: path, report)
    case .settled(let recording): report(.settled(recording))
    case .hopeless(let recording, let reason): report(.hopeless(recording, reason: reason))
    case .ignored(let path): report(.ignored(path))
    case .sidecar(let path, let stamp): report(.sidecar(path, stamp))
    case .transcript(let path, let stamp): report(.transcript(path, stamp))
    case .command(let path, let stamp): report(.command(path, stamp))
    case .unsettled(let path, let reason): report(.unsettled(path, reason))
    case .waiting(let path, let reason): report(.waiting(path, reason))
    }
  }

  private func verdict(on file: borrowing ArrivedFile) throws(InboxError) -> ContainerVerdict {
    let isNamed = file.path.name.map { SoundSign.isCarried(by: $0) } ?? false
    if !isNamed, !SoundSign.isCarried(by: try file.head(count: 16)) { return .foreign }
    return file.stamp.byteCount == 0 ? .empty : examine(file)
  }

  private mutating func examineFile(at path: InboxPath, _ report: (Arrival) -> Void) {
    do throws(InboxError) {
      guard let file = try watch.open(path) else { return }
      let writers = file.writers()
      var shown = Examination.beingWritten
      var length: SettlingEntry.Length?
      var words: SettlingEntry.Words?
      if writers != .some, !isUnderDownload(path) {
        let verdict: ContainerVerdict
        switch settling.role(of: path) {
        case .sidecar:
          let sidecar = try Sidecar(reading: file)
          let problem = sidecar.problems.first?.description ?? "it is no sidecar"
          verdict =
            sidecar.isReadable
            ? .whole : sidecar.isCutOff ? .incomplete(problem) : .unreadable(problem)
          length = sidecar.milliseconds.map { .known($0) } ?? .unknown
          words = try self.words(of: sidecar, file)
        case .transcript:
          verdict = SoundSign.isCarried(by: try file.head(count: 16)) ? .foreign : .whole
        case .recording, .marker, .command, nil: verdict = try self.verdict(on: file)
        }
        shown = .examined(
          verdict, canSeeWriters: writers == .none, nameCount: file.nameCount)
      }
      // A verdict on bytes that have changed meanwhile is none: the next look begins anew.
      guard try file.currentStamp() == file.stamp else { return }
      settling.note(shown, of: file.stamp, at: path, now: Moment.now)
      if let length { settling.note(length, of: file.stamp, at: path) }
      settling.note(words, of: file.stamp, at: path)
      goOn(with: path, report)
    } catch {
      fail(path, error, report)
    }
  }

  /// What a JSON file tells of transcripts. Recognisers write more than a sidecar may have.
  private func words(
    of sidecar: Sidecar, _ file: borrowing ArrivedFile
  ) throws(InboxError) -> SettlingEntry.Words? {
    guard settling.rules.takesTranscripts, !sidecar.isCutOff else { return nil }
    if try file.isTranscript() { return .itself }
    guard case .text(let text)? = sidecar.written["transcript"] else { return nil }
    return FileName(text).map { .file($0) }
  }

  /// Whether a program's file beside it says that it is not done with it.
  private mutating func isUnderDownload(_ path: InboxPath) -> Bool {
    guard let name = path.name else { return false }
    return watch.names.controlFiles(of: name).contains { control in
      if case .there = watch.look(at: path.folder.appending(control)) { true } else { false }
    }
  }

  private mutating func measureFile(at path: InboxPath, _ report: (Arrival) -> Void) {
    do throws(InboxError) {
      guard let file = try watch.open(path) else { return }
      let length = measure(file)
      settling.note(length.map { .known($0) } ?? .unknown, of: file.stamp, at: path)
      goOn(with: path, report)
    } catch {
      fail(path, error, report)
    }
  }

  /// What proved to be whole has waited long enough.
  private mutating func goOn(with path: InboxPath, _ report: (Arrival) -> Void) {
    for step in settling.steps(for: path, at: Moment.now) where !step.isExamination {
      take(step, report)
    }
  }

  private mutating func fail(
    _ path: InboxPath, _ error: InboxError, _ report: (Arrival) -> Void
  ) {
    switch error.kind {
    // The next look will tell.
    case .missing, .changed: break
    // The system may get over it, such as over having too many files open.
    case .system:
      guard let stamp = settling.stamp(of: path) else { return }
      settling.note(
        .examined(.undecided(error.reason), canSeeWriters: true, nameCount: 1), of: stamp,
        at: path, now: Moment.now)
    case .link, .wrongKind, .special, .sparse, .tooLarge, .denied:
      settling.forget(path)
      report(.refused(path, error))
    }
  }
}

extension Settling.Step {
  /// Whether it asks to open a file.
  fileprivate var isExamination: Bool {
    if case .examine = self { return true }
    return false
  }
}
