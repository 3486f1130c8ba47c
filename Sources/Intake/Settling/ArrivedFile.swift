import Platform

/// A file of the inbox, open for reading. It stays the same file whatever replaces its name.
struct ArrivedFile: ~Copyable, Sendable {
  let path: InboxPath
  /// Its stamp when it was opened.
  let stamp: FileStamp
  private let file: OpenFile

  init(_ file: consuming OpenFile, at path: InboxPath) throws(SpoolError) {
    do {
      stamp = try file.stamp
    } catch {
      throw SpoolError("look at", path.description, error)
    }
    self.path = path
    self.file = file
  }

  /// The number of hard links. With more than one, a process may write to it through another name.
  var nameCount: Int { Int(stamp.linkCount) }

  /// A path to this open file for libraries that need one; valid for the file's lifetime.
  var readingPath: String { "/proc/self/fd/\(file.descriptor)" }

  func currentStamp() throws(SpoolError) -> FileStamp {
    try doing("look at", path.description) { () throws(SystemError) in try file.stamp }
  }

  /// All its bytes.
  /// - Throws: an `SpoolError` of kind `tooLarge` above `limit`.
  func bytes(atMost limit: Int) throws(SpoolError) -> [UInt8] {
    let bytes = try head(count: Int(min(stamp.byteCount, Int64(limit))) + 1)
    guard bytes.count <= limit, stamp.byteCount <= Int64(limit) else {
      throw SpoolError(
        "read", path.description, reason: "it holds more than \(limit) bytes", kind: .tooLarge)
    }
    return bytes
  }

  /// Its first bytes; fewer if it is shorter.
  func head(count: Int) throws(SpoolError) -> [UInt8] {
    try doing("read", path.description) { () throws(SystemError) in try file.bytes(count, at: 0) }
  }

  /// Whether a process has it open for writing; nil if unknown: the file has another owner, or its
  /// file system has no leases.
  func hasWriters() -> Bool? { file.hasWriters }

  /// Throws if the file claims a gibibyte or more of which less than a tenth is on the disk: its
  /// holes would be read, hashed and copied as sound.
  func refuseSparseGiant() throws(SpoolError) {
    let (giant, least): (Int64, _) = (1 << 30, stamp.byteCount / 10)
    guard stamp.byteCount >= giant, case let held = file.heldByteCount(upTo: least), held < least
    else { return }
    throw SpoolError(
      "accept", path.description,
      reason: "it claims \(stamp.byteCount) bytes and has only \(held)",
      advice: "copy it again from where it came from", kind: .sparse)
  }

  /// The digest and count of all its bytes, read through the open file.
  /// - Throws: also where a stop is requested meanwhile.
  func digest(
    until stop: StopRequest = StopRequest()
  ) throws(SpoolError) -> (digest: Digest, byteCount: Int) {
    let (digest, byteCount) = try doing("read", path.description) { () throws(SystemError) in
      try FileOperations.system.digest(of: file) { _ in !stop.isRequested }
    }
    try stop.check()
    return (digest, Int(byteCount))
  }

  /// Sets its modification time, in nanoseconds since 1970, and flushes it with its bytes. Never
  /// repeat it after an error.
  func flush(modifiedAt time: Int64?) throws(SystemError) {
    if let time { file.setModified(time) }
    try file.flushAll()
  }
}

/// Whether a file is a recording by its name or its first bytes. The inbox leaves all others alone.
package enum SoundSign {
  static func isCarried(by name: FileName) -> Bool {
    let ending = name.bytes.dropFirst(name.stem.count + 1).map(\.asciiLowercase)
    return endings.contains(String(decoding: ending, as: UTF8.self))
  }

  package static func isCarried(by head: [UInt8]) -> Bool {
    func has(_ text: String, at offset: Int = 0) -> Bool {
      head.dropFirst(offset).starts(with: text.utf8)
    }
    if has("RIFF") || has("RF64") || has("BW64") { return has("WAVE", at: 8) }
    if has("FORM") { return has("AIFF", at: 8) || has("AIFC", at: 8) }
    return has("fLaC") || has("OggS") || has("ID3") || has("caff") || has("#!AMR") || has("wvpk")
      || has("MAC ") || has("TTA1") || has("DSD ") || has("ftyp", at: 4)
      || head.starts(with: [0x1a, 0x45, 0xdf, 0xa3])
  }

  /// The name endings of files that hold sound, alone or with pictures, in lower case: for the inbox
  /// and for batches.
  static let endings: Set<String> = [
    "3g2", "3gp", "3gpp", "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "avi",
    "awb", "bw64", "bwf", "caf", "dff", "dsf", "dts", "eac3", "flac", "gsm", "m2t", "m2ts", "m4a",
    "m4b", "m4p", "m4r", "m4v", "mka", "mkv", "mov", "mp1", "mp2", "mp3", "mp4", "mpc", "mpeg",
    "mpg", "mpga", "oga", "ogg", "ogv", "ogx", "opus", "qcp", "qta", "ra", "rf64", "snd", "spx",
    "tak", "tta", "vob", "voc", "w64", "wav", "wave", "weba", "webm", "wma", "wmv", "wv",
  ]
}
