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

  /// The results of a check, each in the given order.
  package typealias Checked = (
    receipts: [VerificationResult], bags: [VerificationResult], confirmations: [VerificationResult]
  )

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

  /// Verifies receipts, bags and confirmations, and reads every file that they name once. Blocks.
  /// - Parameters:
  /// - paths: the receipts.
  /// - folders: the bags.
  /// - confirmations: their paths.
  /// - mayGoOn: called before every receipt and every mebibyte; false stops.
  /// - report: called with the progress, by one thread at a time.
  /// - Returns: the results in the given order; nil if stopped.
  package func check(
    receipts paths: [String], bags folders: [String], confirmations: [String] = [],
    mayGoOn: @escaping @Sendable () -> Bool = { true },
    report: @escaping @Sendable (Progress) -> Void = { _ in }
  ) -> Checked? {
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
    guard let checks, let bags = each(folders, mayGoOn, { BagCheck($0) }),
      let confirmed = each(confirmations, mayGoOn, { ConfirmationCheck($0, keys: keys) })
    else { return nil }
    // The lengths in the receipts suffice for ordering, without stat calls.
    var lengths: [SubjectFile: Int] = [:]
    for subject in checks.flatMap(\.subjects) + confirmed.flatMap(\.subjects) {
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
    return (
      checks.map { $0.verdict(found) }, bags.map { $0.verdict(found) },
      confirmed.map { $0.verdict(found) }
    )
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

/// Checks one bag: the faults of its tag files, and the files to be verified.
struct BagCheck: Sendable {
  struct Subject: Sendable {
    let file: SubjectFile
    /// Its path from the bag's folder.
    let path: String
    let digest: String
    /// The manifest that names it.
    let manifest: String
    let isPayload: Bool
  }

  private(set) var subjects: [Subject] = []
  private var result: VerificationResult
  private let folder: String
  /// The payload's size by bag-info.txt; nil if it has none.
  private var oxum: (bytes: Int, files: Int)?
  /// Whether bag-info.txt names Spool as the writer.
  private var isOurs = false
  /// The paths still to be fetched, as bytes.
  private var awaited: Set<[UInt8]> = []

  /// Reads the tag files of the bag in a folder, and lists its payload.
  init(_ folder: String) {
    self.folder = folder
    result = VerificationResult(path: folder)
    // A link's target lies outside the bag and may change.
    if FolderWalk.isLink("\(folder)/\(Bag.payloadFolder)") {
      result.add(Bag.payloadFolder, "it is a link, which is not followed")
      return
    }
    let isEarlier = checkDeclaration()
    let lists = BagLists(folder)
    result.problems += lists.problems
    result.notes += lists.notes
    awaited = lists.awaited
    checkInformation()
    if !lists.hasTagManifest {
      // Optional by RFC 8493, 2.2.1; Spool always writes it.
      if isOurs {
        result.add(Bag.tagManifestName, SubjectFile.Trouble.missing.reason)
      } else {
        result.note(
          Bag.tagManifestName, "there is none: nothing tells whether the bag's own files changed")
      }
    }
    if lists.payload.isEmpty {
      // Unlisted files are not counted either.
      oxum = nil
    } else {
      checkPayload(lists.payload, mayBeSplit: isEarlier)
    }
    for list in lists.all { add(list) }
  }

  /// The result, once the files were read.
  func verdict(_ found: [SubjectFile: SubjectFile.Content]) -> VerificationResult {
    var result = result
    var told = Set(result.problems)
    func add(_ name: String, _ reason: String) {
      // Several manifests may have the same fault of one file.
      guard told.insert(Deviation(name, reason)).inserted else { return }
      result.add(name, reason)
    }
    var agreeing: [[UInt8]: String] = [:]
    var counted: Set<[UInt8]> = []
    var strays: [Subject] = []
    for subject in subjects {
      let path = Array(subject.path.utf8)
      switch found[subject.file] {
      case .read(let digest, let byteCount):
        if subject.isPayload, counted.insert(path).inserted { result.byteCount += byteCount }
        if digest == subject.digest {
          agreeing[path] = subject.manifest
        } else {
          strays.append(subject)
        }
      case .trouble(SubjectFile.Trouble.missing.reason) where awaited.contains(path):
        add(subject.path, "it is missing: \(Bag.fetchName) says where it is to be fetched from")
      case .trouble(let reason): add(subject.path, reason)
      case nil: add(subject.path, "it was not read")
      }
    }
    for subject in strays {
      if let other = agreeing[Array(subject.path.utf8)] {
        add(
          subject.manifest,
          "its digest of \(subject.path) is another, and that in \(other) is right")
      } else if subject.isPayload {
        add(subject.path, "it holds other bytes than its manifest says")
      } else {
        // Nothing else covers either.
        add(subject.path, "it holds other bytes than \(subject.manifest) says: one of them changed")
      }
    }
    // Of those that are there.
    if let oxum, oxum != (result.byteCount, counted.count) {
      add(
        Bag.informationName,
        "Payload-Oxum says \(oxum.bytes).\(oxum.files), and the payload has "
          + "\(result.byteCount).\(counted.count)")
    }
    return result
  }

  private mutating func add(_ list: BagLists.List) {
    for entry in list.entries {
      // The payload's names are those in its receipts, so that each file is read once.
      let file =
        list.isPayload
        ? SubjectFile(
          name: String(entry.path.dropFirst(Bag.payloadFolder.count + 1)),
          in: "\(folder)/\(Bag.payloadFolder)/", by: list.algorithm)
        : SubjectFile(name: entry.path, in: folder, by: list.algorithm)
      guard let file else { continue }
      subjects.append(
        Subject(
          file: file, path: entry.path, digest: entry.digest, manifest: list.name,
          isPayload: list.isPayload))
    }
  }

  /// Whether it declares the previous version, whose manifests may each list a part of the payload;
  /// other differences do not matter here.
  private mutating func checkDeclaration() -> Bool {
    let bytes: [UInt8]
    do throws(SubjectFile.Trouble) {
      bytes = try SubjectFile(name: Bag.declarationName, in: folder)?.bytes(limit: 4 << 10) ?? []
    } catch {
      result.add(Bag.declarationName, error.reason)
      return false
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard lines.count == 2,
      ["BagIt-Version: 1.0", "BagIt-Version: 0.97"].contains(lines[0])
    else {
      result.add(Bag.declarationName, "it does not say that this is a bag of BagIt 1.0")
      return false
    }
    if lines[1] != "Tag-File-Character-Encoding: UTF-8" {
      result.add(Bag.declarationName, "its tag files are not in UTF-8")
    }
    return lines[0].hasSuffix("0.97")
  }

  private mutating func checkInformation() {
    guard let file = SubjectFile(name: Bag.informationName, in: folder),
      let bytes = try? file.bytes(limit: 1 << 20)
    else { return }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    isOurs = lines.contains { $0.hasPrefix("Bag-Software-Agent: spool ") }
    for line in lines where line.hasPrefix("Payload-Oxum:") {
      let numbers = line.dropFirst(13).filter { $0 != " " && $0 != "\t" }.split(separator: ".")
      guard numbers.count == 2, let bytes = Int(numbers[0]), let files = Int(numbers[1]) else {
        result.add(Bag.informationName, "its Payload-Oxum is no two numbers")
        continue
      }
      oxum = (bytes, files)
    }
  }

  /// Reports unlisted payload files.
  /// - Parameter mayBeSplit: whether one manifest per file suffices.
  private mutating func checkPayload(_ manifests: [BagLists.List], mayBeSplit: Bool) {
    let listed = manifests.dropFirst().reduce(into: manifests[0].paths) { $0.formUnion($1.paths) }
    result.fileCount = listed.count
    for (path, isFile) in FolderWalk.entries(of: "\(folder)/\(Bag.payloadFolder)") {
      let path = "\(Bag.payloadFolder)/\(path)"
      if !listed.contains(Array(path.utf8)) {
        result.add(
          path, isFile ? "no manifest names it" : "it is no file, and no manifest names it")
      }
    }
    if mayBeSplit { return }
    for manifest in manifests where manifest.paths.count < listed.count {
      for path in listed.subtracting(manifest.paths).sorted(by: { $0.lexicographicallyPrecedes($1) }
      ) {
        result.add(
          manifest.name, "it does not name \(String(decoding: path, as: UTF8.self))")
      }
    }
  }
}
