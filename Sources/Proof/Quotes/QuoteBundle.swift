internal import Glibc

/// The folder of a quote while it is written: it gets its name when all its files are on the disk. One
/// that is dropped before goes away.
public final class QuoteBundle {
  /// The clip.
  public static let clipName = "clip.wav"
  /// What is quoted.
  public static let quoteName = "quote.json"
  /// The receipt. It is not called as those are that lie beside all their files.
  public static let receiptName = "receipt.json"
  /// The public key.
  public static let keyName = "spool.pub"
  /// The words.
  public static let wordsName = "words.json"
  /// The script.
  public static let scriptName = "verify.py"

  /// Where it will lie.
  public let folder: String
  private let unfinished: String
  private var names: [String] = []
  private var isFinished = false

  /// Begins a bundle.
  /// - Throws: where something is there already, unless it is an empty folder, and where nothing can be
  ///   written beside it.
  public init(at folder: String) throws(ProofError) {
    var path = folder
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.folder = path
    unfinished = "\(path).new-\(getpid())"
    var status = stat()
    if unsafe lstat(path, &status) == 0,
      status.st_mode & S_IFMT != S_IFDIR || !KeyFile.names(in: path).isEmpty
    {
      throw ProofError(
        "cannot write the quote to \(folder)", reason: "something is there already",
        advice: "name another folder with --out")
    }
    Self.sweep(beside: path)
    guard unsafe mkdir(unfinished, 0o777) == 0 else { throw Self.failure(folder) }
  }

  deinit {
    if !isFinished { Self.remove(unfinished, names) }
  }

  /// Takes away what processes left that ended before they were done with the same quote. Whatever else
  /// lies in their folders stays, and so do they.
  private static func sweep(beside path: String) {
    let name = ReceiptSearch.name(of: path)
    let parent = path.utf8.count == name.utf8.count ? "." : String(path.dropLast(name.count))
    let start = "\(name).new-"
    for entry in KeyFile.names(in: parent) where entry.hasPrefix(start) {
      guard let process = pid_t(entry.dropFirst(start.count)), process > 0,
        process == getpid() || kill(process, 0) != 0 && errno == ESRCH
      else { continue }
      remove("\(parent)/\(entry)", fileNames)
    }
  }

  /// Every name that a file of a bundle can have.
  static var fileNames: [String] {
    [clipName, quoteName, receiptName, keyName, wordsName, scriptName]
      + TimeStampNames.tokens(of: receiptName).flatMap { token in
        [token, TimeStampNames.certificates(of: token), TimeStampNames.checksums(of: token)]
      }
  }

  private static func remove(_ folder: String, _ names: [String]) {
    for name in names { unsafe unlink("\(folder)/\(name)") }
    unsafe rmdir(folder)
  }

  /// Adds bytes to the end of one of its files.
  public func append(_ bytes: [UInt8], to name: String) throws(ProofError) {
    let path = "\(unfinished)/\(name)"
    if !names.contains(name) { names.append(name) }
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard file >= 0 else { throw Self.failure(path) }
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe write(file, $0.baseAddress?.advanced(by: done), $0.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure(path) }
      done += count
    }
  }

  /// Adds a text to the end of one of its files.
  public func append(_ text: String, to name: String) throws(ProofError) {
    try append(Array(text.utf8), to: name)
  }

  /// Flushes everything, and gives the folder its name.
  public func finish() throws(ProofError) {
    for name in names { try Self.flush("\(unfinished)/\(name)", O_RDONLY) }
    try Self.flush(unfinished, O_RDONLY | O_DIRECTORY)
    guard unsafe rename(unfinished, folder) == 0 else { throw Self.failure(folder) }
    isFinished = true
    let parent = folder.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    try Self.flush(
      folder.hasPrefix("/") && parent.isEmpty ? "/" : parent.isEmpty ? "." : parent,
      O_RDONLY | O_DIRECTORY)
  }

  private static func flush(_ path: String, _ flags: Int32) throws(ProofError) {
    let descriptor = unsafe open(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> ProofError {
    let code = errno
    return ProofError(
      "cannot write the quote to \(path)", reason: unsafe String(cString: strerror(code)),
      advice: code == ENOENT ? "make the folder above it" : nil)
  }
}
