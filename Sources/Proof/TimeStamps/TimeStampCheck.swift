import Platform

/// Verifies the time stamps beside one receipt.
struct TimeStampCheck {
  private(set) var verified: [VerificationResult.Stamp] = []
  /// The names of all tokens found, without the folder.
  private(set) var present: Set<String> = []
  /// The faults, by token name.
  private(set) var problems: [Deviation] = []

  private let digest: Digest
  private let own: TrustedCertificates?

  /// Searches a receipt's tokens.
  /// - Parameters:
  /// - receipt: its name.
  /// - folder: its folder.
  /// - digest: of its bytes.
  /// - own: the trusted certificates; nil for those beside each token.
  init(
    of receipt: String, in folder: String, digest: Digest, certificates own: TrustedCertificates?
  ) {
    self.digest = digest
    self.own = own
    for name in TimeStampNames.tokens(of: receipt) { check(name, in: folder, as: name) }
    guard Self.isPayload(folder) else { return }
    for name in TimeStampNames.tokens(of: receipt) {
      check(name, in: folder + "/..", as: "../\(name)")
    }
  }

  /// The missing tokens of the statement's authorities, with messages.
  func missing(
    of receipt: String, from authorities: [String]
  ) -> [(name: String, problem: String)] {
    authorities.enumerated().compactMap { number, authority in
      let name = TimeStampNames.token(of: receipt, number: number + 1)
      if present.contains(name) { return nil }
      return (
        name,
        "it is missing: \(authority) was asked for it, and has not answered or it was taken away"
      )
    }
  }

  /// Whether a folder is a bag's payload: then tokens may lie outside it.
  private static func isPayload(_ folder: String) -> Bool {
    FilePath.exists("\(folder)/../\(Bag.manifestName)")
      && (try? FilePath.resolved(folder))?.hasSuffix("/" + Bag.payloadFolder) == true
  }

  ///
  /// - Parameter shown: the token's name from the receipt's folder.
  private mutating func check(_ name: String, in folder: String, as shown: String) {
    do throws(SubjectFile.Trouble) {
      guard let token = SubjectFile(name: name, in: folder) else { return }
      let bytes = try token.bytes(limit: TimeStampReply.maximumByteCount)
      present.insert(name)
      let reply = TimeStampReply(bytes)
      let list = Self.compareChecksums(of: reply, called: name, in: folder)
      let prefix = ReceiptSearch.folder(of: shown)
      func add(_ name: String, _ reason: String) {
        problems.append(Deviation("\(prefix)\(name)", reason, .timeStamp))
      }
      if let trouble = list.trouble { add(TimeStampNames.checksums(of: name), trouble) }
      var isRefused = false
      do throws(SubjectFile.Trouble) {
        let certificates = try trusted(for: name, in: folder)
        do throws(SpoolError) {
          verified.append(
            VerificationResult.Stamp(
              name: shown, stamp: try reply.verified(for: digest, by: certificates),
              certificates: own == nil ? TimeStampNames.certificates(of: shown) : nil))
        } catch {
          throw SubjectFile.Trouble(reason: error.reason ?? error.message)
        }
      } catch {
        // An unchanged token cannot verify against changed certificates.
        isRefused =
          own != nil || list.changed.map(\.name) != [TimeStampNames.certificates(of: name)]
        if isRefused { add(name, error.reason) }
      }
      for file in list.changed where !isRefused || file.name != name {
        add(file.name, file.reason)
      }
    } catch {
      if error != .missing { problems.append(Deviation(shown, error.reason, .timeStamp)) }
    }
  }

  private func trusted(
    for token: String, in folder: String
  ) throws(SubjectFile.Trouble) -> TrustedCertificates {
    if let own { return own }
    let name = TimeStampNames.certificates(of: token)
    guard let file = SubjectFile(name: name, in: folder) else { throw .missing }
    do throws(SubjectFile.Trouble) {
      let text = try file.bytes(limit: TrustedCertificates.maximumByteCount)
      do throws(SpoolError) { return try TrustedCertificates(text, from: name) } catch {
        throw SubjectFile.Trouble(reason: error.reason ?? error.message)
      }
    } catch {
      throw SubjectFile.Trouble(
        reason: "\(name), which it is to be checked against: \(error.reason)")
    }
  }
}

/// The checksums of a token and its certificates: they show which of the three files was changed.
extension TimeStampCheck {
  /// Compares the list beside a token with both files.
  /// - Parameters:
  /// - reply: the token.
  /// - token: its name.
  /// - Returns: the list's fault, and the files that differ from it, with messages.
  private static func compareChecksums(
    of reply: TimeStampReply, called token: String, in folder: String
  ) -> (trouble: String?, changed: [(name: String, reason: String)]) {
    let name = TimeStampNames.checksums(of: token)
    let certificates = TimeStampNames.certificates(of: token)
    func bytes(_ name: String, _ limit: Int) throws(SubjectFile.Trouble) -> [UInt8] {
      guard let file = SubjectFile(name: name, in: folder) else { throw .missing }
      return try file.bytes(limit: limit)
    }
    let text: [UInt8]
    do throws(SubjectFile.Trouble) { text = try bytes(name, 4 << 10) } catch {
      return (error.reason, [])
    }
    var files = [(name: token, bytes: reply.bytes)]
    do throws(SubjectFile.Trouble) {
      files.append((certificates, try bytes(certificates, TrustedCertificates.maximumByteCount)))
    } catch {
      return (nil, [(certificates, error.reason)])
    }
    if TimeStampReply.checksums(files) == text { return (nil, []) }
    var trouble: String?
    var changed: [(name: String, reason: String)] = []
    let said = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, file) in files.enumerated() {
      let line = TimeStampReply.checksums([file]).dropLast()
      let found = number < said.count ? Array(said[number]) : []
      if found.elementsEqual(line) { continue }
      if isOtherDigest(found, than: Array(line)) {
        changed.append((file.name, "it holds other bytes than those that \(name) lists"))
      } else {
        trouble = "it was changed: the line of \(file.name) is not as it was written"
      }
    }
    if trouble == nil, changed.isEmpty {
      trouble = "it was changed: it is not its two lines and nothing else"
    }
    return (trouble, changed)
  }

  /// Whether a line has the digest of another file of that name. A changed file changes nearly all
  /// digits of its digest; a damaged line keeps most of them.
  private static func isOtherDigest(_ found: [UInt8], than line: [UInt8]) -> Bool {
    // A line begins with the digest, after a backslash if the name is escaped.
    let start = line.first == UInt8(ascii: "\\") ? 1 : 0
    let digits = start..<start + 64
    guard found.count == line.count, found[..<start] == line[..<start],
      found[digits.upperBound...] == line[digits.upperBound...],
      DigestAlgorithm.sha256.digest(found[digits]) != nil
    else { return false }
    return digits.count { found[$0] == line[$0] } < 32
  }
}
