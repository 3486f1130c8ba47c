internal import CCurlLoader

/// A connection to web servers. It follows no redirect, so that no credentials reach another server.
/// Proxies are those of the environment (`https_proxy`). One thread at a time uses it.
package struct HTTPConnection: ~Copyable {
  package let settings: Settings
  private var curl: CurlConnection

  /// What all requests of a connection share.
  package struct Settings: Sendable {
    /// For HTTP's basic authentication, sent with each request.
    package var user: String?
    package var password: String?
    /// The file with the certificates that are trusted; nil for the system's.
    package var certificates: String?
    /// Seconds until a server has to have accepted the connection.
    package var connectPatience = 20.0
    /// Seconds without a byte in either direction.
    package var stallPatience = 120.0
    /// Seconds for the whole exchange; nil for any number.
    package var patience: Double?
    /// The highest rate of sending; nil for none.
    package var bytesPerSecond: Int?

    package init() {}
  }

  package init(_ settings: Settings = Settings()) throws(SpoolError) {
    self.settings = settings
    curl = try CurlConnection()
  }

  /// The largest header of a response in bytes.
  private static let headerLimit = 64 << 10

  /// Sends a request. Blocks.
  /// - Parameters:
  ///   - consume: takes the body of a success; nil if the response has it.
  ///   - mayGoOn: called at least once a second, with the bytes that were sent; false ends the
  ///     exchange.
  /// - Throws: if no whole response comes. A response of any status is none of these errors.
  package mutating func send(
    _ request: HTTPRequest, mayGoOn: (Int) -> Bool = { _ in true },
    to consume: ((RawSpan) throws(SpoolError) -> Void)? = nil
  ) throws(SpoolError) -> HTTPResponse {
    var failure: SpoolError?
    let take: ((RawSpan) -> Bool)? = consume.map { consume in
      { bytes in
        do throws(SpoolError) {
          try consume(bytes)
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    let outcome = curl.perform(
      options(of: request), sending: request.body.curl, headerLimit: Self.headerLimit,
      bodyLimit: request.limit, take: take, mayGoOn: mayGoOn)
    if let failure { throw failure }
    // The status of a refusal matters, and the rest of its page does not.
    if outcome.code != CURLE_OK, !(outcome.isBodyTooLong && outcome.status >= 300) {
      throw error(of: outcome, for: request)
    }
    return HTTPResponse(
      status: outcome.status, header: outcome.header, body: outcome.body)
  }

  private func options(of request: HTTPRequest) -> [CurlConnection.Option] {
    var lines = request.headers.map { "\($0.name): \($0.value)" }
    // A refusal of a small body costs less than to ask before.
    if request.body.curl.byteCount < 1 << 20 { lines.append("Expect:") }
    var options: [CurlConnection.Option] = [
      .text(CURLOPT_URL, request.url),
      .text(CURLOPT_PROTOCOLS_STR, "http,https"),
      .text(CURLOPT_USERAGENT, "spool"),
      .number(CURLOPT_FOLLOWLOCATION, 0),
      .number(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      .number(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectPatience)),
      .number(CURLOPT_LOW_SPEED_LIMIT, 1),
      .number(CURLOPT_LOW_SPEED_TIME, max(1, Int(settings.stallPatience.rounded(.up)))),
      .number(CURLOPT_BUFFERSIZE, 256 << 10),
      .number(CURLOPT_UPLOAD_BUFFERSIZE, 256 << 10),
      .list(CURLOPT_HTTPHEADER, lines),
    ]
    if let patience = settings.patience {
      options.append(.number(CURLOPT_TIMEOUT_MS, Self.milliseconds(patience)))
    }
    if let certificates = settings.certificates {
      options.append(.text(CURLOPT_CAINFO, certificates))
    }
    if let user = settings.user {
      options += [
        .number(CURLOPT_HTTPAUTH, 1), .text(CURLOPT_USERNAME, user),
        .text(CURLOPT_PASSWORD, settings.password ?? ""),
      ]
    }
    if let rate = settings.bytesPerSecond {
      options.append(.offset(CURLOPT_MAX_SEND_SPEED_LARGE, rate))
    }
    if case .none = request.body {
    } else {
      options += [
        .number(CURLOPT_UPLOAD, 1),
        .offset(CURLOPT_INFILESIZE_LARGE, request.body.curl.byteCount),
      ]
    }
    if request.method == "HEAD" {
      options.append(.number(CURLOPT_NOBODY, 1))
    } else {
      options.append(.text(CURLOPT_CUSTOMREQUEST, request.method))
    }
    return options
  }

  private static func milliseconds(_ seconds: Double) -> Int { Int(max(1, seconds * 1000)) }

  private func error(of outcome: CurlConnection.Outcome, for request: HTTPRequest) -> SpoolError {
    if outcome.wasEnded { return .cancelled }
    func failure(_ reason: String) -> SpoolError {
      SpoolError("reach", request.url, reason: reason, cause: .transient)
    }
    if outcome.isBodyTooLong { return failure("the answer has more than \(request.limit) bytes") }
    if outcome.isHeaderTooLong {
      return failure("the header of the answer has more than \(Self.headerLimit) bytes")
    }
    if outcome.isFileShort {
      return SpoolError(
        "cannot send the file", reason: "it has become shorter, or cannot be read", cause: .input,
        kind: .changed)
    }
    switch outcome.code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_ISSUER_ERROR:
      return SpoolError(
        "reach", request.url, reason: outcome.reason,
        advice: "nothing was sent: check the server's certificate and the address",
        cause: .blocked, kind: .denied)
    case CURLE_URL_MALFORMAT,
      CURLE_UNSUPPORTED_PROTOCOL where !request.url.hasPrefix("http"):
      return SpoolError("reach", request.url, reason: outcome.reason, cause: .input)
    case _ where outcome.isAway:
      return SpoolError(
        "reach", request.url, reason: outcome.reason, advice: CurlConnection.awayAdvice,
        cause: .transient, kind: .unanswered)
    default: return failure(outcome.reason)
    }
  }
}

/// A request to a web server.
package struct HTTPRequest: Sendable {
  package let method: String
  package let url: String
  /// Without line breaks.
  package var headers: [(name: String, value: String)]
  package var body: Body
  /// The largest body of a response in bytes that is not consumed.
  package var limit = 256 << 10

  /// What is sent.
  package enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// A stretch of an open file, by its descriptor.
    case file(CInt, offset: Int, byteCount: Int)

    fileprivate var curl: CurlConnection.Body {
      switch self {
      case .none: .none
      case .bytes(let bytes): .bytes(bytes)
      case .file(let file, let offset, let byteCount):
        .file(file, offset: offset, byteCount: byteCount)
      }
    }
  }

  package init(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: Body = .none
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// The response of a web server.
package struct HTTPResponse: Sendable {
  package let status: Int
  package let body: [UInt8]
  /// By their names in lower case.
  private let headers: [String: String]

  fileprivate init(status: Int, header: [UInt8], body: [UInt8]) {
    self.status = status
    self.body = body
    var headers: [String: String] = [:]
    for line in header.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      // Another response was only an intermediate one, or a proxy's.
      if line.starts(with: "HTTP/".utf8) { headers = [:] }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      headers[name] =
        String(decoding: line[(colon + 1)...], as: UTF8.self)
        .trimmingSpaces
    }
    self.headers = headers
  }

  package subscript(name: String) -> String? { headers[name.lowercased()] }

  package var isSuccess: Bool { (200..<300).contains(status) }
}
