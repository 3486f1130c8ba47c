package import Platform
internal import Synchronization

/// Verifies receipts: signers, statements, and the files beside them.
package struct Verification: Sendable {
  /// The keys whose signatures count.
  package let keys: [VerifyingKey]
  /// Files read in parallel.
  package let threadCount: Int

  /// The trusted roots of time stamps; nil for those beside each.
  package let certificates: TrustedCertificates?

  /// The names of pending tokens, by the digest of the receipt: they are not reported as missing.
  package let awaited: [Digest: Set<String>]

  package init(
    keys: [VerifyingKey], certificates: TrustedCertificates? = nil,
    awaited: [Digest: Set<String>] = [:], threadCount: Int
  ) {
    self.keys = keys
    self.certificates = certificates
    self.awaited = awaited
    self.threadCount = max(1, threadCount)
  }

  package struct Progress: Hashable, Sendable {
    /// Receipts read so far.
    package var receipts = 0
    /// Receipts in total.
    package var allReceipts = 0
    /// Files read so far.
    package var files = 0
    /// Files in total; 0 until every receipt is read.
    package var allFiles = 0
    /// Bytes read so far.
    package var bytes = 0
    /// Bytes in total; 0 until every receipt is read.
    package var allBytes = 0
  }

  /// Verifies receipts, and reads every file that they name once. Blocks.
  /// - Parameters:
  /// - paths: the receipts.
  /// - mayGoOn: called before every receipt and every mebibyte; false stops.
  /// - report: called with the progress, by one thread at a time.
  /// - Returns: the results in the order of `paths`; nil if stopped.
  package func check(
    _ paths: [String], mayGoOn: @escaping @Sendable () -> Bool = { true },
    report: @escaping @Sendable (Progress) -> Void = { _ in }
  ) -> [VerificationResult]? {
    check(receipts: paths, bags: [], mayGoOn: mayGoOn, report: report)?.receipts
  }

  /// Verifies receipts and bags, and reads every file that they name once. Blocks.
  /// - Parameters:
  /// - paths: the receipts.
  /// - folders: the bags.
  /// - mayGoOn: called before every receipt and every mebibyte; false stops.
  /// - report: called with the progress, by one thread at a time.
  /// - Returns: the results in the given order; nil if stopped.
  package func check(
    receipts paths: [String], bags folders: [String],
    mayGoOn: @escaping @Sendable () -> Bool = { true },
    report: @escaping @Sendable (Progress) -> Void = { _ in }
  ) -> (receipts: [VerificationResult], bags: [VerificationResult])? {
    let progress = Shared(Progress())
    @Sendable func advance(_ change: (inout Progress) -> Void) {
      progress.update { progress in
        change(&progress)
        report(progress)
      }
    }
    advance { $0.allReceipts = paths.count }
    let (keys, certificates, awaited) = (keys, certificates, awaited)
    let checks = each(paths, mayGoOn) { path in
      defer { advance { $0.receipts += 1 } }
      return ReceiptCheck(path, keys: keys, certificates: certificates, awaited: awaited)
    }
    guard let checks, let bags = each(folders, mayGoOn, { BagCheck($0) }) else { return nil }
    // The lengths in the receipts suffice for ordering, without stat calls.
    var lengths: [SubjectFile: Int] = [:]
    for subject in checks.lazy.flatMap(\.subjects) {
      lengths[subject.file] = subject.byteCount ?? 0
    }
    for subject in bags.lazy.flatMap(\.subjects) where lengths[subject.file] == nil {
      lengths[subject.file] = subject.file.byteCount ?? 0
    }
    // The longest first, so that no thread is left with it at the end.
    let files = lengths.map { (file: $0.key, byteCount: $0.value) }
      .sorted { $0.byteCount > $1.byteCount }
    advance {
      $0.allFiles = files.count
      $0.allBytes = files.reduce(0) { $0 &+ max(0, $1.byteCount) }
    }
    let contents = each(files.map(\.file), mayGoOn) { file in
      var isLast = false
      let content = file.read { count in
        // One report for a small file.
        isLast = count < 1 << 20
        advance {
          $0.bytes += count
          if isLast { $0.files += 1 }
        }
        return mayGoOn()
      }
      if !isLast { advance { $0.files += 1 } }
      return content
    }
    guard let contents, mayGoOn() else { return nil }
    let found = Dictionary(uniqueKeysWithValues: zip(files.map(\.file), contents))
    return (checks.map { $0.verdict(found) }, bags.map { $0.verdict(found) })
  }

  /// Maps items on several threads; nil if stopped.
  func each<Item: Sendable, Outcome: Sendable>(
    _ items: [Item], _ mayGoOn: @escaping @Sendable () -> Bool,
    _ work: @escaping @Sendable (Item) -> Outcome
  ) -> [Outcome]? {
    let state = Shared((next: 0, outcomes: [Outcome?](repeating: nil, count: items.count)))
    @Sendable func takeIndex() -> Int? {
      state.update { state in
        guard state.next < state.outcomes.count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
    }
    let threads = (0..<min(threadCount, items.count)).map { number in
      BackgroundThread(name: "verify-\(number + 1)") {
        while mayGoOn(), let index = takeIndex() {
          let outcome = work(items[index])
          state.update { $0.outcomes[index] = outcome }
        }
      }
    }
    threads.forEach { $0.join() }
    let outcomes = state.update { $0.outcomes.compactMap { $0 } }
    return outcomes.count == items.count ? outcomes : nil
  }
}

/// State that several threads change.
private final class Shared<State: Sendable>: Sendable {
  private let state: Mutex<State>

  init(_ state: State) { self.state = Mutex(state) }

  func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    state.withLock { change(&$0) }
  }
}
