import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Plugins
import Proof
import Receipts
import Stages
import Store

extension Command {
  /// `spool verify`: checks receipts, bags and quotes.
  static let verify = Command(
    name: "verify", group: "Proof",
    summary: "Check receipts, bags and quotes, and the files that they vouch for.",
    discussion: """
      Checks the signature, the chain of stages, and every file beside the receipt: whatever is not \
      as it was signed is named. Only keys that are known here count: your own, your earlier ones, \
      and those that spool proof key import took; or those that --key names. In a folder and those below \
      it, every file called *.receipt.json is checked, and every BagIt bag: that its manifests name \
      all files of its payload and no others, and that all are as they say. A bag alone is no proof: \
      whoever changes a file can write its digest anew, but cannot sign the receipt. Of a quote, as \
      spool proof quote makes it, it is checked that the clip is part of the export whose root was signed.

      A file called *.delivered-NAME.json is a confirmation, as a deliver stage makes one: NAME is the \
      destination that gave the files back. Its signature is checked, that the receipt that it names \
      lies beside it, and all of its files that lie here as they lay there, such as in a copy that was \
      fetched back. One of an earlier version of a recording is told as such.

      A time stamp beside a receipt has to be of that receipt, by a certificate that leads to one of \
      --tsa-ca, or of those that lie beside it: these show only that the two belong together, so get \
      the authority's own from the authority.

      Where there is a store, its ledger is held against its signed head, and has to have every \
      receipt that the keys of this place signed; with --store, every receipt. A receipt that was \
      deleted, changed or slipped in is named: so is one that the ledger knows in the folder, and \
      that is there no more, unless spool proof ledger withdraw said that it was taken away on purpose. \
      Of a folder that was moved, receipts that did not come along are told, which may lie elsewhere.

      The exit code is 0 if all is as it was signed, and 4 if anything is not. What the recording \
      itself shows is not proven by any receipt.
      """,
    positionals: [Options.places],
    options: [
      Options.key, Options.authority, Options.isAlone, Options.keys, Options.store, Options.json,
      Options.quiet,
    ],
    examples: [
      Example("One recording's exports", "spool verify exports/note.receipt.json"),
      Example("A bag, and the receipt in it", "spool verify exports/note"),
      Example("Several folders", "spool verify 2025 2026"),
      Example("A quote", "spool verify note.quote-001204-001231 --key their.pub"),
      Example("A stranger's archive", "spool verify archive --key their.pub"),
    ],
    perform: CommandContext.verify)
}

extension Options {
  fileprivate static let places = Positional<[String]>.repeated(
    "RECEIPT", help: "Receipts, or folders whose receipts, bags and quotes are all checked.",
    completion: .files())
  fileprivate static let key = Option<[String]>.values(
    "key", "PUB", help: "Take only signatures by this public key, and not those known here.")
  fileprivate static let authority = Option<String?>.value(
    "tsa-ca", "FILE",
    help: "Check time stamps against these certificates, and not those beside them.",
    defaultText: "what lies beside each time stamp", completion: .files())
  fileprivate static let isAlone = Option<Bool>.flag(
    "no-ledger", help: "Leave the ledger in the store unlooked at.")
}

extension CommandContext {
  fileprivate func verify() throws(SpoolError) -> ExitCode {
    let keys = try keys()
    let certificates = try arguments[Options.authority].map { (path) throws(SpoolError) in
      try requireThere(path)
      return try TrustedCertificates(at: path)
    }
    var log = try log(keys)
    let wasBusy = log?.others.isEmpty == false
    let places = arguments[Options.places]
    let found = try subjects(of: places)
    let (paths, bags, quotes) = (found.receipts, found.bags, found.quotes)
    let confirmations = found.confirmations
    let stop = console.heed(SignalWatch.begin())
    let mayGoOn: @Sendable () -> Bool = { !stop.isRequested }
    func verification(_ log: LogView?) -> Verification {
      Verification(
        keys: keys, certificates: certificates, awaited: log?.awaited ?? [:],
        threadCount: CoreCount.online)
    }
    let meter = readingMeter()
    let checked = verification(log).check(
      receipts: paths, bags: bags, confirmations: confirmations, mayGoOn: mayGoOn,
      report: { progress in
        if progress.allBytes > 0 {
          meter.show(
            progress.bytes, of: progress.allBytes, files: progress.files, of: progress.allFiles)
        } else {
          meter.show(progress.receipts, of: progress.allReceipts, named: "receipt")
        }
      })
    meter.clear()
    guard let checked,
      let proven = verification(log).check(quotes: quotes, mayGoOn: mayGoOn)
    else { return .interrupted(by: stop.signalNumber ?? SIGINT) }
    var receipts = checked.receipts
    if let first = log {
      let settled = try settle(
        receipts, by: first, wasBusy: wasBusy,
        check: { verification($0).check($1, mayGoOn: mayGoOn) },
        reload: { () throws(SpoolError) in try self.log(keys) })
      guard let settled else { return .interrupted(by: stop.signalNumber ?? SIGINT) }
      (log, receipts) = settled
    }
    // What the ledger knows in a folder is missed there, or was withdrawn.
    if let place = found.emptyPlaces.first(where: { log?.isAnyWritten(below: $0) != true }) {
      throw SpoolError(
        "there is no receipt in \(place)",
        reason: "no file in it or below it is called *\(ReceiptSearch.ending), and it holds no bag "
          + "and no quote",
        advice: "name another folder; a proof stage in a pipeline writes receipts")
    }
    let withdrawals = log?.withdrawals(below: places, among: receipts) ?? []
    tell(receipts, checked.bags, proven, checked.confirmations)
    if !receipts.isEmpty || !withdrawals.isEmpty {
      let absent = log?.leftBehind(from: places, among: receipts) ?? []
      tell(of: log, receipts, withdrawals, absent: absent)
    }
    let isSound =
      (receipts.isEmpty || log?.findings.isEmpty != false)
      && (receipts + checked.bags + proven + checked.confirmations).allSatisfy(\.isSound)
    if !isSound, let other = log?.others.first {
      console.report(
        "note: \(Format.visible(other)) works in the store: what it is writing may not be whole yet"
      )
    }
    return isSound ? .done : .verificationFailed
  }

  /// Reports the result of the log lookup.
  private func tell(
    of log: LogView?, _ receipts: [VerificationResult], _ withdrawals: [Withdrawal],
    absent: [String]
  ) {
    if isJSON {
      if let line = Self.verifiedLine(of: log, receipts, withdrawals, absent: absent) {
        console.print(json: line)
      }
      return
    }
    let isAsked = !arguments[Options.isAlone]
    for line in verified(log, receipts, withdrawals, absent: absent, isAsked: isAsked) {
      console.print(line)
    }
  }

  /// The trusted keys.
  private func keys() throws(SpoolError) -> [VerifyingKey] {
    let named = arguments[Options.key]
    for path in named { try requireThere(path) }
    guard named.isEmpty else { return try named.map(VerifyingKey.init(at:)) }
    return try keyFolder().knownKeys()
  }

  /// What is to be checked, each once.
  private struct Subjects {
    var receipts: [String] = []
    var bags: [String] = []
    var quotes: [String] = []
    var confirmations: [String] = []
    /// The folders that hold none of these.
    var emptyPlaces: [String] = []
  }

  private func subjects(of places: [String]) throws(SpoolError) -> Subjects {
    var all = Subjects()
    var known: Set<ExactText> = []
    for place in places {
      let (receipts, bags, quotes, confirmations) = try subjects(at: place)
      if [receipts, bags, quotes, confirmations].allSatisfy(\.isEmpty) {
        all.emptyPlaces.append(place)
      }
      all.confirmations += confirmations.filter {
        known.insert(ExactText("confirmation \(ResolvedPath.ofFile($0))")).inserted
      }
      all.receipts += receipts.filter {
        known.insert(ExactText("receipt \(ResolvedPath.ofFile($0))")).inserted
      }
      all.bags += bags.filter { known.insert(ExactText("bag \(ResolvedPath.of($0))")).inserted }
      all.quotes += quotes.filter {
        known.insert(ExactText("quote \(ResolvedPath.of($0))")).inserted
      }
    }
    return all
  }

  /// The receipts, bags, quotes and confirmations at or below a path.
  private func subjects(at place: String) throws(SpoolError) -> (
    receipts: [String], bags: [String], quotes: [String], confirmations: [String]
  ) {
    let isFolder = (try? FileStamp(following: place))?.isFolder == true
    if !isFolder { try requireFile(place) }
    guard isFolder else {
      guard place == QuoteBundle.quoteName || place.hasSuffix("/" + QuoteBundle.quoteName) else {
        if ReceiptSearch.isConfirmation(place) { return ([], [], [], [place]) }
        try requireReceipt(at: place)
        return ([place], [], [], [])
      }
      let folder = place.dropLast(QuoteBundle.quoteName.utf8.count + 1)
      return ([], [], [folder.isEmpty ? (place.hasPrefix("/") ? "/" : ".") : String(folder)], [])
    }
    let search = ReceiptSearch(below: place)
    return (search.receipts, search.bags, search.quotes, search.confirmations)
  }

  /// Refuses another file than a receipt, such as the recording that one vouches for. What is called
  /// a receipt is checked, whatever became of it.
  private func requireReceipt(at path: String) throws(SpoolError) {
    guard !path.hasSuffix(ReceiptSearch.ending),
      let file = try? OpenFile(path, O_RDONLY | O_NONBLOCK), let bytes = try? file.bytes(512),
      bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) != UInt8(ascii: "{")
    else { return }
    let what = "\(ShellWords.visible(path: path)) is no receipt"
    let (folders, files) = Self.receiptPlaces(of: path)
    if let receipt = files.first(where: FilePath.exists) {
      throw .usage(
        what, reason: "the receipt that may vouch for it is \(ShellWords.visible(path: receipt))",
        advice: ShellWords.line(["spool", "verify", receipt]))
    }
    let places = files.map(ShellWords.visible(path:)).joined(separator: ", ")
    let other = folders.first { folder in
      FilePath.names(in: folder).contains { $0.hasSuffix(ReceiptSearch.ending) }
    }
    throw .usage(
      what, reason: "and none vouches for it at \(places)",
      advice: other.map { ShellWords.line(["spool", "verify", $0]) + " checks the others there" }
        ?? "spool verify FOLDER, with the folder that its receipt lies in; a proof stage writes one"
    )
  }

  /// Where the receipt of a file may lie: the file's folder and that for receipts in it, and the paths
  /// there by the file's name, from the longest stem on.
  private static func receiptPlaces(of path: String) -> (folders: [String], files: [String]) {
    let name = ReceiptSearch.name(of: path)
    let start = String(path.dropLast(name.count))
    var stems = [name]
    while let dot = stems[stems.count - 1].lastIndex(of: "."), dot > name.startIndex {
      stems.append(String(stems[stems.count - 1][..<dot]))
    }
    let folders = [start.isEmpty ? "." : start, start + Receipt.ownFolder]
    return (
      folders,
      [start, start + Receipt.ownFolder + "/"].flatMap { folder in
        (stems.count > 1 ? stems.dropFirst() : stems[...]).map {
          folder + $0 + ReceiptSearch.ending
        }
      }
    )
  }

  private func tell(
    _ receipts: [VerificationResult], _ bags: [VerificationResult],
    _ quotes: [VerificationResult], _ confirmations: [VerificationResult]
  ) {
    if isJSON {
      let lines =
        bags.map(\.bagLine) + receipts.map(\.receiptLine)
        + confirmations.map(\.confirmationLine) + quotes.map(\.quoteLine)
      for line in lines { console.print(json: line) }
      return
    }
    let lines =
      verified(bags: bags) + verified(quotes: quotes)
      + verified(receipts: receipts, certificates: arguments[Options.authority])
      + verified(confirmations: confirmations)
    for line in lines { console.print(line) }
    for advice in adviceOnKeys(
      receipts + quotes + confirmations, in: arguments[Options.places], keys: arguments[Options.key]
    ) {
      console.report("help:  \(Format.visible(advice))")
    }
    guard !isQuiet, receipts.contains(where: { !$0.plugins.isEmpty }) else { return }
    for line in changedPlugins(receipts, registry(beside: nil)) {
      console.report("note: \(Format.visible(line))")
    }
  }

  /// A line for each plugin that differs from the one in a receipt, which does not invalidate the
  /// receipt.
  private func changedPlugins(
    _ receipts: [VerificationResult], _ registry: PluginRegistry
  ) -> [String] {
    var made: [String: Set<String>] = [:]
    for receipt in receipts {
      for (name, version) in receipt.plugins { made[name, default: []].insert(version) }
    }
    return made.sorted { $0.key < $1.key }.flatMap { name, versions -> [String] in
      let found = registry.plugins.filter { $0.manifest.name == name }
      guard found.count == 1, let plugin = found.first else { return [] }
      let now = "\(plugin.manifest.version) \(plugin.digest().short)"
      return versions.sorted().filter { $0 != now }.map {
        "the plugin \(name) was \($0) when it worked on this, and is \(now) here: a run would make "
          + "it anew"
      }
    }
  }
}

/// Checks by the log.
extension CommandContext {
  private static let greatestCheckCount = 5
  /// Microseconds between two checks.
  private static let checkPause: UInt32 = 200_000

  /// Looks receipts up in the log, and adds the missing ones. While another process uses the store,
  /// a receipt may change between the two reads: repeats until nothing is wrong, no other process
  /// uses the store, or a limit is reached.
  /// - Parameters:
  ///   - receipts: the results of checking them individually.
  ///   - wasBusy: whether another process used the store before the search.
  ///   - check: checks receipts individually; nil if that was cancelled.
  ///   - reload: reads the log again.
  /// - Returns: nil if cancelled.
  private func settle(
    _ receipts: [VerificationResult], by first: LogView, wasBusy: Bool,
    check: (LogView, [String]) -> [VerificationResult]?,
    reload: () throws(SpoolError) -> LogView?
  ) throws(SpoolError) -> (log: LogView?, receipts: [VerificationResult])? {
    let places = arguments[Options.places]
    func judge(
      _ receipts: [VerificationResult], by log: LogView, beside sound: [VerificationResult] = []
    ) -> [VerificationResult] {
      let looked = log.look(for: receipts)
      // The first check keeps the order of the search.
      let ordered = sound.isEmpty ? looked : (sound + looked).sorted { $0.path < $1.path }
      return ordered + log.missing(below: places, among: ordered)
    }
    var log = first
    var judged = judge(receipts, by: log)
    // Only a check without concurrent work is final. A receipt that exists but was missed was
    // written between the two reads.
    var isBusy = wasBusy
    for _ in 1..<Self.greatestCheckCount where !judged.allSatisfy(\.isSound) {
      guard isBusy || judged.contains(where: Self.hasAppeared) else { break }
      usleep(Self.checkPause)
      isBusy = !log.others.isEmpty
      let sound = judged.filter(\.isSound)
      let wrong = judged.filter { !$0.isSound }.map(\.path)
      guard let again = check(log, wrong.filter(Self.isFile)) else { return nil }
      guard let fresh = try reload() else { break }
      log = fresh
      judged = judge(again, by: log, beside: sound)
    }
    // Receipts that appeared since are not judged.
    if isBusy { judged.removeAll(where: Self.hasAppeared) }
    return (log, judged)
  }

  private static func hasAppeared(_ receipt: VerificationResult) -> Bool {
    receipt.isMissing && isFile(receipt.path)
  }

  private static func isFile(_ path: String) -> Bool {
    (try? FileStamp(at: path))?.isRegularFile ?? false
  }

  /// The store's log; nil if there is none or the lookup is disabled.
  private func log(_ keys: [VerifyingKey]) throws(SpoolError) -> LogView? {
    if arguments[Options.isAlone] { return nil }
    let isNamed = namedStore != nil
    if isNamed { try requireStore() }
    // `--key` names the keys of receipts; heads are checked with the local keys.
    let folder = keyFolder()
    var own: VerifyingKey?
    var trouble: SpoolError?
    do throws(SpoolError) { own = try folder.existingVerifyingKey() } catch { trouble = error }
    let (known, earlier) = (try folder.knownKeys(), try folder.earlierKeys())
    let log = try LogView(
      at: storePath, keys: known + keys, own: earlier + (own.map { [$0] } ?? []), isNamed: isNamed)
    if trouble == nil, own == nil, let log, !log.signers.allSatisfy(earlier.contains) {
      trouble = SpoolError("the signing key is not in \(folder.path) any more", cause: .blocked)
    }
    if log != nil, let trouble { warn(of: trouble) }
    return log
  }

  /// A local key that cannot be used signs nothing; receipts that it signed are looked up all the
  /// same.
  private func warn(of trouble: SpoolError) {
    let reason = trouble.reason.map { ": \($0)" } ?? ""
    console.report(
      "note: " + Format.visible("\(trouble.message)\(reason)")
        + "; the ledger is held against the keys that its heads are signed with")
    if let advice = trouble.advice { console.report("help:  \(Format.visible(advice))") }
  }
}
