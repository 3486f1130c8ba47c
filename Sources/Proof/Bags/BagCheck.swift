internal import Hashing

/// One bag, read: what is wrong with its tag files, and which files are to be looked at.
struct BagCheck: Sendable {
  /// A file that a manifest names.
  struct Subject: Sendable {
    let file: SubjectFile
    /// Its path from the bag's folder.
    let path: String
    let digest: String
  }

  private(set) var subjects: [Subject] = []
  private var result: VerifiedBag
  private let folder: String
  /// What the payload has to have, as bag-info.txt says; nil where it does not.
  private var oxum: (bytes: Int, files: Int)?

  /// Reads the tag files of the bag in a folder, and looks at what lies in its payload's.
  init(_ folder: String) {
    self.folder = folder
    result = VerifiedBag(path: folder)
    // Whoever follows a link vouches for what lies elsewhere, and may change there.
    if FolderWalk.isLink("\(folder)/\(Bag.payloadFolder)") {
      result.add(Bag.payloadFolder, "it is a link, which is not followed")
      return
    }
    checkDeclaration()
    let payload = manifest(Bag.manifestName, isPayload: true)
    let tags = manifest(Bag.tagManifestName, isPayload: false)
    checkInformation()
    if let payload {
      checkExtras(listed: Set(payload.map { Array($0.path.utf8) }))
      result.fileCount = payload.count
      for entry in payload {
        // In the form in which the receipts in it name the same files: each is read once.
        let name = String(entry.path.dropFirst(Bag.payloadFolder.count + 1))
        add(entry, SubjectFile(name: name, in: "\(folder)/\(Bag.payloadFolder)/"))
      }
    }
    for entry in tags ?? [] { add(entry, SubjectFile(name: entry.path, in: folder)) }
    if let tags, !tags.contains(where: { $0.path == Bag.manifestName }) {
      result.add(Bag.tagManifestName, "it does not name \(Bag.manifestName)")
    }
    if tags?.contains(where: { $0.path.hasPrefix("tagmanifest-") }) == true {
      result.add(Bag.tagManifestName, "it names a tag manifest")
    }
  }

  /// What is to be said of the bag, once its files were looked at.
  func verdict(_ found: [SubjectFile: SubjectFile.Content]) -> VerifiedBag {
    var result = result
    for subject in subjects {
      let isPayload = subject.path.hasPrefix("\(Bag.payloadFolder)/")
      switch found[subject.file] {
      case .read(let digest, let byteCount):
        if isPayload { result.byteCount += byteCount }
        if digest.hex != subject.digest {
          result.add(subject.path, "it holds other bytes than its manifest says")
        }
      case .trouble(let reason): result.add(subject.path, reason)
      case nil: result.add(subject.path, "it was not read")
      }
    }
    if let oxum, oxum != (result.byteCount, result.fileCount) {
      result.add(
        Bag.informationName,
        "Payload-Oxum says \(oxum.bytes).\(oxum.files), and the payload has "
          + "\(result.byteCount).\(result.fileCount)")
    }
    return result
  }

  private mutating func add(_ entry: BagManifest.Entry, _ file: SubjectFile?) {
    guard let file else { return }
    subjects.append(Subject(file: file, path: entry.path, digest: entry.digest.hex))
  }

  /// The bytes of a tag file; nil, with a problem, where there are none.
  private mutating func bytes(_ name: String, limit: Int) -> [UInt8]? {
    guard let file = SubjectFile(name: name, in: folder) else { return nil }
    do throws(SubjectFile.Trouble) { return try file.bytes(limit: limit) } catch {
      result.add(name, error.reason)
      return nil
    }
  }

  private mutating func checkDeclaration() {
    guard let bytes = bytes(Bag.declarationName, limit: 4 << 10) else { return }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    // Bags of 0.97 differ in nothing that is looked at here.
    guard lines.count == 2,
      ["BagIt-Version: 1.0", "BagIt-Version: 0.97"].contains(lines[0])
    else {
      return result.add(Bag.declarationName, "it does not say that this is a bag of BagIt 1.0")
    }
    guard lines[1] == "Tag-File-Character-Encoding: UTF-8" else {
      return result.add(Bag.declarationName, "its tag files are not in UTF-8")
    }
  }

  private mutating func checkInformation() {
    guard let file = SubjectFile(name: Bag.informationName, in: folder),
      let bytes = try? file.bytes(limit: 1 << 20)
    else { return }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    for line in lines where line.hasPrefix("Payload-Oxum:") {
      let numbers = line.dropFirst(13).filter { $0 != " " && $0 != "\t" }.split(separator: ".")
      guard numbers.count == 2, let bytes = Int(numbers[0]), let files = Int(numbers[1]) else {
        result.add(Bag.informationName, "its Payload-Oxum is no two numbers")
        continue
      }
      oxum = (bytes, files)
    }
  }

  private mutating func manifest(_ name: String, isPayload: Bool) -> [BagManifest.Entry]? {
    guard let bytes = bytes(name, limit: BagManifest.maximumByteCount) else { return nil }
    let manifest = BagManifest(bytes, name: name, isPayload: isPayload)
    for (place, reason) in manifest.problems { result.add(place, reason) }
    return manifest.entries
  }

  /// Names what lies in the payload and is not listed.
  private mutating func checkExtras(listed: Set<[UInt8]>) {
    for (path, isFile) in FolderWalk.entries(of: "\(folder)/\(Bag.payloadFolder)") {
      let path = "\(Bag.payloadFolder)/\(path)"
      if !listed.contains(Array(path.utf8)) {
        result.add(
          path, isFile ? "no manifest names it" : "it is no file, and no manifest names it")
      }
    }
  }
}
