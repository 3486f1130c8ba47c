import Platform

/// Checks one receipt: its own faults, and the files to be verified.
struct ReceiptCheck: Sendable {
  struct Subject: Sendable {
    let file: SubjectFile
    let digest: String
    let byteCount: Int?
  }

  private(set) var subjects: [Subject] = []
  private var result: VerificationResult

  /// Reads the receipt at a path, and verifies its signature, chain and time stamps.
  /// - Parameters:
  /// - certificates: the trusted roots of time stamps; nil for those beside them.
  /// - awaited: the names of pending tokens, by the digest of the receipt.
  init(
    _ path: String, keys: [VerifyingKey], certificates: TrustedCertificates?,
    awaited: [Digest: Set<String>] = [:]
  ) {
    result = VerificationResult(path: path)
    let name = ReceiptSearch.name(of: path)
    let folder = ReceiptSearch.folder(of: path)
    let envelope: Envelope
    let stamps: TimeStampCheck
    let digest: Digest
    do throws(SpoolError) {
      let bytes = try SubjectFile.readWhole(path, limit: Envelope.maximumByteCount)
      digest = SHA256.digest(of: bytes)
      result.leaf = MerkleTree.leaf(bytes)
      stamps = TimeStampCheck(
        of: name, in: folder.isEmpty ? "." : folder, digest: digest, certificates: certificates)
      result.timeStamps = stamps.verified
      result.problems += stamps.problems
      envelope = try Envelope(bytes)
    } catch {
      result.add(name, error.reason ?? error.message, .receipt)
      return
    }
    guard let statement = result.statement(in: envelope, called: name, keys) else { return }
    checkStatement(statement, name, path)
    let awaited = awaited[digest] ?? []
    for (token, problem) in stamps.missing(of: name, from: statement.authorities) {
      if awaited.contains(token) {
        result.awaitedStamps.append(token)
      } else {
        result.add(token, problem, .timeStamp)
      }
    }
  }

  /// The result, once the files were read.
  func verdict(_ found: [SubjectFile: SubjectFile.Content]) -> VerificationResult {
    var result = result
    for subject in subjects {
      let name = subject.file.name
      switch found[subject.file] {
      case .read(let digest, let byteCount):
        result.byteCount += byteCount
        if let expected = subject.byteCount, expected != byteCount {
          result.add(name, "it has \(byteCount) bytes, and \(expected) were signed", .file)
        } else if digest != subject.digest {
          result.add(name, "it holds other bytes than those that were signed", .file)
        }
      case .trouble(let reason): result.add(name, reason, .file)
      case nil: result.add(name, "it was not read", .file)
      }
    }
    return result
  }

  /// The plugins among the libraries of all stages.
  private static func plugins(in predicate: JSONValue) -> [String: String] {
    var plugins: [String: String] = [:]
    for stage in predicate["stages"]?.list ?? [] {
      guard case .object(let libraries)? = stage["libraries"] else { continue }
      for (name, version) in libraries where name.hasPrefix("plugin ") {
        plugins[String(name.dropFirst(7))] = version.text
      }
    }
    return plugins
  }

  private mutating func checkStatement(_ statement: JSONValue, _ name: String, _ path: String) {
    let folder = ReceiptSearch.base(of: path, statement)
    guard statement["_type"]?.text == Receipt.statementType,
      statement["predicateType"]?.text == Receipt.predicateType,
      let predicate = statement["predicate"], let subjects = statement["subject"]?.list,
      !subjects.isEmpty
    else {
      result.add(name, "it is no statement of the type \(Receipt.predicateType)", .statement)
      return
    }
    if let flaw = ReceiptForm.frame.flaw(in: statement) {
      result.add(name, "its \(flaw.path) \(flaw.reason)", .statement)
    }
    result.run = predicate["origin"]?["run"]?["id"]?.text
    result.sources = (predicate["origin"]?["sources"]?.list ?? []).compactMap { $0["name"]?.text }
    result.stageCount = predicate["stages"]?.list?.count ?? 0
    result.plugins = Self.plugins(in: predicate)
    result.fileCount = subjects.count
    let links = Self.brokenLinks(in: predicate)
    // A broken link is reported once.
    result.problems +=
      links
      + Self.unknownInputs(in: predicate).filter { stranger in
        !links.contains { $0.name == stranger.name }
      } + Self.strays(among: subjects, of: predicate)
    if let stated = statement.statedName {
      guard isInPlace(path, stated) else { return }
    } else {
      checkName(name, subjects)
    }
    for subject in subjects {
      guard let file = subject["name"]?.text, let digest = subject["digest"]?["sha256"]?.text
      else {
        result.add(name, "it vouches for a file without a name or a digest", .statement)
        continue
      }
      guard let found = SubjectFile(name: file, in: folder.isEmpty ? "." : folder) else {
        result.add(file, "its name leads out of the receipt's folder; it was not looked at", .file)
        continue
      }
      self.subjects.append(
        Subject(
          file: found, digest: digest, byteCount: subject["annotations"]?["byteCount"]?.integer))
    }
  }

  /// Compares a receipt's place with the one that it states: elsewhere, its files cannot be found.
  private mutating func isInPlace(_ path: String, _ stated: String) -> Bool {
    let (name, folder) = (ReceiptSearch.name(of: path), ReceiptSearch.folder(of: path))
    guard ReceiptSearch.name(of: stated) == name else {
      result.add(
        name,
        "it is the receipt \(stated), as it says itself: it was renamed, or put in the place of another",
        .receipt)
      return false
    }
    let own = ReceiptSearch.folder(of: stated)
    guard own.isEmpty || own == Receipt.ownFolder + "/" else {
      result.add(name, "it states a place that no receipt has: \(stated)", .statement)
      return false
    }
    guard !own.isEmpty else { return true }
    // Also where it is named from within its folder.
    let place = try? FilePath.resolved(folder.isEmpty ? "." : folder)
    if place?.pathNames.last == Receipt.ownFolder { return true }
    result.add(
      name,
      "it was moved out of the folder \(own.dropLast()), beside which its files lie: move it back",
      .receipt)
    return false
  }

  /// Compares a receipt's name with that of its list: a swapped receipt covers other files than its
  /// name says.
  private mutating func checkName(_ name: String, _ subjects: [JSONValue]) {
    let lists = subjects.filter { $0["annotations"]?["step"] == nil }
      .compactMap { $0["name"]?.text }.filter { $0.hasSuffix(ChecksumList.ending) }
    let owners = lists.map { String($0.dropLast(ChecksumList.ending.utf8.count)) }
    guard let owner = owners.first, !owners.contains(where: { $0 + ReceiptSearch.ending == name })
    else { return }
    result.add(
      name,
      "it is the receipt \(owner)\(ReceiptSearch.ending), as the list that it vouches for says: it was "
        + "renamed, or put in the place of another", .receipt)
  }
}

/// Removing, adding or changing a stage breaks the hash chain there. Stages take only what the
/// statement gives before: removing a stage and chaining the rest again leaves inputs without a
/// source.
extension ReceiptCheck {
  /// A stage's name in messages.
  private static func name(of stage: JSONValue, at index: Int) -> String {
    stage["id"]?.text.map { "the stage \($0)" } ?? "stage \(index + 1)"
  }

  /// All statements of a predicate that do not follow from the one before: stages, or `the end`.
  private static func brokenLinks(in predicate: JSONValue) -> [Deviation] {
    guard let origin = predicate["origin"], let stages = predicate["stages"]?.list else {
      return [Deviation("the statement", "it has no origin or no stages", .chain)]
    }
    var breaks: [Deviation] = []
    var before = "the origin"
    var previous = origin.chainDigest.hex
    for (index, stage) in stages.enumerated() {
      let name = name(of: stage, at: index)
      if stage["previous"]?.text != previous {
        breaks.append(
          Deviation(name, "it does not follow from \(before) as that is stated", .chain))
      }
      previous = stage.chainDigest.hex
      before = name
    }
    if predicate["chain"]?.text != previous {
      breaks.append(
        Deviation("the end", "the chain does not end with \(before) as it is stated", .chain))
    }
    return breaks
  }

  /// All stages with unknown inputs, duplicates and malformed stages.
  /// - Parameter predicate: its form was checked, except for the stages.
  private static func unknownInputs(in predicate: JSONValue) -> [Deviation] {
    var breaks: [Deviation] = []
    var names: Set<String> = []
    var given = Set(
      (predicate["origin"]?["sources"]?.list ?? []).flatMap { source in
        [source["digest"]?["sha256"]?.text, source["sidecar"]?["digest"]?["sha256"]?.text]
          .compactMap { $0 }
      })
    for (index, stage) in (predicate["stages"]?.list ?? []).enumerated() {
      let name = Self.name(of: stage, at: index)
      func add(_ reason: String) { breaks.append(Deviation(name, reason, .chain)) }
      if let flaw = ReceiptForm.stage.flaw(in: stage) { add("its \(flaw.path) \(flaw.reason)") }
      if let id = stage["id"]?.text, !names.insert(id).inserted { add("it is there twice") }
      for (port, identity) in members(of: stage["inputs"]) {
        guard let identity = identity.text, !given.contains(identity) else { continue }
        add("what it took at \(port) was given by no stage before it, and is no source")
      }
      given.formUnion(members(of: stage["outputs"]).compactMap { $0.value["identity"]?.text })
    }
    return breaks
  }

  /// All files of unknown stages and duplicate files, by name.
  private static func strays(
    among subjects: [JSONValue], of predicate: JSONValue
  ) -> [Deviation] {
    let stages = Set((predicate["stages"]?.list ?? []).compactMap { $0["id"]?.text })
    var names: Set<ExactText> = []
    return subjects.compactMap { subject in
      guard let name = subject["name"]?.text else { return nil }
      if !names.insert(ExactText(name)).inserted {
        return Deviation(name, "the statement names it twice", .file)
      }
      guard let step = subject["annotations"]?["step"]?.text, !stages.contains(step) else {
        return nil
      }
      return Deviation(
        name, "the stage \(step) gave it, of which the statement says nothing", .file)
    }
  }

  private static func members(of value: JSONValue?) -> [(key: String, value: JSONValue)] {
    guard case .object(let members) = value else { return [] }
    return members.sorted { $0.key < $1.key }
  }
}
