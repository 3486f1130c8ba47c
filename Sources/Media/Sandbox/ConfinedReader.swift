internal import CLibAVLoader
import Glibc
import Platform

/// A confined process that reads one recording; it ends with this value.
final class ConfinedReader: Sendable {
  let path: String
  let byteCount: Int
  private let socket: MessageSocket
  private let patience: MediaSandbox.Patience

  /// Has a process begin a task.
  /// - Parameter memory: what both processes write sound into and read it from.
  init(
    _ recording: SourceFile, for task: ReaderRequest.Task, sharing memory: SharedMemory? = nil,
    in sandbox: MediaSandbox
  ) throws(SpoolError) {
    let file = try InputFile.open(recording.path)
    (path, byteCount) = (recording.path, file.byteCount + file.unwrittenByteCount)
    patience = sandbox.patience
    var request: [UInt8] = []
    ReaderRequest(
      task, name: recording.title, byteCount: byteCount, patience: sandbox.patience.processing
    ).append(to: &request)
    do throws(SystemError) {
      socket = try sandbox.makeProcess()
      try socket.send(request, files: [file.descriptor] + (memory.map { [$0.descriptor] } ?? []))
    } catch {
      throw SpoolError(
        "start the process that reads", path, error,
        advice: error.advice
          ?? "try again; \(option: .noSandbox) decodes it in Spool's own process",
        cause: .transient)
    }
  }

  /// Takes a socket to a process that reads a file of that length.
  init(_ socket: consuming MessageSocket, path: String, byteCount: Int) {
    (self.path, self.byteCount) = (path, byteCount)
    patience = MediaSandbox.Patience()
    self.socket = socket
  }

  /// Waits for an answer.
  func result<Value: Transferable>() throws(SpoolError) -> Value {
    let answer: TransferredResult<Value> = try value()
    do { return try answer.result.get() } catch { throw named(error) }
  }

  /// Waits for a value.
  func value<Value: Transferable>() throws(SpoolError) -> Value {
    let bytes = try receive()
    var reader = ByteReader(bytes[...])
    guard let value = Value(from: &reader), reader.isAtEnd else { throw strange }
    return value
  }

  /// Tells the process that it may fill `count` more slots.
  func grant(_ count: Int) {
    // Where it has ended, its last message says why.
    try? socket.send([UInt8(count)])
  }

  /// The error with the recording's path, which the process does not know.
  func named(_ error: SpoolError) -> SpoolError {
    SpoolError(error, naming: path)
  }

  /// What a process that was taken over may send.
  var strange: SpoolError {
    failure("the decoder gave an answer that cannot be", Self.advice)
  }

  private func receive() throws(SpoolError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let message: [UInt8]
      do throws(SystemError) {
        message = try socket.receive(SplitMessage.partLimit).bytes
      } catch {
        guard error.code == EAGAIN else { throw strange }
        throw failure(
          "the decoder was stopped: it gave no answer for \(patience.waiting) s", Self.advice)
      }
      switch message.first.map({ SplitMessage.Kind(rawValue: $0) }) {
      case .part, .last:
        bytes += message.dropFirst()
        guard bytes.count <= SplitMessage.byteLimit else {
          throw failure("it has more tags and pictures than 64 MB", Self.advice)
        }
        if message[0] == SplitMessage.Kind.last.rawValue { return bytes }
      case .ended: throw ending(byValue: message.dropFirst().first ?? 0)
      case .none where message.isEmpty:
        throw SpoolError(
          "read", path, reason: "the process that starts decoders was killed",
          advice: "try again when the machine has more memory", cause: .transient)
      case .none, .some(nil): throw strange
      }
    }
  }

  /// Why the process ended without an answer.
  private func ending(byValue signal: UInt8) -> SpoolError {
    switch CInt(signal) {
    case SIGPROF, SIGXCPU:
      failure(
        "the decoder was stopped: it took \(patience.processing) s of processor time without "
          + "getting on", Self.advice)
    case 0: failure("the decoder ended while reading it", Self.advice)
    case SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU:
      failure("the decoder was suspended (signal \(signal)) while reading it", Self.advice)
    case SIGKILL:
      failure(
        "the decoder was killed (signal 9) while reading it, as where memory runs out", Self.advice)
    default: failure("the decoder crashed (signal \(signal)) while reading it", Self.advice)
    }
  }

  private func failure(_ reason: String, _ advice: String) -> SpoolError {
    SpoolError("decode", path, reason: reason, advice: advice, cause: .input)
  }

  private static let advice =
    "copy it again from where it came from, or convert it with the program that made it"
}

extension SpoolError {
  /// An error of a confined process, with the path that it does not know.
  init(_ error: SpoolError, naming path: String) {
    self = error
    if subject != nil { subject = path }
  }
}

/// How messages that may be long pass through a socket.
enum SplitMessage {
  /// The first byte of each part.
  enum Kind: UInt8 {
    case part
    case last
    /// The process has ended, as the one that forked it says; the number of the signal follows, or 0.
    case ended
  }

  /// The longest part, with its first byte.
  static let partLimit = 1 << 15
  /// The longest message.
  static let byteLimit = 64 << 20

  /// Sends a message in parts.
  static func send(
    _ value: some Transferable, to socket: borrowing MessageSocket
  ) throws(SystemError) {
    var bytes: [UInt8] = []
    value.append(to: &bytes)
    var start = 0
    repeat {
      let end = min(bytes.count, start + partLimit - 1)
      let kind: Kind = end == bytes.count ? .last : .part
      try socket.send([kind.rawValue] + bytes[start..<end])
      start = end
    } while start < bytes.count
  }
}
