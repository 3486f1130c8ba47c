internal import Hashing

/// The files of one time stamp, which lie beside its receipt.
public struct TimeStampFiles: Sendable {
  /// Their names, without folders, and what is in them, in the order in which they are written: the
  /// token is there last, and then all is.
  public let all: [(name: String, bytes: [UInt8])]

  /// - Parameters:
  ///   - reply: what the authority answered, as it came.
  ///   - certificates: those that it was checked against.
  ///   - token: the token's name.
  public init(_ reply: TimeStampReply, _ certificates: TrustedCertificates, token: String) {
    let trusted = TimeStampNames.certificates(of: token)
    all = [
      (trusted, certificates.text),
      (
        TimeStampNames.checksums(of: token),
        Self.checksums([(token, reply.bytes), (trusted, certificates.text)])
      ),
      (token, reply.bytes),
    ]
  }

  /// The list for `sha256sum -c`. A token is signed, but not every byte of it is: of what says
  /// nothing, some may be another without anybody's being deceived, and without this list it would
  /// not be found that the file is damaged.
  static func checksums(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
    Array(ChecksumList.text(of: files.map { ($0.name, SHA256.digest(of: $0.bytes)) }).utf8)
  }
}
