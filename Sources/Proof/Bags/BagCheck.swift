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
    if let oxum, oxum != (result.byteCount, result.fileCount) {
      add(
        Bag.informationName,
        "Payload-Oxum says \(oxum.bytes).\(oxum.files), and the payload has "
          + "\(result.byteCount).\(result.fileCount)")
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
