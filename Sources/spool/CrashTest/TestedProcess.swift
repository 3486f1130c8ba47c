import FoundationEssentials
import Glibc
import Platform

extension KillTest {
  /// One start of the run in a child process, with timed reports.
  ///
  /// The waiting thread itself reads and times the lines, without a queue between the pipe and the
  /// clock. Dropping the object kills the process.
  final class TestedProcess {
    /// How a process ended.
    enum Ending: Equatable {
      /// It exited with this code.
      case exited(Int32)
      /// By a signal.
      case signalled(Int32)
    }

    /// Why waiting ended.
    enum Wake: Equatable {
      case ended
      case timedOut
      case stopped
    }

    /// Maximum sleep in milliseconds, which bounds the reaction to a stop request.
    private static let nap = 50.0

    private(set) var trace = Trace()
    private let process: pid_t
    private let output: Int32
    private let beginning = ContinuousClock.now
    private var line: [UInt8] = []
    private var ending: Ending?

    /// Starts a command; `environment` is added to this process's own.
    init(_ command: [String], errors: String, environment: [String: String]) throws(SpoolError) {
      var ends: [Int32] = [0, 0]
      guard unsafe pipe(&ends) == 0 else { throw .system("start", command[0]) }
      output = ends[0]
      // Other children must not inherit either end: a pipe ends when its last writer closes it.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(output, F_SETFL, O_NONBLOCK)
      defer { close(ends[1]) }
      do throws(SystemError) {
        process = try SpawnedProcess(
          command, passing: [],
          variables: Self.inherited(but: environment.keys)
            + environment.map { "\($0)=\($1)" },
          output: ends[1], errors: errors
        ).number
      } catch {
        close(output)
        throw .system("start", command[0], error)
      }
    }

    deinit {
      if ending == nil { kill() }
      close(output)
    }

    /// Total processor time in seconds, set once it has ended.
    private(set) var processorSeconds = 0.0

    /// Seconds since the start.
    var age: Double { beginning.duration(to: .now) / .seconds(1) }

    /// Reads reports until the process ends, is `limit` seconds old, or `shouldStop` returns true.
    func watch(untilAge limit: Double, shouldStop: () -> Bool) -> Wake {
      while true {
        if readAll() || hasEnded() { return .ended }
        if shouldStop() { return .stopped }
        let rest = (limit - age) * 1000
        if rest <= 0 { return .timedOut }
        var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        // Short rests are busy-waited, so that kills do not fall on whole milliseconds.
        if rest < 1 {
          usleep(UInt32(rest * 1000))
        } else {
          _ = unsafe Glibc.poll(&poll, 1, Int32(min(Self.nap, rest.rounded(.down))))
        }
      }
    }

    /// How long a process that was asked to end may take, in seconds.
    private static let mostToEnd = 60.0

    /// Kills it with a signal if it still runs, and reads its remaining reports.
    /// - Parameter signal: SIGKILL, or another one that asks it to end; where that has no effect within a
    ///   minute, SIGKILL follows.
    /// - Returns: how it ended, which may have been before the kill.
    @discardableResult
    func kill(_ signal: Int32 = SIGKILL) -> Ending {
      if ending == nil { Glibc.kill(process, signal) }
      if signal != SIGKILL, watch(untilAge: age + Self.mostToEnd, shouldStop: { false }) != .ended {
        Glibc.kill(process, SIGKILL)
      }
      return end()
    }

    /// Waits for its end and reads its remaining reports.
    func end() -> Ending {
      while true {
        if let ending { return ending }
        var status: Int32 = 0
        var usage = rusage()
        let number = unsafe wait4(process, &status, 0, &usage)
        if number == process || errno != EINTR { record(status, usage) }
      }
    }

    /// Whether it has ended. Its output may stay open if it started other processes.
    private func hasEnded() -> Bool {
      var status: Int32 = 0
      var usage = rusage()
      guard unsafe wait4(process, &status, WNOHANG, &usage) == process else { return false }
      record(status, usage)
      return true
    }

    private func record(_ status: Int32, _ usage: rusage) {
      _ = readAll()
      let times: [timeval] = [usage.ru_utime, usage.ru_stime]
      let microseconds: [Double] = times.map { Double($0.tv_sec * 1_000_000 + $0.tv_usec) }
      processorSeconds = microseconds.reduce(0, +) / 1e6
      // Glibc's macros (WIFEXITED, WEXITSTATUS, WTERMSIG) are not imported.
      let signal = status & 0x7F
      ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Reads all available output.
    /// - Returns: whether the end was reached.
    private func readAll() -> Bool {
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = unsafe read(output, &piece, piece.count)
        if count > 0 {
          take(piece[..<count])
        } else if count == 0 {
          return true
        } else if errno != EINTR {
          return errno != EAGAIN
        }
      }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
      let now = age
      var rest = bytes
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line += rest[..<end]
        if let report = Report(line: line) { trace.record(report, at: now) }
        line.removeAll(keepingCapacity: true)
        rest = rest[(end + 1)...]
      }
      line += rest
    }
  }
}

extension KillTest.TestedProcess {
  /// This process's variables as `NAME=value`.
  private static func inherited(but names: some Collection<String>) -> [String] {
    var list: [String] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if !names.contains(where: { text.hasPrefix($0 + "=") }) { list.append(text) }
      unsafe next += 1
    }
    return list
  }
}

/// The run under test: a program and the arguments of `spool run`.
struct TestedRun: Sendable {
  private let program: [String]
  private let words: [String]

  /// - Parameters:
  ///   - program: the program's absolute path and the words before `run`. `/proc/self/exe` is the
  ///     running program, even if its file was replaced.
  ///   - pipeline: the pipeline's file.
  ///   - inputs: the recordings as arguments of `spool run`.
  ///   - overrides: values of `--set`: `name=value`.
  init(
    program: [String] = ["/proc/self/exe"], pipeline: String, inputs: [String], overrides: [String]
  ) {
    self.program = program
    words = ["run", pipeline] + inputs + overrides.flatMap { ["--set", $0] } + ["--json"]
  }

  /// The command line for a scratch store; its first word is the program.
  func commandLine(in place: ScratchStore) -> [String] {
    program + words + ["--store", place.store, "--out", place.out]
  }
}

/// A folder with a store and an output folder, in which one run is started until it is done.
struct ScratchStore: Sendable {
  let path: String

  var store: String { path + "/store" }
  var out: String { path + "/out" }
  /// The keys that sign receipts: one folder for all scratch stores, so that all runs use the same
  /// key and the user's keys are untouched.
  var keys: String { path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex) + "/keys" }
  /// The file of the run's standard error.
  var errors: String { path + "/errors" }

  init(at path: String) throws(SpoolError) {
    self.path = path
    do throws(SystemError) { try FileOperations.system.makeFolder(path, mode: 0o700) } catch {
      throw .system("make the folder", path, error)
    }
  }

  /// Makes a uniquely named folder in `folder`, accessible to its owner only.
  static func makeRoot(inFolder folder: String) throws(SpoolError) -> String {
    do throws(SystemError) {
      return try FileOperations.uncounted.makeUniqueFolder("\(folder)/spool-crashtest-")
    } catch { throw .system("make a folder in", folder, error) }
  }

  /// Deletes a folder recursively.
  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// The files in the output folder, sorted by name; empty if there is no folder. Excludes
  /// receipts, which contain the run and the time, with their folder.
  func outputs() -> [(name: String, path: String)] {
    FilePath.names(in: out).filter { !$0.hasSuffix(".receipt.json") }.map { ($0, "\(out)/\($0)") }
      .filter { (try? FileStamp(at: $0.path))?.isFolder != true }
  }

  /// The last start's standard error: the parts of an error, or else all of it in one line.
  var complaint: (reason: String, advice: String?) {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: errors)) else { return ("", nil) }
    return Self.complaint(in: String(decoding: data, as: UTF8.self))
  }

  /// Splits an error as commands print it.
  static func complaint(in text: String) -> (reason: String, advice: String?) {
    var reasons: [String] = []
    var advice: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ":", maxSplits: 1)
      let rest = parts.count == 2 ? parts[1].drop(while: \.isWhitespace) : line
      switch parts.first {
      case "error", "why": reasons.append(String(rest))
      case "help": advice = String(rest)
      default: reasons.append(String(line.drop(while: \.isWhitespace)))
      }
    }
    return (reasons.joined(separator: ": "), advice)
  }
}
