internal import CTexts
internal import Glibc
package import Platform

/// The folder of a quote while it is written: it gets its name when all files are flushed, and is
/// removed if it is dropped before.
package final class QuoteBundle {
  package static let clipName = "clip.wav"
  package static let quoteName = "quote.json"
  /// The receipt, under a name that differs from those beside all their files.
  package static let receiptName = "receipt.json"
  package static let keyName = "spool.pub"
  package static let wordsName = "words.json"
  package static let scriptName = "verify.py"

  /// The script, the same in every bundle: it verifies everything with Python's standard library and
  /// `openssl`, without Spool, and prints each step.
  package static var script: String { unsafe String(cString: text_quote_script) }

  /// Its final path.
  package let folder: String
  private let unfinished: String
  private var names: [String] = []
  private var isFinished = false

  ///
  /// - Throws: if the path exists and is no empty folder, or if its parent is not writable.
  package init(at folder: String) throws(SpoolError) {
    var path = folder
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.folder = path
    unfinished = "\(path).new-\(getpid())"
    if let stamp = try? FileStamp(at: path),
      !stamp.isFolder || !FilePath.names(in: path).isEmpty
    {
      throw SpoolError(
        "cannot write the quote to \(folder)", reason: "something is there already",
        advice: "name another folder with \(option: .out)", cause: .blocked)
    }
    Self.sweep(beside: path)
    try Self.writing(folder) { (files) throws(SystemError) in
      try files.makeNewFolder(unfinished, mode: 0o777)
    }
  }

  deinit {
    if !isFinished { Self.remove(unfinished, names) }
  }

  /// Removes unfinished bundles of dead processes for the same quote. Folders with other files
  /// stay.
  private static func sweep(beside path: String) {
    let name = ReceiptSearch.name(of: path)
    let parent = path.utf8.count == name.utf8.count ? "." : String(path.dropLast(name.count))
    let start = "\(name).new-"
    for entry in FilePath.names(in: parent) where entry.hasPrefix(start) {
      guard let process = pid_t(entry.dropFirst(start.count)), process > 0,
        process == getpid() || kill(process, 0) != 0 && errno == ESRCH
      else { continue }
      remove("\(parent)/\(entry)", fileNames)
    }
  }

  /// All possible file names of a bundle.
  static var fileNames: [String] {
    [clipName, quoteName, receiptName, keyName, wordsName, scriptName]
      + TimeStampNames.tokens(of: receiptName).flatMap { token in
        [token, TimeStampNames.certificates(of: token), TimeStampNames.checksums(of: token)]
      }
  }

  private static func remove(_ folder: String, _ names: [String]) {
    for name in names { try? FileOperations.system.unlink("\(folder)/\(name)") }
    try? FileOperations.system.removeFolder(folder)
  }

  /// Appends bytes to one of its files.
  package func append(_ bytes: [UInt8], to name: String) throws(SpoolError) {
    let path = "\(unfinished)/\(name)"
    if !names.contains(name) { names.append(name) }
    try Self.writing(path) { (files) throws(SystemError) in
      let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
      try files.write(bytes, to: try files.open(path, flags, mode: 0o666))
    }
  }

  /// Appends a text to one of its files.
  package func append(_ text: String, to name: String) throws(SpoolError) {
    try append(Array(text.utf8), to: name)
  }

  /// Flushes everything and renames the folder.
  package func finish() throws(SpoolError) {
    try Self.writing(folder) { (files) throws(SystemError) in
      for name in names { try files.flush(try files.open("\(unfinished)/\(name)", O_RDONLY)) }
      try files.flushFolder(unfinished)
      try files.rename(unfinished, to: folder)
      isFinished = true
      try files.flushFolder(FilePath.folder(of: FilePath.absolute(folder)))
    }
  }

  @discardableResult
  private static func writing<Result>(
    _ path: String, _ calls: (FileOperations) throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SystemError) { return try calls(.system) } catch {
      throw SpoolError(
        "write the quote to", path, error,
        advice: error.code == ENOENT ? "make the folder above it" : nil, cause: .blocked)
    }
  }
}

/// The clip of a quote: a WAV file fully determined by the receipt and the blocks.
package struct QuotedClip: Hashable, Sendable {
  /// Bytes before the samples.
  package static let headerByteCount = 44

  /// The whole sound.
  package let extent: SampleExtent
  package let blocks: Range<Int>

  /// Nil if it is too long for a WAV file.
  package init?(_ blocks: Range<Int>, of extent: SampleExtent) {
    self.extent = extent
    self.blocks = blocks
    guard extent.channels <= Int(UInt16.max), extent.frameByteCount <= Int(UInt16.max),
      extent.rate * extent.frameByteCount <= Int(UInt32.max),
      byteCount <= Int(UInt32.max)
    else { return nil }
  }

  package var sampleByteCount: Int { extent.frames(of: blocks).count * extent.frameByteCount }
  /// Bytes of the file; an odd chunk is padded by a zero.
  package var byteCount: Int { Self.headerByteCount + sampleByteCount + padByteCount }
  /// Bytes after the samples.
  package var padByteCount: Int { sampleByteCount % 2 }

  /// The file before the samples: `RIFF`, `fmt ` of 16 bytes and the header of `data`.
  package var header: [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let tag = extent.format == .f32le ? 3 : 1
    return Array("RIFF".utf8) + bytes(byteCount - 8, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4)
      + bytes(tag, 2) + bytes(extent.channels, 2) + bytes(extent.rate, 4)
      + bytes(extent.rate * extent.frameByteCount, 4) + bytes(extent.frameByteCount, 2)
      + bytes(extent.format.bits, 2) + Array("data".utf8) + bytes(sampleByteCount, 4)
  }
}
