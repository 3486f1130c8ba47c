import Glibc

/// What a program writes while it runs: its standard output, kept or put into a file, and the end of
/// its standard error.
struct CommandHearing: ~Copyable {
  let process: PluginProcess
  /// The end of its standard error.
  private(set) var complaints = ComplaintTail()
  /// The beginning of its standard output; empty where that goes into a file.
  private(set) var output: [UInt8] = []
  /// Why the file could not be written; nil where it could.
  private(set) var trouble: String?

  private let most: Int
  private let isFiling: Bool
  private var file: Int32 = -1
  private var count = 0
  private var isTalking = true
  private var isComplaining = true
  private var piece = [UInt8](repeating: 0, count: 1 << 16)

  /// - Parameters:
  ///   - path: where its standard output goes, a new file; nil keeps the beginning of it.
  ///   - most: bytes of it.
  init(_ process: PluginProcess, file path: String?, most: Int) {
    self.process = process
    self.most = most
    isFiling = path != nil
    if let path {
      file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file < 0 { trouble = unsafe String(cString: strerror(errno)) }
    }
  }

  /// Whether it wrote more into the file than it may.
  var isOverfull: Bool { isFiling && count > most }

  /// Waits a moment for what it writes, and takes that.
  mutating func listen() {
    var ends = [
      pollfd(fd: isTalking ? process.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isComplaining ? process.complaints : -1, events: Int16(POLLIN), revents: 0),
    ]
    // Nobody tells of a program's end but itself, when it closes its pipes: what goes on silently is
    // looked at now and then.
    guard unsafe poll(&ends, 2, 20) > 0 else { return }
    if ends[1].revents != 0 { isComplaining = complaints.drain(process.complaints) }
    if ends[0].revents != 0 { isTalking = take() }
  }

  /// Takes what it has left in its pipes. It has ended.
  mutating func drain() {
    complaints.drain(process.complaints)
    var rounds = 0
    // A pipe holds at most a megabyte.
    while isTalking, rounds < 64, !isOverfull {
      let before = count
      isTalking = take()
      if count == before { break }
      rounds += 1
    }
  }

  /// Closes the file.
  mutating func close() {
    if file >= 0 { Glibc.close(file) }
    file = -1
  }

  /// - Returns: whether more may come.
  private mutating func take() -> Bool {
    let got = unsafe read(process.output, &piece, piece.count)
    guard got > 0 else { return got < 0 && (errno == EAGAIN || errno == EINTR) }
    count += got
    if !isFiling {
      output += piece.prefix(min(got, max(0, most - output.count)))
    } else if file >= 0, !isOverfull {
      var done = 0
      while done < got {
        let written = unsafe piece.withUnsafeBytes { bytes in
          unsafe write(file, bytes.baseAddress.map { unsafe $0 + done }, got - done)
        }
        if written < 0, errno != EINTR {
          trouble = unsafe String(cString: strerror(errno))
          close()
          break
        }
        done += max(0, written)
      }
    }
    return true
  }
}
