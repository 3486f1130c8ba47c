import Platform

/// Signs requests to object stores: AWS Signature Version 4, as S3 takes it.
struct S3Signature: Sendable {
  let accessKey: String
  let secretKey: String
  let sessionToken: String?
  let region: String

  /// Seven days: the longest that a signed address may last.
  static let longestLink = 604_800

  /// The headers of a request, with those that were given, its signature among them.
  /// - Parameters:
  ///   - query: names and values, not encoded.
  ///   - payload: the digest of the body.
  ///   - time: seconds since 1970.
  func headers(
    _ method: String, _ address: WebAddress, query: [(String, String)],
    _ headers: [(name: String, value: String)], payload: Digest, at time: Double
  ) -> [(name: String, value: String)] {
    let stamp = Self.stamp(time)
    var headers = headers
    headers += [
      ("Host", Self.host(address)), ("x-amz-date", stamp), ("x-amz-content-sha256", payload.hex),
    ]
    if let sessionToken { headers.append(("x-amz-security-token", sessionToken)) }
    let signed = headers.map { (name: $0.name.lowercased(), value: $0.value) }
      .filter { ["host", "content-type"].contains($0.name) || $0.name.hasPrefix("x-amz-") }
      .sorted { $0.name < $1.name }
    let names = signed.map(\.name).joined(separator: ";")
    let canonical = [
      method, address.path, Self.queryText(query),
      signed.map { "\($0.name):\($0.value.trimmingSpaces)\n" }.joined(), names, payload.hex,
    ].joined(separator: "\n")
    let signature = sign(canonical, stamp)
    headers.append(
      (
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope(stamp)), SignedHeaders=\(names), "
          + "Signature=\(signature)"
      ))
    return headers
  }

  /// An address at which an object can be read without keys for a while.
  /// - Parameter time: seconds since 1970.
  func link(_ address: WebAddress, forSeconds seconds: Int, at time: Double) -> String {
    let stamp = Self.stamp(time)
    var query = [
      ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
      ("X-Amz-Credential", "\(accessKey)/\(scope(stamp))"), ("X-Amz-Date", stamp),
      ("X-Amz-Expires", String(min(max(1, seconds), Self.longestLink))),
      ("X-Amz-SignedHeaders", "host"),
    ]
    if let sessionToken { query.append(("X-Amz-Security-Token", sessionToken)) }
    let canonical = [
      "GET", address.path, Self.queryText(query), "host:\(Self.host(address))\n", "host",
      "UNSIGNED-PAYLOAD",
    ].joined(separator: "\n")
    let signature = sign(canonical, stamp)
    return address.origin + address.path + "?" + Self.queryText(query)
      + "&X-Amz-Signature=\(signature)"
  }

  /// A query as it is sent and signed: encoded, and in order.
  static func queryText(_ query: [(String, String)]) -> String {
    query.map { (WebAddress.encoded($0), WebAddress.encoded($1)) }
      .sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
  }

  private func sign(_ canonical: String, _ stamp: String) -> String {
    let text = [
      "AWS4-HMAC-SHA256", stamp, scope(stamp), SHA256.digest(of: canonical).hex,
    ].joined(separator: "\n")
    var key = Array("AWS4\(secretKey)".utf8)
    for part in [String(stamp.prefix(8)), region, "s3", "aws4_request"] {
      key = SHA256.authenticationCode(of: Array(part.utf8), key: key).bytes
    }
    return SHA256.authenticationCode(of: Array(text.utf8), key: key).hex
  }

  private func scope(_ stamp: String) -> String { "\(stamp.prefix(8))/\(region)/s3/aws4_request" }

  /// `20261121T142205Z`
  private static func stamp(_ time: Double) -> String {
    DateTime.stamp(of: time).replacing("-", with: "T") + "Z"
  }

  /// What the header names: no port that goes without saying.
  private static func host(_ address: WebAddress) -> String {
    let usual = address.scheme == "https" ? 443 : 80
    return address.port == usual ? address.host : address.server
  }
}
