/// One call by which the store touches a disk, named before it is made.
enum FileOperation: Hashable, Sendable {
  case makeFolder(String)
  case open(String)
  case read(String)
  case write(String, byteCount: Int)
  case startWriteback(String)
  case truncate(String)
  case setMode(String)
  case flush(String)
  case rename(from: String, to: String)
  case link(from: String, to: String)
  case unlink(String)
  case removeFolder(String)
  case lock(String)
  case flushFolder(String)
  case clone(from: String, to: String)
  case copyRange(from: String, to: String)

  /// Whether a process that dies before the call may leave something else on the disk than one that
  /// dies after it. Opening may make a file.
  var changesDisk: Bool {
    switch self {
    case .read, .startWriteback: false
    default: true
    }
  }
}
