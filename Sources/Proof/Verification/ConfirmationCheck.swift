import Platform

/// Checks one confirmation: its own faults, the receipt that it belongs to, and the files that lie where
/// they lay at the destination, as in a copy that was fetched back.
struct ConfirmationCheck: Sendable {
  private(set) var subjects: [ReceiptCheck.Subject] = []
  private var result: VerificationResult
  /// Whether a later receipt lies beside it: files may be of a later version than it confirms.
  private var isEarlier = false
  /// The files that its receipt names, by their resolved paths, where that lies beside it: an export may
  /// lie here where a file of another name lies at the destination.
  private var signed: [String: String] = [:]
  /// Where the files lie.
  private var paths: [SubjectFile: String] = [:]

  /// Reads the confirmation at a path, and verifies its signature and its receipt's digest.
  init(_ path: String, keys: [VerifyingKey]) {
    result = VerificationResult(path: path)
    let name = ReceiptSearch.name(of: path)
    let envelope: Envelope
    do throws(SpoolError) {
      envelope = try Envelope(SubjectFile.readWhole(path, limit: Envelope.maximumByteCount))
    } catch {
      result.add(name, error.reason ?? error.message, .receipt)
      return
    }
    guard let statement = result.statement(in: envelope, called: name, keys) else { return }
    if let flaw = ReceiptForm.confirmation.flaw(in: statement) {
      result.add(name, "its \(flaw.path) \(flaw.reason)", .statement)
      return
    }
    check(statement, path, keys)
  }

  private mutating func check(_ statement: JSONValue, _ path: String, _ keys: [VerifyingKey]) {
    guard let predicate = statement["predicate"], let subjects = statement["subject"]?.list,
      let destination = predicate["destination"]?.text, let there = predicate["folder"]?.text,
      let receipt = predicate["receipt"], let receiptName = receipt["name"]?.text
    else { return }
    result.destination = destination
    result.receiptName = receiptName
    result.fileCount = subjects.count
    let times = subjects.compactMap { $0["annotations"]?["confirmedAt"]?.text }
    result.confirmedAt = times.max()
    let name = ReceiptSearch.name(of: path)
    let usual =
      ReceiptSearch.name(of: receiptName).withoutEnding(ReceiptSearch.ending)
      + DeliveryConfirmation.mark + destination
    if !Self.isNumbered(name, usual) {
      result.add(
        name,
        "it is the confirmation \(usual).json, as it says itself: it was renamed, or put in the place of "
          + "another", .receipt)
    }
    let folder = ReceiptSearch.folder(of: path)
    checkReceipt(receipt, receiptName, in: folder, subjects, keys)
    var names: Set<ExactText> = []
    for subject in subjects {
      guard let place = subject["name"]?.text, let digest = subject["digest"]?["sha256"]?.text
      else {
        continue
      }
      if !names.insert(ExactText(place)).inserted {
        result.add(place, "the statement names it twice", .file)
        continue
      }
      guard SubjectFile(name: place, in: ".") != nil else {
        result.add(place, "its name leads out of the destination; it was not looked at", .file)
        continue
      }
      guard let (file, path) = Self.file(at: place, below: there, in: folder) else { continue }
      paths[file] = path
      self.subjects.append(
        ReceiptCheck.Subject(
          file: file, digest: digest, byteCount: subject["annotations"]?["byteCount"]?.integer))
    }
  }

  /// The result, once the files were read.
  func verdict(_ found: [SubjectFile: SubjectFile.Content]) -> VerificationResult {
    var result = result
    for subject in subjects {
      let name = subject.file.name
      switch found[subject.file] {
      case .read(let digest, let byteCount):
        let isRight = digest == subject.digest
        let path = paths[subject.file].flatMap { try? FilePath.resolved($0) }
        if !isRight, let path, signed[path] == digest { continue }
        result.checkedCount += 1
        result.byteCount += byteCount
        if isRight { continue }
        let destination = result.destination ?? ""
        if isEarlier {
          result.note(name, "it is of another version than the one that \(destination) confirmed")
        } else if let expected = subject.byteCount, expected != byteCount {
          result.add(
            name, "it has \(byteCount) bytes, and \(destination) confirmed \(expected)", .file)
        } else {
          result.add(name, "it holds other bytes than those that \(destination) confirmed", .file)
        }
      // Nothing says that all files of the destination were fetched.
      case .trouble(SubjectFile.Trouble.missing.reason): continue
      case .trouble(let reason): result.add(name, reason, .file)
      case nil: result.add(name, "it was not read", .file)
      }
    }
    return result
  }

  /// Whether a name is the usual one, perhaps with a number.
  private static func isNumbered(_ name: String, _ usual: String) -> Bool {
    if name == usual + ".json" { return true }
    guard name.hasPrefix(usual + " ("), name.hasSuffix(").json") else { return false }
    let digits = name.dropFirst(usual.count + 2).dropLast(6)
    return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}

/// The receipt that it belongs to.
extension ConfirmationCheck {
  private mutating func checkReceipt(
    _ receipt: JSONValue, _ name: String, in folder: String, _ subjects: [JSONValue],
    _ keys: [VerifyingKey]
  ) {
    guard let wanted = receipt["digest"]?["sha256"]?.text,
      SubjectFile(name: name, in: folder.isEmpty ? "." : folder) != nil
    else {
      result.add(name, "its name leads out of the confirmation's folder", .statement)
      return
    }
    let path = folder + name
    guard let beside = ReceiptFile(at: path) else {
      if Self.others(of: path).contains(wanted) { return }
      let isOfNone = !subjects.contains { $0["digest"]?["sha256"]?.text == wanted }
      if FilePath.exists(path) {
        result.add(name, "what lies there is not the receipt that it belongs to", .receipt)
      } else if isOfNone {
        result.note(name, "the receipt that it belongs to was not delivered, and is not here")
      } else {
        result.add(name, "the receipt that it belongs to is missing", .receipt)
      }
      return
    }
    if beside.digest.hex == wanted {
      for file in beside.files {
        if let path = try? FilePath.resolved(file.path) { signed[path] = file.digest.hex }
      }
      return
    }
    if Self.others(of: path).contains(wanted) { return }
    // The receipt beside it is checked by itself; here it has to be a later one of a known signer.
    if keys.contains(where: { beside.isSigned(by: $0) }), let own = receipt["finishedAt"]?.text,
      let later = beside.finishedAt, later > own
    {
      isEarlier = true
      result.note(
        name,
        "it confirms an earlier version: the receipt beside it is of \(later), and that which it belongs "
          + "to was of \(own)")
    } else {
      result.add(name, "it belongs to another receipt than the one that lies there", .receipt)
    }
  }

  /// The digests of the receipts of the same name with a number, as a destination has later versions.
  private static func others(of receipt: String) -> Set<String> {
    let folder = ReceiptSearch.folder(of: receipt)
    let start = String(ReceiptSearch.name(of: receipt).withoutEnding(".json")) + " ("
    let names = FilePath.names(in: folder.isEmpty ? "." : folder).filter {
      $0.hasPrefix(start) && $0.hasSuffix(").json")
    }
    return Set(names.compactMap { ReceiptFile(at: folder + $0)?.digest.hex })
  }
}

/// Where its files lie.
extension ConfirmationCheck {
  /// A file of the destination, in a copy of it around a folder.
  /// - Parameters:
  ///   - path: below the destination.
  ///   - there: the confirmation's folder below the destination.
  ///   - folder: where it lies now, with its slash; empty for the current folder.
  /// - Returns: nil if the folders around are not those of the destination, so that nothing of it is
  ///   known to lie there.
  private static func file(
    at path: String, below there: String, in folder: String
  ) -> (SubjectFile, path: String)? {
    let here = folder.isEmpty ? "." : folder
    let (names, own) = (path.pathNames, there.pathNames)
    let common = zip(names, own).prefix { $0.utf8.elementsEqual($1.utf8) }.count
    let rest = names.dropFirst(common).joined(separator: "/")
    let ups = own.dropFirst(common)
    if ups.isEmpty { return SubjectFile(name: rest, in: here).map { ($0, "\(here)/\(rest)") } }
    guard let around = (try? FilePath.resolved(here))?.pathNames,
      around.suffix(ups.count).elementsEqual(ups)
    else { return nil }
    let base = "/" + around.dropLast(ups.count).joined(separator: "/")
    return SubjectFile(name: rest, in: base).map { ($0, "\(base)/\(rest)") }
  }
}
