internal import CConfinement
internal import CLibAVLoader
import Glibc
import Platform
import Synchronization

/// Processes without files, network and other processes, each of which reads one recording.
///
/// libavformat and libavcodec parse bytes that anybody may have written. A process that has opened them
/// forks a confined one for every file, so that what a file does to them stays without effect on
/// other recordings, and a crash is the failure of one of them.
package final class MediaSandbox: Sendable {
  /// The argument that starts the process which forks the others.
  package static let word = "read-recordings-confined"

  /// What all of this process's decoders and probes use; nil reads recordings in this process.
  package static var current: MediaSandbox? { shared.withLock { $0 } }

  /// Decides for this process, before the first recording is read.
  package static func use(_ sandbox: MediaSandbox?) { shared.withLock { $0 = sandbox } }

  private static let shared = Mutex<MediaSandbox?>(nil)

  /// The process that forks the others.
  private struct Origin: ~Copyable {
    let requests: MessageSocket
    let process: SpawnedProcess
    /// Whether it was asked what is in force.
    var isReported = false
  }

  private let program: String
  private let warn: @Sendable (String) -> Void
  private let origin = Mutex<Origin?>(nil)

  /// - Parameters:
  ///   - program: Spool's executable.
  ///   - warn: reports, once, what the kernel lacks.
  package init(
    program: String = "/proc/self/exe", warn: @Sendable @escaping (String) -> Void = { _ in }
  ) {
    self.program = program
    self.warn = warn
  }

  /// Starts the process that forks the others, which opens the libraries meanwhile.
  package func begin() {
    // Where it cannot be started, the first recording has the error.
    origin.withLock { (origin) in
      if origin == nil { origin = try? start() }
    }
  }

  /// The number of the process that forks the others; nil before it is needed.
  var originNumber: Int32? {
    origin.withLock { (origin) in
      if let number = origin?.process.number { number } else { nil }
    }
  }

  private func start() throws(SystemError) -> Origin {
    let pair = try MessageSocket.pair()
    let process = try SpawnedProcess(
      [program, Self.word, "\(pair.there.descriptor)"], passing: [pair.there.descriptor],
      // No secret of the user's.
      variables: unsafe getenv("LD_LIBRARY_PATH").map {
        ["LD_LIBRARY_PATH=\(unsafe String(cString: $0))"]
      } ?? [])
    return Origin(requests: pair.keep(), process: process)
  }

  /// Has a process forked that owns the other end of a socket.
  func makeProcess() throws(SystemError) -> MessageSocket {
    let pair = try MessageSocket.pair()
    let theirs = pair.there.descriptor
    try origin.withLock { (origin) throws(SystemError) in
      if origin != nil, (try? ask(&origin, theirs)) != nil { return }
      // The process was killed, as where memory runs out: another one takes its place.
      if let ended = origin.take() { ended.process.wait() }
      origin = try start()
      try ask(&origin, theirs)
    }
    return pair.keep()
  }

  private func ask(_ origin: inout Origin?, _ end: CInt) throws(SystemError) {
    guard var asked = origin.take() else { throw SystemError(ESRCH) }
    if !asked.isReported {
      let report = try asked.requests.receive(2).bytes
      guard report.count == 2 else { throw SystemError(EPIPE) }
      asked.isReported = true
      if let lack = Self.lack(hasLandlock: report[0] != 0, isFiltered: report[1] != 0) {
        warn(lack)
      }
    }
    try asked.requests.send([0], files: [end])
    origin = consume asked
  }

  /// What of the confinement is missing; nil if nothing is.
  static func lack(hasLandlock: Bool, isFiltered: Bool) -> String? {
    switch (hasLandlock, isFiltered) {
    case (true, true): nil
    case (false, true):
      "the kernel has no Landlock, or it is off: recordings are decoded behind the filter of system "
        + "calls alone"
    case (true, false):
      "libseccomp cannot be used: recordings are decoded behind Landlock alone; install libseccomp2"
    case (false, false):
      "neither Landlock nor libseccomp can be used: recordings are decoded in processes of their own "
        + "that have limits, and nothing else confines them; install libseccomp2"
    }
  }

  /// Asks a new process about a recording.
  func answer<Answer: Transferable>(
    _ task: ReaderRequest.Task, about recording: SourceFile
  ) throws(SpoolError) -> Answer {
    try ConfinedReader(recording, for: task, in: self).result()
  }
}

extension MediaSandbox {
  /// Forks confined processes until `argument`, a socket, is closed at its other end.
  /// - Returns: the exit code; nil for an argument that is no descriptor.
  package static func serve(_ argument: String) -> Int32? {
    guard let requests = CInt(argument) else { return nil }
    // Without the libraries every request has the reason as its answer.
    _ = spool_libav_load(nil, 0)
    let socket = confinement_fork_readers(requests)
    if socket >= 0 { ConfinedService(MessageSocket(descriptor: socket)).serve() }
    // The libraries' own ends need more than the process may do.
    _exit(0)
  }
}
