package import Platform

/// The files of one time stamp, beside its receipt.
extension TimeStampReply {
  /// Names without folders, and contents, in order of writing: the token completes the set.
  /// - Parameters:
  /// - certificates: those that it was verified with.
  /// - token: the token's name.
  package func files(
    _ certificates: TrustedCertificates, token: String
  ) -> [(name: String, bytes: [UInt8])] {
    let trusted = TimeStampNames.certificates(of: token)
    return [
      (trusted, certificates.text),
      (
        TimeStampNames.checksums(of: token),
        Self.checksums([(token, bytes), (trusted, certificates.text)])
      ),
      (token, bytes),
    ]
  }

  /// The list for `sha256sum -c`. Parts of a token are unsigned: damage there shows only in this
  /// list.
  static func checksums(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
    Array(ChecksumList.text(of: files.map { ($0.name, SHA256.digest(of: $0.bytes)) }).utf8)
  }
}

/// The file names of time stamps beside a receipt.
package enum TimeStampNames {
  /// Most tokens of a receipt, each of another authority.
  package static let maximumCount = 4

  /// The token of the `number`th authority, counted from 1: `note.receipt.tsr`,
  /// `note.receipt.2.tsr`.
  /// - Parameter receipt: the receipt's name or path.
  package static func token(of receipt: String, number: Int) -> String {
    let stem = receipt.withoutEnding(".json")
    return number == 1 ? "\(stem).tsr" : "\(stem).\(number).tsr"
  }

  /// All possible token names of a receipt.
  package static func tokens(of receipt: String) -> [String] {
    (1...maximumCount).map { token(of: receipt, number: $0) }
  }

  /// The copy of the certificates for a token.
  package static func certificates(of token: String) -> String { token + ".pem" }

  /// The checksums of both, for `sha256sum -c`.
  package static func checksums(of token: String) -> String { token + ".sha256" }
}

/// A time stamping authority's statement that a digest existed at a time.
package struct TimeStamp: Hashable, Sendable {
  /// The SHA-256 of the stamped bytes.
  package let digest: Digest
  /// The authority's time, in whole seconds since 1970.
  package let time: Double
  /// The signing certificate's subject by RFC 2253: `CN=TSA,O=Example`.
  package let authority: String

  /// As ISO 8601 in UTC: `2026-11-21T14:22:05.000Z`.
  package var timeText: String { DateTime.text(of: time) }
}
