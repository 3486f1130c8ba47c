import Glibc
import JSONText
import PipelineModel

/// Messages to and from a program. Writing and reading go on at the same time, so that neither side
/// ever waits for the other to empty a pipe.
struct PluginConnection: ~Copyable {
  private let process: PluginProcess
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var incoming: [UInt8] = []
  /// Where the next message begins in `incoming`.
  private var position = 0
  private var isAtEnd = false
  private var complaints: [UInt8] = []
  private static let keptComplaints = 8192
  private static let portion = 1 << 18

  /// Why there is no message.
  enum Trouble: Error {
    /// The program has closed its output.
    case ended
    /// Nothing came in time.
    case late
    /// What came is no message.
    case garbage(String)
    /// The user asked to stop.
    case stopped(StageError)
  }

  init(_ process: PluginProcess) { self.process = process }

  /// Puts a message in line.
  mutating func send(_ message: PluginMessage) {
    outgoing += message.line
    outgoing += message.payload
  }

  /// The next message. Sends what is in line meanwhile, and blocks until then.
  /// - Parameters:
  ///   - limit: how long that may take.
  ///   - check: asked several times a second whether to go on.
  mutating func receive(
    within limit: Duration, check: () throws(StageError) -> Void
  ) throws(Trouble) -> PluginMessage {
    let deadline = ContinuousClock.now + limit
    while true {
      if let message = try next() { return message }
      if isAtEnd { throw .ended }
      guard ContinuousClock.now < deadline else { throw .late }
      do throws(StageError) { try check() } catch { throw .stopped(error) }
      move()
    }
  }

  /// The end of what the program wrote to its standard error, as lines.
  mutating func complaintLines() -> [String] {
    drainComplaints()
    return String(decoding: complaints, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Waits a moment until something can be read or written, and does that.
  private mutating func move() {
    var ends = [
      pollfd(fd: process.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: process.complaints, events: Int16(POLLIN), revents: 0),
      pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0),
    ]
    let isSending = sent < outgoing.count && process.input >= 0
    guard unsafe poll(&ends, isSending ? 3 : 2, 200) > 0 else { return }
    if ends[1].revents != 0 { drainComplaints() }
    if isSending, ends[2].revents != 0 { write() }
    if ends[0].revents != 0 { read() }
  }

  private mutating func write() {
    let count = unsafe outgoing.withUnsafeBytes { bytes -> Int in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe Glibc.write(process.input, start + sent, bytes.count - sent)
    }
    if count > 0 {
      sent += count
      if sent == outgoing.count {
        outgoing.removeAll(keepingCapacity: true)
        sent = 0
      }
    } else if errno != EAGAIN, errno != EINTR {
      // It reads no more: what it says, or its end, tells why.
      outgoing.removeAll()
      sent = 0
      process.closeInput()
    }
  }

  private mutating func read() {
    if position > 0, position == incoming.count {
      incoming.removeAll(keepingCapacity: true)
      position = 0
    }
    let count = Self.append(to: &incoming, from: process.output, atMost: Self.portion)
    if count == 0 { isAtEnd = true }
  }

  private mutating func drainComplaints() {
    while Self.append(to: &complaints, from: process.complaints, atMost: 4096) > 0 {
      if complaints.count > 4 * Self.keptComplaints {
        complaints.removeFirst(complaints.count - Self.keptComplaints)
      }
    }
  }

  /// Reads what there is. 0 at the end, negative where nothing is there now.
  private static func append(to bytes: inout [UInt8], from end: Int32, atMost count: Int) -> Int {
    let length = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    let read = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
      guard let start = buffer.baseAddress else { return -1 }
      return unsafe Glibc.read(end, start + length, count)
    }
    bytes.removeLast(count - max(0, read))
    return read
  }

  /// The message that has arrived whole; nil where none has.
  private mutating func next() throws(Trouble) -> PluginMessage? {
    let waiting = incoming[position...]
    guard let end = waiting.prefix(PluginMessage.longestLine).firstIndex(of: 10) else {
      guard waiting.count < PluginMessage.longestLine else { throw .garbage("a line without end") }
      if isAtEnd, !waiting.isEmpty { throw .garbage(Self.shown(waiting)) }
      return nil
    }
    let line = incoming[position..<end]
    guard let members = try? JSONReader.value(of: Array(line), depthLimit: 64).value,
      let type = members["type"]?.text
    else { throw .garbage(Self.shown(line)) }
    let byteCount = members["bytes"]?.integer ?? 0
    guard (0...PluginMessage.mostBytes).contains(byteCount) else {
      throw .garbage("\(byteCount) bytes behind \"\(type)\"")
    }
    guard incoming.count - end - 1 >= byteCount else { return nil }
    let payload = Array(incoming[end + 1..<end + 1 + byteCount])
    position = end + 1 + byteCount
    if position > 1 << 20 {
      incoming.removeFirst(position)
      position = 0
    }
    return PluginMessage(type: type, members: members, payload: payload)
  }

  /// The beginning of what is no message, fit to be shown.
  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes.prefix(60), as: UTF8.self)
    let calm = text.map { $0.isASCII && !($0.asciiValue.map { $0 < 32 } ?? true) ? $0 : "·" }
    return "\"\(String(calm))\(bytes.count > 60 ? "…" : "")\""
  }
}
