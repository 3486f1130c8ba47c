internal import Glibc
internal import Hashing

/// The time stamps beside one receipt, read and checked.
struct TimeStampCheck {
  private(set) var verified: [VerifiedTimeStamp] = []
  /// The names of the tokens that are there, whatever is in them, without the folder.
  private(set) var present: Set<String> = []
  /// What is wrong, by the token's name.
  private(set) var problems: [(name: String, reason: String)] = []

  private let digest: Digest
  private let own: TrustedCertificates?

  /// Looks for the tokens of a receipt, of which there may be none.
  /// - Parameters:
  ///   - receipt: its name.
  ///   - folder: where it lies.
  ///   - digest: of its bytes.
  ///   - own: the certificates that count; nil for those beside each token.
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

  /// The tokens that are not there, though the statement names their authorities, with what to say.
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

  /// Whether a folder is the payload of a bag: then tokens may lie beside it.
  private static func isPayload(_ folder: String) -> Bool {
    guard unsafe access("\(folder)/../\(Bag.manifestName)", F_OK) == 0,
      let path = unsafe realpath(folder, nil)
    else { return false }
    defer { unsafe free(path) }
    return unsafe String(cString: path).hasSuffix("/" + Bag.payloadFolder)
  }

  /// - Parameter shown: the token's name from the receipt's folder.
  private mutating func check(_ name: String, in folder: String, as shown: String) {
    do throws(SubjectFile.Trouble) {
      guard let token = SubjectFile(name: name, in: folder) else { return }
      let bytes = try token.bytes(limit: TimeStampReply.maximumByteCount)
      present.insert(name)
      let reply = TimeStampReply(bytes)
      let list = TimeStampList(of: reply, called: name, in: folder)
      let prefix = ReceiptSearch.folder(of: shown)
      func add(_ name: String, _ reason: String) { problems.append(("\(prefix)\(name)", reason)) }
      if let trouble = list.trouble { add(list.name, trouble) }
      var isRefused = false
      do throws(SubjectFile.Trouble) {
        let certificates = try trusted(for: name, in: folder)
        do throws(ProofError) {
          verified.append(
            VerifiedTimeStamp(
              name: shown, stamp: try reply.verified(for: digest, by: certificates),
              certificates: own == nil ? TimeStampNames.certificates(of: shown) : nil))
        } catch {
          throw SubjectFile.Trouble(reason: error.reason ?? error.message)
        }
      } catch {
        // A token that is as listed cannot hold by certificates that are not.
        isRefused = own != nil || list.changed.map(\.name) != [list.certificates]
        if isRefused { add(name, error.reason) }
      }
      for file in list.changed where !isRefused || file.name != name {
        add(file.name, file.reason)
      }
    } catch {
      if error != .missing { problems.append((shown, error.reason)) }
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
      do throws(ProofError) { return try TrustedCertificates(text, from: name) } catch {
        throw SubjectFile.Trouble(reason: error.reason ?? error.message)
      }
    } catch {
      throw SubjectFile.Trouble(
        reason: "\(name), which it is to be checked against: \(error.reason)")
    }
  }
}
