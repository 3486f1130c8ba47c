internal import Hashing

/// The list of the digests of a token and its certificates, held against the two: which of the three
/// was changed.
struct TimeStampList {
  /// The list's own name, and that of the certificates.
  let name: String
  let certificates: String
  /// What is wrong with the list itself; nil where nothing is.
  private(set) var trouble: String?
  /// Which of the two is not as it is listed, and what is to be said of it.
  private(set) var changed: [(name: String, reason: String)] = []

  /// Reads the list and the certificates that lie beside a token.
  /// - Parameters:
  ///   - reply: the token.
  ///   - token: its name.
  init(of reply: TimeStampReply, called token: String, in folder: String) {
    name = TimeStampNames.checksums(of: token)
    certificates = TimeStampNames.certificates(of: token)
    func bytes(_ name: String, _ limit: Int) throws(SubjectFile.Trouble) -> [UInt8] {
      guard let file = SubjectFile(name: name, in: folder) else { throw .missing }
      return try file.bytes(limit: limit)
    }
    let text: [UInt8]
    do throws(SubjectFile.Trouble) { text = try bytes(name, 4 << 10) } catch {
      trouble = error.reason
      return
    }
    var files = [(name: token, bytes: reply.bytes)]
    do throws(SubjectFile.Trouble) {
      files.append((certificates, try bytes(certificates, TrustedCertificates.maximumByteCount)))
    } catch {
      changed.append((certificates, error.reason))
      return
    }
    if TimeStampFiles.checksums(files) == text { return }
    let said = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, file) in files.enumerated() {
      let line = TimeStampFiles.checksums([file]).dropLast()
      let found = number < said.count ? Array(said[number]) : []
      if found.elementsEqual(line) { continue }
      if Self.isOtherDigest(found, than: Array(line)) {
        changed.append((file.name, "it holds other bytes than those that \(name) lists"))
      } else {
        trouble = "it was changed: the line of \(file.name) is not as it was written"
      }
    }
    if trouble == nil, changed.isEmpty {
      trouble = "it was changed: it is not its two lines and nothing else"
    }
  }

  /// Whether a line lists another file of the same name. Where one byte of a file is another, nearly all
  /// digits of its digest are; where a line is damaged, most are as they were.
  private static func isOtherDigest(_ found: [UInt8], than line: [UInt8]) -> Bool {
    // A line begins with the digest, after a backslash where the name needs one.
    let start = line.first == UInt8(ascii: "\\") ? 1 : 0
    let digits = start..<start + 64
    guard found.count == line.count, found[..<start] == line[..<start],
      found[digits.upperBound...] == line[digits.upperBound...],
      DigestAlgorithm.sha256.digest(found[digits]) != nil
    else { return false }
    return digits.count { found[$0] == line[$0] } < 32
  }
}
