internal import CCurlLoader

/// One question to a web server: a body that is posted, and what is answered.
public struct HTTPPost: Sendable {
  /// Where it goes: `http` or `https`.
  public let url: String
  /// What the body is: `application/timestamp-query`.
  public let contentType: String
  /// What is sent.
  public let body: [UInt8]
  /// An answer has no more bytes than this.
  public var limit = 256 << 10
  /// How long the whole exchange may take, in seconds.
  public var patience = 10.0

  /// Describes a question.
  public init(_ body: [UInt8], of contentType: String, to url: String) {
    self.url = url
    self.contentType = contentType
    self.body = body
  }

  /// What a server answered, whatever its status.
  public struct Answer: Hashable, Sendable {
    /// The status code of HTTP.
    public let status: Int
    /// What came with it.
    public let body: [UInt8]
  }

  /// Asks. Blocks, for no longer than `patience`; a redirect is an answer like any other.
  /// - Parameter mayGoOn: asked at least once a second; false ends it.
  public func send(mayGoOn: @escaping () -> Bool = { true }) throws(HTTPError) -> Answer {
    var bytes = [UInt8](repeating: 0, count: limit)
    let asker = Asker(mayGoOn)
    var answer = unsafe spool_answer()
    var code: Int32 = -1
    unsafe url.withCString { url in
      unsafe "Content-Type: \(contentType)".withCString { contentType in
        unsafe body.withUnsafeBufferPointer { body in
          unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe answer.body = bytes.baseAddress
            unsafe answer.capacity = bytes.count
            var post = unsafe spool_post(
              url: url, content_type: contentType, body: body.baseAddress,
              body_length: body.count, patience: Int(max(1, patience * 1000)),
              may_go_on: { context in
                guard let context = unsafe context else { return true }
                return unsafe Unmanaged<Asker>.fromOpaque(context).takeUnretainedValue().mayGoOn()
              }, context: unsafe Unmanaged.passUnretained(asker).toOpaque())
            code = withExtendedLifetime(asker) {
              unsafe spool_curl_post(&post, &answer)
            }
          }
        }
      }
    }
    if unsafe answer.is_too_long {
      throw HTTPError(reason: "the answer has more than \(limit) bytes")
    }
    guard code == 0 else {
      let reason = unsafe withUnsafeBytes(of: answer.reason) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw HTTPError(reason: reason)
    }
    return Answer(
      status: unsafe answer.status, body: Array(bytes.prefix(unsafe answer.body_length)))
  }
}

/// What libcurl asks, on the thread that called it.
private final class Asker {
  let mayGoOn: () -> Bool

  init(_ mayGoOn: @escaping () -> Bool) { self.mayGoOn = mayGoOn }
}
