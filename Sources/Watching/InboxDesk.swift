internal import AudioModel
internal import Hashing
internal import Inbox
internal import Media
internal import PipelineModel
internal import Threading

/// One inbox at work: its watcher tells what has arrived, and its desk, a thread of its own, takes it
/// in and gives it back. What the two do to files and to the ledger is custody's.
final class InboxDesk: Sendable {
  let settings: InboxSettings
  /// Where its results go.
  let folders: ResultFolders

  private enum Errand: Sendable {
    case arrival(Arrival)
    /// Custody's debts may have grown.
    case settleUp
    case takeNoMore
    case close
  }

  private let mail = Mailbox<Errand>()
  /// Nobody else watches this inbox as long as it is held.
  private let claim: any WorkClaim
  private let watcher: InboxWatcher
  private let thread: BackgroundThread

  /// Begins to watch, once what an earlier process left is put right.
  /// - Parameter stirred: called when something may be there to be processed.
  /// - Throws: where another process watches the inbox.
  init(
    _ settings: InboxSettings, engine: WatchEngine,
    report: @escaping @Sendable (Watch.Message) -> Void
  ) throws(StageError) {
    self.settings = settings
    let folders: ResultFolders
    do throws(StoreError) {
      folders = try ResultFolders(of: settings, memory: engine.store, witness: engine.witness)
    } catch {
      throw StageError(error)
    }
    self.folders = folders
    claim = try Self.claim(settings, engine)
    let custody = Custody(
      inbox: settings.path,
      outbox: CustodyOutbox(
        settings.outbox, others: settings.otherOutboxes, pipelines: settings.otherPipelines),
      pipeline: settings.pipelineName, rules: settings.custody, store: engine.store,
      option: engine.option,
      isInPlace: { folders.isReachable($0) })
    do throws(CustodyError) { try custody.claimInbox() } catch {
      // An inbox that is away is claimed when it comes.
      if error.kind != .missing { throw StageError(watchedAlready: settings.path, error) }
    }
    // With the claim: nobody else serves it meanwhile. One that is away says nothing.
    if folders.inboxAbsence == nil {
      try ServingStore.claim(
        settings.path, for: engine.store, at: engine.storePath, isAdopting: settings.isAdopting)
    }
    let mail = mail
    var rules = settings.rules
    rules.takesTranscripts = settings.pipeline.transcriptInput != nil
    let watcher = InboxWatcher(
      path: settings.path, rules: rules, isKnown: { custody.isKnown($0, $1) },
      absence: { folders.inboxAbsence }, examine: { Self.verdict(on: $0) },
      measure: { Self.milliseconds(of: $0) },
      report: { mail.send(.arrival($0)) })
    self.watcher = watcher
    thread = BackgroundThread(name: "desk") { [claim] in
      var clerk = InboxClerk(
        custody: custody, watcher: watcher, folders: folders, engine: engine,
        publish: { try? claim.note($0) },
        report: report)
      var isTaking = true
      clerk.begin()
      while true {
        for errand in mail.receive(atMost: clerk.wait) {
          switch errand {
          case .arrival(let arrival): if isTaking { clerk.take(arrival) }
          case .settleUp: clerk.owesMore()
          case .takeNoMore: isTaking = false
          case .close:
            clerk.settleUp()
            return
          }
        }
        clerk.turn()
      }
    }
  }

  /// Pays custody's debts soon.
  func settleUp() { mail.send(.settleUp) }

  /// Asks of every file in the inbox anew whether it was dealt with.
  func recheck() { watcher.recheck() }

  /// Takes nothing in any more.
  func beginToClose() { mail.send(.takeNoMore) }

  /// Ends both threads, and gives the inbox back. Blocks for as long as taking in one file takes.
  func close() {
    mail.send(.close)
    thread.join()
    watcher.stop()
    claim.end()
  }

  /// Leaves both threads to the end of the program: one of them may wait for a disk that does not
  /// answer.
  func abandon() {
    mail.send(.close)
    thread.letGo()
  }

  private static func verdict(on file: borrowing ArrivedFile) -> ContainerVerdict {
    switch ContainerExtent(ofFileAt: file.readingPath) {
    case .whole: .whole
    case .incomplete(let what): .incomplete(what)
    case .unended(let what): .unended(what)
    case .unreadable(let why): .undecided(why)
    }
  }

  private static func milliseconds(of file: borrowing ArrivedFile) -> Int? {
    guard let found = try? MediaProbe.describe(file.readingPath) else { return nil }
    return ContainerFacts(tags: [:], duration: found.duration?.value).milliseconds
  }

  private static func claim(
    _ settings: InboxSettings, _ engine: WatchEngine
  ) throws(StageError) -> any WorkClaim {
    var hasher = SHA256()
    hasher.update("spool-inbox-1\n\(settings.path)\n")
    let answer: ClaimAnswer
    do throws(StoreError) {
      answer = try engine.store.claim(
        hasher.finalize(), summary: InboxReport.claimSummary(ofInbox: settings.path))
    } catch {
      throw StageError(error)
    }
    switch answer {
    case .granted(let claim): return claim
    case .taken(let owner):
      let number = owner.processNumber
      let who = number > 0 ? "process \(number)" : "another process"
      throw StageError(
        "the inbox \(settings.path) is watched already",
        reason: "\(who) watches it\(owner.isStopped ? ", and is stopped" : "")",
        advice: number > 0 ? "kill \(number) ends that watch" : "end that watch first",
        cause: .environment)
    }
  }
}

extension StageError {
  /// Somebody else has the inbox's folder, perhaps for another store.
  fileprivate init(watchedAlready path: String, _ error: CustodyError) {
    self.init(
      "the inbox \(path) is watched already", reason: error.reason, advice: error.advice,
      cause: .environment)
  }
}
