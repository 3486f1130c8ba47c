internal import CConfinement
internal import CLibAVLoader
import Glibc
import Platform
import Synchronization

/// Processes without files, network and other processes, each of which reads one recording.
///
/// libavformat and libavcodec parse bytes of unknown origin. A process that has opened them
/// forks a confined one for every file, so that what a file does to them stays without effect on
/// other recordings, and a crash is the failure of one of them. Files that Spool wrote itself need none.
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

  /// What confines a process besides its limits.
  struct Layers: OptionSet, Hashable, Sendable {
    let rawValue: Int32

    static let landlock = Layers(rawValue: Int32(confinement_landlock))
    static let filter = Layers(rawValue: Int32(confinement_filter))
    static let all: Layers = [.landlock, .filter]
  }

  /// How long a process may take.
  struct Patience: Hashable, Sendable {
    /// The processor time that an answer or the next sound may take, in seconds.
    var processing = 30
    /// The time in which an answer must come, in seconds. A disk may be slow and the machine busy.
    var waiting = 900
    /// The time in which the process that forks the others must be ready, in seconds.
    var starting = 900
  }

  private let program: String
  private let layers: Layers
  let patience: Patience
  private let warn: @Sendable (String) -> Void
  private let origin = Mutex<Origin?>(nil)
  private let hasWarned = Mutex(false)
  private let answers = Mutex(KnownAnswers())

  /// - Parameters:
  ///   - program: Spool's executable.
  ///   - warn: reports, once, what the kernel lacks.
  package convenience init(
    program: String = "/proc/self/exe", warn: @Sendable @escaping (String) -> Void = { _ in }
  ) {
    self.init(program: program, layers: .all, patience: Patience(), warn: warn)
  }

  init(
    program: String, layers: Layers = .all, patience: Patience = Patience(),
    warn: @Sendable @escaping (String) -> Void = { _ in }
  ) {
    self.program = program
    self.layers = layers
    self.patience = patience
    self.warn = warn
  }

  // A process that has ended stays in the kernel's list until its parent asks for it.
  deinit { originNumber.map { SpawnedProcess(number: $0).end() } }

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
    try pair.here.limitWaiting(to: patience.starting)
    let process = try SpawnedProcess(
      [program, Self.word, "\(pair.there.descriptor):\(layers.rawValue)"],
      passing: [pair.there.descriptor],
      // No secret of the user's.
      variables: unsafe getenv("LD_LIBRARY_PATH").map {
        ["LD_LIBRARY_PATH=\(unsafe String(cString: $0))"]
      } ?? [])
    return Origin(requests: pair.keep(), process: process)
  }

  /// A socket to a new process.
  func makeProcess() throws(SystemError) -> MessageSocket {
    let descriptor = try origin.withLock { (origin) throws(SystemError) in
      if origin != nil {
        do throws(SystemError) { return try ask(&origin) } catch {
          if origin != nil { throw error }
          // The process was killed, as where memory runs out: another one takes its place.
        }
      }
      origin = try start()
      return try ask(&origin)
    }
    let socket = MessageSocket(descriptor: descriptor)
    try socket.limitWaiting(to: patience.waiting)
    return socket
  }

  /// Asks the process that forks the others for one; takes it away where it does not answer.
  private func ask(_ origin: inout Origin?) throws(SystemError) -> CInt {
    guard var asked = origin.take() else { throw SystemError(EPIPE) }
    let (answer, files): ([UInt8], [CInt])
    do throws(SystemError) {
      if !asked.isReported {
        let report = try asked.requests.receive(2).bytes
        guard report.count == 2 else { throw SystemError(EPIPE) }
        asked.isReported = true
        self.report(lacking: Self.lack(hasLandlock: report[0] != 0, isFiltered: report[1] != 0))
      }
      try asked.requests.send([0])
      (answer, files) = try asked.requests.receive(1, fileLimit: 1)
      guard !answer.isEmpty else { throw SystemError(EPIPE) }
    } catch {
      asked.process.end()
      throw error.code == EAGAIN ? SystemError(ETIMEDOUT) : error
    }
    origin = consume asked
    guard let descriptor = files.first else { throw SystemError(CInt(answer[0])) }
    return descriptor
  }

  private func report(lacking lack: String?) {
    guard let lack else { return }
    let isFirst = hasWarned.withLock { (hasWarned) in
      defer { hasWarned = true }
      return !hasWarned
    }
    if isFirst { warn(lack) }
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

  /// Asks a new process for the properties of a recording, or none where it has not changed since.
  func describe(_ recording: SourceFile) throws(SpoolError) -> MediaDescription {
    let key = ReadFile(recording, for: .describe)
    if let key, let known = known(key, as: MediaDescription.self) { return known }
    let description: MediaDescription = try answer(.describe, about: recording)
    if let key { remember(description, of: key) }
    return description
  }

  /// What was answered about this version of a file.
  func known<Answer: Transferable>(_ key: ReadFile, as type: Answer.Type) -> Answer? {
    answers.withLock { $0.bytes(key) }.flatMap { (bytes) in
      var reader = ByteReader(bytes[...])
      return Answer(from: &reader)
    }
  }

  /// Keeps what was answered about a version of a file.
  func remember(_ answer: some Transferable, of key: ReadFile) {
    var bytes: [UInt8] = []
    answer.append(to: &bytes)
    answers.withLock { $0.add(bytes, key) }
  }

  /// Keeps a process that was not asked for sound for the next decoder of the same recording.
  func keepSpare(_ process: ConfinedSound, of key: ReadFile) {
    answers.withLock { $0.keep(process, key) }
  }

  /// A process that was kept.
  func takeSpare(_ key: ReadFile) -> ConfinedSound? { answers.withLock { $0.take(key) } }
}

/// A version of a file, and what was asked about it.
struct ReadFile: Hashable {
  private let file: SourceFile
  private let task: ReaderRequest.Task
  private let stamp: FileStamp

  /// Nil where the next change may have the same time.
  init?(_ file: SourceFile, for task: ReaderRequest.Task) {
    guard let stamp = try? FileStamp(following: file.path),
      stamp.settlingTime(at: Clock.now()) == 0
    else { return nil }
    (self.file, self.task, self.stamp) = (file, task, stamp)
  }
}

/// What was last answered about recordings: several parts of Spool ask the same.
private struct KnownAnswers {
  /// How many there are at most, and the bytes of one.
  static let mostCount = 1024
  static let mostByteCount = 16 << 10
  static let mostProcesses = 4

  private var known: [ReadFile: [UInt8]] = [:]
  private var processes: [(key: ReadFile, process: ConfinedSound)] = []

  func bytes(_ key: ReadFile) -> [UInt8]? { known[key] }

  /// Keeps an answer, unless it is large.
  mutating func add(_ answer: [UInt8], _ key: ReadFile) {
    guard answer.count <= Self.mostByteCount else { return }
    if known.count >= Self.mostCount { known = [:] }
    known[key] = answer
  }

  mutating func keep(_ process: ConfinedSound, _ key: ReadFile) {
    if processes.count >= Self.mostProcesses { processes.removeFirst() }
    processes.append((key, process))
  }

  mutating func take(_ key: ReadFile) -> ConfinedSound? {
    processes.firstIndex { $0.key == key }.map { processes.remove(at: $0).process }
  }
}

extension MediaSandbox {
  /// Forks confined processes until `argument`, a socket, is closed at its other end.
  /// - Returns: the exit code; nil for an argument that is no descriptor.
  package static func serve(_ argument: String) -> Int32? {
    let numbers = argument.split(separator: ":").map { CInt($0) }
    guard numbers.count == 2, let requests = numbers[0], let layers = numbers[1] else { return nil }
    // Without the libraries every request has the reason as its answer.
    if spool_libav_load(nil, 0) == 0 { ConfinedService.rehearse() }
    let socket = confinement_fork_readers(requests, layers)
    if socket >= 0 {
      var service = ConfinedService(MessageSocket(descriptor: socket))
      service.serve()
    }
    // The libraries' own ends need more than the process may do.
    _exit(0)
  }
}
