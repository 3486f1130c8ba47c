internal import CCurlLoader

/// One HTTP POST request and its response.
package struct HTTPPost: Sendable {
  package let url: String
  package let contentType: String
  package let body: [UInt8]
  /// The largest response in bytes.
  package var limit = 256 << 10
  /// The timeout of the whole exchange in seconds.
  package var patience = 10.0

  package init(_ body: [UInt8], of contentType: String, to url: String) {
    self.url = url
    self.contentType = contentType
    self.body = body
  }

  package struct Answer: Hashable, Sendable {
    package let status: Int
    package let body: [UInt8]
  }

  /// Sends the request. Blocks, for at most `patience`; a redirect is a response like any other.
  /// - Parameter mayGoOn: called at least once a second; false ends the exchange.
  package func send(mayGoOn: @escaping () -> Bool = { true }) throws(SpoolError) -> Answer {
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
    if unsafe answer.is_too_long { throw failure("the answer has more than \(limit) bytes") }
    guard code == 0 else {
      let reason = unsafe withUnsafeBytes(of: answer.reason) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw failure(reason)
    }
    return Answer(
      status: unsafe answer.status, body: Array(bytes.prefix(unsafe answer.body_length)))
  }

  private func failure(_ reason: String) -> SpoolError {
    SpoolError("reach", url, reason: reason, cause: .transient)
  }
}

/// The state of libcurl's callbacks, on the calling thread.
private final class Asker {
  let mayGoOn: () -> Bool

  init(_ mayGoOn: @escaping () -> Bool) { self.mayGoOn = mayGoOn }
}
