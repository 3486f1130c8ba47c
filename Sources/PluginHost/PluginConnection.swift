import Glibc
import PipelineModel

/// Messages to and from a program. Writing and reading go on at the same time, so that neither side
/// ever waits for the other to empty a pipe.
struct PluginConnection: ~Copyable {
  /// The end of what the program complained of.
  private(set) var complaints = ComplaintTail()

  private let process: PluginProcess
  private var outgoing: [OutgoingMessage] = []
  private var incoming = MessageBuffer()
  private var isAtEnd = false
  private var isComplaining = true

  /// Why there is no message.
  enum Trouble: Error {
    /// The program has closed its output.
    case ended
    /// Nothing came in time.
    case late
    /// What came is no message.
    case garbage(MessageBuffer.Garbage)
    /// The user asked to stop.
    case stopped(StageError)
  }

  init(_ process: PluginProcess) { self.process = process }

  /// Sends a message: what the pipe takes goes now, and the rest while messages are waited for.
  mutating func send(_ message: PluginMessage) {
    outgoing.append(OutgoingMessage(message))
    write()
  }

  /// The next message. Sends what is in line meanwhile, and blocks until then.
  /// - Parameters:
  ///   - deadline: until when that may take.
  ///   - check: asked several times a second whether to go on.
  mutating func receive(
    by deadline: ContinuousClock.Instant, check: () throws(StageError) -> Void
  ) throws(Trouble) -> PluginMessage {
    while true {
      if let message = try next() { return message }
      if isAtEnd { throw .ended }
      guard ContinuousClock.now < deadline else { throw .late }
      do throws(StageError) { try check() } catch { throw .stopped(error) }
      move()
    }
  }

  /// Takes in what the program has complained by now.
  mutating func drainComplaints() { complaints.drain(process.complaints) }

  private mutating func next() throws(Trouble) -> PluginMessage? {
    do throws(MessageBuffer.Garbage) {
      if let message = try incoming.next() { return message }
    } catch { throw .garbage(error) }
    if isAtEnd, !incoming.isEmpty { throw .garbage(incoming.rest) }
    return nil
  }

  /// Waits a moment until something can be read or written, and does that.
  private mutating func move() {
    var ends = [
      pollfd(fd: process.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: process.complaints, events: Int16(POLLIN), revents: 0),
      pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0),
    ]
    // A program that has closed its standard error is not asked again and again.
    if !isComplaining { ends[1].fd = -1 }
    let isSending = !outgoing.isEmpty && process.input >= 0
    guard unsafe poll(&ends, isSending ? 3 : 2, 200) > 0 else { return }
    if ends[1].revents != 0 { isComplaining = complaints.drain(process.complaints) }
    if isSending, ends[2].revents != 0 { write() }
    if ends[0].revents != 0, incoming.fill(from: process.output) == 0 { isAtEnd = true }
  }

  private mutating func write() {
    while !outgoing.isEmpty {
      guard outgoing[0].write(to: process.input) < 0 || outgoing[0].isSent else { continue }
      if outgoing[0].isSent {
        outgoing.removeFirst()
      } else if errno == EAGAIN || errno == EINTR {
        return
      } else {
        // It reads no more: what it says, or its end, tells why.
        outgoing.removeAll()
        process.closeInput()
      }
    }
  }
}
