internal import FoundationEssentials
package import Platform

/// A bucket of an object store. Small files are sent at once, larger ones in parts, of which the server
/// keeps those that an interrupted upload has sent. An object appears when it is complete, under its own
/// name, and is read back there.
package struct S3Transport: Transport, ~Copyable {
  let place: Destination.S3
  private let address: WebAddress
  private let signature: S3Signature
  private var connection: HTTPConnection
  private var hasSeenBucket = false
  /// Whether the server knows the condition that nothing may be replaced.
  var hasConditions = true
  package private(set) var requestedPause: Double?
  /// Objects in a page of a list; nil for as many as the server likes.
  var listPageSize: Int?

  package init(
    _ place: Destination.S3, _ environment: [String: String], bytesPerSecond: Int? = nil
  ) throws(SpoolError) {
    var settings = HTTPConnection.Settings()
    settings.certificates = place.certificates
    settings.bytesPerSecond = bytesPerSecond
    let accessKey = try place.accessKey.text(environment)
    let secretKey = try place.secretKey.text(environment)
    let token = try place.sessionToken?.text(environment)
    let amazon = try WebAddress("https://s3.\(place.region).amazonaws.com", schemes: ["https"])
    let server = place.endpoint ?? amazon
    connection = try HTTPConnection(settings)
    self.place = place
    address =
      (place.isPathStyle ? server.appending([place.bucket]) : server.prefixed(place.bucket))
    signature = S3Signature(
      accessKey: accessKey, secretKey: secretKey, sessionToken: token, region: place.region)
  }

  package mutating func find(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    try checkBucket()
    let response = try request("HEAD", path)
    switch response.status {
    case 404: return nil
    case 200: break
    default: throw refusal(response, "look at", path)
    }
    guard let byteCount = response.contentLength else {
      throw SpoolError(
        "look at", url(path), reason: "the server does not tell its length", cause: .transient)
    }
    return RemoteFile(
      byteCount: byteCount, identifier: response["x-amz-version-id"] ?? response["etag"],
      modified: response.lastModified)
  }

  package mutating func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    note: (UploadState) throws(SpoolError) -> Void, mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> RemoteFile {
    if try find(path) != nil { throw SpoolError(occupied: path) }
    let checksum: String
    if file.byteCount <= UploadState.step {
      try put(file, at: path, mayGoOn)
      checksum = file.digest.base64
    } else {
      var state = state ?? UploadState()
      checksum = try sendParts(of: file, to: path, &state, note, mayGoOn)
    }
    if place.isChecksumTrusted { return try confirm(checksum, of: path, byteCount: file.byteCount) }
    var progress = UploadProgress()
    progress.sentByteCount = file.byteCount
    guard
      try digest(readingBack: path, limit: file.byteCount, &progress, mayGoOn) == file.digest
    else {
      throw SpoolError(otherBytes: path, "the server gave other bytes back than it was sent")
    }
    guard let found = try find(path) else {
      throw SpoolError(otherBytes: path, "the server has it no more")
    }
    return found
  }

  package mutating func read(
    _ path: RemotePath, limit: Int, mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try checkBucket()
    var count = 0
    let response = try withoutActuallyEscaping(consume) { (consume) throws(SpoolError) in
      try request("GET", path) { _ in
        mayGoOn()
      } to: { (bytes) throws(SpoolError) in
        count += bytes.byteCount
        if count > limit { throw SpoolError(otherBytes: path, "it has more than \(limit) bytes") }
        try consume(bytes)
      }
    }
    if response.status == 404 { throw SpoolError(noFile: url(path)) }
    guard response.status == 200 else { throw refusal(response, "read", path) }
  }

  package mutating func list(
    mayGoOn: () -> Bool, to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try checkBucket()
    let start = place.prefix.map { $0 + "/" }.joined()
    var (token, count): (String?, Int) = (nil, 0)
    repeat {
      var query = [("list-type", "2"), ("encoding-type", "url"), ("prefix", start)]
      if let listPageSize { query.append(("max-keys", String(listPageSize))) }
      if let token { query.append(("continuation-token", token)) }
      let response = try request("GET", nil, query: query, limit: Self.listLimit) { _ in mayGoOn() }
      guard response.isSuccess else { throw refusal(response, "list", nil) }
      guard let answer = XMLElement(response.body), answer.name == "ListBucketResult" else {
        throw oddList
      }
      let isEncoded = answer["EncodingType"]?.text == "url"
      for object in answer.children where object.name == "Contents" {
        count += 1
        guard mayGoOn() else { throw .cancelled }
        guard let written = object["Key"]?.text else { throw oddList }
        let size = object["Size"].flatMap { Int($0.text) }
        if let file = Self.listed(written, beneath: start, isEncoded: isEncoded, size) {
          try consume(file)
        }
      }
      let next = answer["NextContinuationToken"]?.text
      guard answer["IsTruncated"]?.text == "true" else { return }
      guard let next, !next.isEmpty, next != token, count < Self.mostObjects else { throw oddList }
      token = next
    } while true
  }

  /// Bytes of a page of a list, which has a thousand objects.
  private static let listLimit = 8 << 20
  /// More objects than any destination has: the server makes them up.
  private static let mostObjects = 10_000_000

  private var oddList: SpoolError {
    SpoolError(
      "list", address.description, reason: "the server does not answer as S3 does",
      advice: "check the endpoint", cause: .transient)
  }

  /// What is to be said of a key; nil for one that stands for a folder.
  private static func listed(
    _ written: String, beneath start: String, isEncoded: Bool, _ byteCount: Int?
  ) -> ListedFile? {
    // A plus is a space here, as in forms.
    let key = isEncoded ? WebAddress.decoded(written.replacing("+", with: "%20")[...]) : written
    guard let key, key.hasPrefix(start) else {
      return .unusable(
        PlainText.line(written),
        reason: key == nil ? "its name is not printable" : "it lies elsewhere in the bucket")
    }
    return key.hasSuffix("/")
      ? nil : ListedFile.of(String(key.dropFirst(start.count)), byteCount: byteCount)
  }

  package mutating func discard(_ state: UploadState, of path: RemotePath) throws(SpoolError) {
    guard let upload = state.upload else { return }
    let response = try request("DELETE", path, query: [("uploadId", upload)])
    guard response.isSuccess || response.status == 404 else {
      throw refusal(response, "remove the parts of", path)
    }
  }

  package mutating func removeProbe(_ path: RemotePath) throws(SpoolError) {
    precondition(path.isProbe)
    let response = try request("DELETE", path)
    guard response.isSuccess || response.status == 404 else {
      throw refusal(response, "remove", path)
    }
  }

  /// No server says it.
  package mutating func freeByteCount() throws(SpoolError) -> Int? { nil }

  package mutating func link(
    to path: RemotePath, forSeconds seconds: Int
  ) throws(SpoolError) -> String? {
    signature.link(object(path), forSeconds: seconds, at: Double(Clock.now()) / 1e9)
  }
}

extension S3Transport {
  /// What the server has computed of the bytes that it stores is what was computed here.
  private mutating func confirm(
    _ checksum: String, of path: RemotePath, byteCount: Int
  ) throws(SpoolError) -> RemoteFile {
    let response = try request("HEAD", path, [("x-amz-checksum-mode", "ENABLED")])
    guard response.status == 200 else { throw refusal(response, "confirm", path) }
    guard let stored = response["x-amz-checksum-sha256"] else {
      throw SpoolError(
        "confirm", url(path), reason: "the server keeps no SHA-256 of it",
        advice: "write confirm: read for the destination, and retry", cause: .input, kind: .invalid)
    }
    // Some servers leave the number of parts away.
    let isSame = stored == checksum || stored == checksum.prefix { $0 != "-" }
    guard isSame, response.contentLength == byteCount else {
      throw SpoolError(otherBytes: path, "the server's checksum is that of other bytes")
    }
    return RemoteFile(
      byteCount: byteCount, identifier: response["x-amz-version-id"] ?? response["etag"],
      modified: response.lastModified)
  }

  private func object(_ path: RemotePath) -> WebAddress {
    address.appending(place.prefix + path.names)
  }

  func url(_ path: RemotePath) -> String { object(path).description }

  mutating func request(
    _ method: String, _ path: RemotePath?, query: [(String, String)] = [],
    _ headers: [(name: String, value: String)] = [], body: HTTPRequest.Body = .none,
    payload: Digest = SHA256.digest(of: []), limit: Int = 256 << 10,
    mayGoOn: (Int) -> Bool = { _ in true },
    to consume: ((RawSpan) throws(SpoolError) -> Void)? = nil
  ) throws(SpoolError) -> HTTPResponse {
    let target = if let path { object(path) } else { address }
    let signed = signature.headers(
      method, target, query: query, headers, payload: payload, at: Double(Clock.now()) / 1e9)
    let question = query.isEmpty ? "" : "?" + S3Signature.queryText(query)
    var request = HTTPRequest(
      method, target.origin + target.path + question, headers: signed, body: body)
    request.limit = limit
    requestedPause = nil
    let response = try connection.send(request, mayGoOn: mayGoOn, to: consume)
    if !response.isSuccess { requestedPause = response.retryAfter }
    return response
  }

  private mutating func checkBucket() throws(SpoolError) {
    if hasSeenBucket { return }
    let response = try request("HEAD", nil)
    switch response.status {
    case 200..<300: hasSeenBucket = true
    case 403:
      // The keys may be good for objects only. The answer to a question with a body says what is wrong.
      let response = try request("GET", nil, query: [("list-type", "2"), ("max-keys", "0")])
      let error = refusal(response, "look at the bucket", nil)
      if !response.isSuccess, error.remedy == .hold { throw error }
      hasSeenBucket = true
    case 404:
      throw SpoolError(
        "deliver to the bucket", place.bucket, reason: "the server has no such bucket",
        advice: "make it, or check its name", kind: .missing)
    default: throw refusal(response, "look at the bucket", nil)
    }
  }

  func refusal(
    _ response: HTTPResponse, _ action: String, _ path: RemotePath?
  ) -> SpoolError {
    let answer = XMLElement(response.body)
    let code = answer?["Code"]?.text ?? ""
    let subject = if let path { url(path) } else { address.description }
    let words = [code, answer?["Message"]?.text ?? ""].filter { !$0.isEmpty }
    let detail = words.isEmpty ? nil : words.joined(separator: ": ")
    func error(_ cause: SpoolError.Cause, _ kind: SpoolError.Kind?, _ advice: String) -> SpoolError
    {
      SpoolError(
        action, subject,
        reason: "the server answers with \(PlainText.line(detail ?? "\(response.status)"))",
        advice: advice, cause: cause, kind: kind)
    }
    switch code {
    case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
      "AuthorizationHeaderMalformed":
      return error(.blocked, .denied, "check the keys and the region of the destination")
    case "RequestTimeTooSkewed":
      return error(.blocked, .denied, "set the clock of this computer")
    case "NoSuchBucket": return error(.environment, .missing, "make the bucket, or check its name")
    case "RequestTimeout", "BadDigest", "XAmzContentSHA256Mismatch", "SlowDown":
      return error(.transient, nil, "")
    case "EntityTooLarge": return error(.input, .tooLarge, "the server takes no larger files")
    case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage":
      return SpoolError(
        "the destination of \(subject) is full", reason: PlainText.line(detail ?? ""),
        advice: "free some space there, then retry", cause: .fullDisk, kind: .noRoom)
    default: break
    }
    if let region = response["x-amz-bucket-region"], region != place.region,
      [301, 307, 400, 403].contains(response.status)
    {
      return error(
        .blocked, nil, "set the region of the destination to \(PlainText.line(region))")
    }
    return SpoolError(refusal: response, action, subject, detail: detail)
  }
}

extension Digest {
  /// As checksums are written in headers and in answers of S3.
  var base64: String { Data(bytes).base64EncodedString() }
}
