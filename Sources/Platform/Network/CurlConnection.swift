internal import CCurlLoader

/// A connection through libcurl, which is used again as long as its server keeps it open. The owner
/// gives it to one thread at a time.
@safe struct CurlConnection: ~Copyable {
  private let handle: UnsafeMutableRawPointer

  /// What describes one exchange.
  enum Option {
    case number(CURLoption, Int)
    case offset(CURLoption, Int)
    case text(CURLoption, String)
    case list(CURLoption, [String])
    /// Refuses every server with SSH that the file of known hosts does not have with the same key.
    case knownHostsOnly
  }

  /// What is sent.
  enum Body {
    case none
    case bytes([UInt8])
    /// A stretch of an open file.
    case file(CInt, offset: Int, byteCount: Int)

    var byteCount: Int {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.count
      case .file(_, _, let byteCount): byteCount
      }
    }
  }

  /// How an exchange ended.
  struct Outcome {
    var code = CURLE_OK
    /// The status code of HTTP; 0 if there was none.
    var status = 0
    var header: [UInt8] = []
    var body: [UInt8] = []
    var isHeaderTooLong = false
    var isBodyTooLong = false
    var isFileShort = false
    var wasEnded = false
    /// Seconds since 1970, and bytes; -1 if unknown.
    var fileTime = -1
    var fileLength = -1
    /// Why there was no answer, in libcurl's words.
    var reason = ""

    /// Whether no connection could be made: the server, or the way to it, is away.
    var isAway: Bool {
      let codes = [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY]
      return codes.contains(code)
    }
  }

  /// What helps where no connection can be made.
  static let awayAdvice = "check that the server runs, and its address and port"

  init() throws(SpoolError) {
    var reason = [CChar](repeating: 0, count: Int(spool_curl_reason_size))
    guard let handle = unsafe spool_curl_open(&reason) else {
      let words = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw SpoolError(
        "cannot use libcurl", reason: String(decoding: words, as: UTF8.self),
        advice: "install it: Debian calls it libcurl4", cause: .environment)
    }
    unsafe self.handle = handle
  }

  deinit { unsafe spool_curl_close(handle) }

  /// Makes one exchange. Blocks.
  /// - Parameters:
  ///   - bodyLimit: the largest body in bytes that `take` does not take.
  ///   - take: takes the body of a success; false ends the exchange.
  ///   - mayGoOn: called at least once a second, with the bytes that were sent; false ends it.
  mutating func perform(
    _ options: [Option], sending body: Body, headerLimit: Int, bodyLimit: Int,
    take: ((RawSpan) -> Bool)?, mayGoOn: (Int) -> Bool
  ) -> Outcome {
    withoutActuallyEscaping(mayGoOn) { mayGoOn in
      let listener = Listener(take: take, mayGoOn: mayGoOn)
      return withExtendedLifetime(listener) {
        perform(options, body, headerLimit, bodyLimit, listener)
      }
    }
  }

  private func perform(
    _ options: [Option], _ body: Body, _ headerLimit: Int, _ bodyLimit: Int, _ listener: Listener
  ) -> Outcome {
    var outcome = Outcome()
    var lists: [OpaqueList] = []
    defer { for list in lists { unsafe spool_curl_free(list.pointer) } }
    unsafe spool_curl_reset(handle)
    outcome.code = set(options, &lists)
    guard outcome.code == CURLE_OK else {
      outcome.reason = "libcurl lacks an option that is needed"
      return outcome
    }
    outcome.header = [UInt8](repeating: 0, count: headerLimit)
    outcome.body = [UInt8](repeating: 0, count: bodyLimit)
    var exchange = unsafe spool_exchange()
    unsafe exchange.context = Unmanaged.passUnretained(listener).toOpaque()
    unsafe exchange.may_go_on = { context, sent in
      guard let context = unsafe context else { return true }
      return unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        .mayGoOn(Int(sent))
    }
    if listener.take != nil {
      unsafe exchange.take = { context, bytes, count in
        guard let context = unsafe context else { return true }
        let listener = unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return unsafe listener.take?(buffer.bytes) ?? true
      }
    }
    var memory: [UInt8] = []
    switch body {
    case .none: break
    case .bytes(let bytes): memory = bytes
    case .file(let file, let offset, _):
      unsafe exchange.sent_file = file
      unsafe exchange.sent_offset = Int64(offset)
    }
    unsafe exchange.sent_length = Int64(body.byteCount)
    unsafe memory.withUnsafeBufferPointer { memory in
      unsafe outcome.header.withUnsafeMutableBufferPointer { header in
        unsafe outcome.body.withUnsafeMutableBufferPointer { room in
          if case .file = body {} else { unsafe exchange.sent = memory.baseAddress }
          unsafe exchange.header = header.baseAddress
          unsafe exchange.header_capacity = header.count
          unsafe exchange.body = room.baseAddress
          unsafe exchange.body_capacity = room.count
          outcome.code = unsafe spool_curl_perform(handle, &exchange)
        }
      }
    }
    unsafe outcome.fill(from: exchange)
    return outcome
  }

  private func set(_ options: [Option], _ lists: inout [OpaqueList]) -> CURLcode {
    for option in options {
      let code =
        switch option {
        case .number(let option, let value): unsafe spool_curl_set_number(handle, option, value)
        case .offset(let option, let value):
          unsafe spool_curl_set_offset(handle, option, Int64(value))
        case .text(let option, let text): unsafe spool_curl_set_text(handle, option, text)
        case .list(let option, let lines): setList(option, lines, &lists)
        case .knownHostsOnly: unsafe spool_curl_trust_known_hosts_only(handle)
        }
      guard code == CURLE_OK else { return code }
    }
    return CURLE_OK
  }

  private func setList(
    _ option: CURLoption, _ lines: [String], _ lists: inout [OpaqueList]
  ) -> CURLcode {
    var list = OpaqueList()
    for line in lines {
      guard let longer = unsafe spool_curl_append(list.pointer, line) else {
        unsafe spool_curl_free(list.pointer)
        return CURLE_OUT_OF_MEMORY
      }
      unsafe list.pointer = longer
    }
    lists.append(list)
    return unsafe spool_curl_set_list(handle, option, list.pointer)
  }

  /// A list of libcurl's, which this file frees after the exchange.
  @safe private struct OpaqueList {
    var pointer: UnsafeMutablePointer<curl_slist>?
  }

  /// The state of libcurl's callbacks, on the calling thread.
  private final class Listener {
    let take: ((RawSpan) -> Bool)?
    let mayGoOn: (Int) -> Bool

    init(take: ((RawSpan) -> Bool)?, mayGoOn: @escaping (Int) -> Bool) {
      self.take = take
      self.mayGoOn = mayGoOn
    }
  }
}

extension CurlConnection.Outcome {
  fileprivate mutating func fill(from exchange: spool_exchange) {
    header.removeLast(unsafe header.count - exchange.header_length)
    body.removeLast(unsafe body.count - exchange.body_length)
    status = unsafe exchange.status
    isHeaderTooLong = unsafe exchange.is_header_too_long
    isBodyTooLong = unsafe exchange.is_body_too_long
    isFileShort = unsafe exchange.is_file_short
    wasEnded = unsafe exchange.was_ended
    fileTime = unsafe Int(exchange.file_time)
    fileLength = unsafe Int(exchange.file_length)
    reason = unsafe withUnsafeBytes(of: exchange.reason) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
