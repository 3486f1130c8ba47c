internal import CPosix
internal import Glibc
internal import Hashing
public import PipelineModel
internal import Sidecars

/// Gives an original back: the recording as it arrived, byte for byte, under the name that it arrived
/// by. It never takes the place of another file.
public struct OriginalExport: Sendable {
  /// What came of it.
  public struct Outcome: Hashable, Sendable {
    /// Where the original lies, as a path in the folder that was named.
    public let path: String
    /// Whether it was written now; else it lay there already.
    public let isNew: Bool
  }

  private let store: any CustodyStore

  /// Exports out of a store.
  public init(store: any CustodyStore) { self.store = store }

  /// Writes a note's original into a folder. Its bytes are compared with the digest that was taken
  /// when it arrived before they get their name. O(bytes).
  /// - Parameters:
  ///   - note: whose original; it may be in any state.
  ///   - folder: an existing folder.
  /// - Throws: where nobody has the original whole any more, or the folder cannot take it.
  public func write(_ note: Note, to folder: String) throws(CustodyError) -> Outcome {
    let files = try inStore { () throws(StoreError) in try store.files(of: note.key) }
      .filter { $0.role == .recording }
    let target = try CustodyFolder(at: folder, calls: .system)
    let name = Self.name(of: note, files.first)
    if try isOriginal(name, of: note, in: target) {
      return Outcome(path: "\(folder)/\(name)", isNew: false)
    }
    let unique = String(UInt64.random(in: .min ... .max), radix: 36)
    guard let temporary = InboxPath(".spool-\(getpid())-\(unique).tmp") else {
      preconditionFailure("a plain name")
    }
    do throws(CustodyError) {
      try copy(note, files, to: temporary, in: target, folder)
      for number in 1...10_000 {
        let path = ReleaseName.path(of: name, in: .inbox, number: number)
        if number > 1, try isOriginal(path, of: note, in: target) {
          try target.remove(temporary)
          return Outcome(path: "\(folder)/\(path)", isNew: false)
        }
        guard try target.move(temporary, toNew: path) else { continue }
        try target.flushFolder(.inbox)
        return Outcome(path: "\(folder)/\(path)", isNew: true)
      }
      throw CustodyError(
        "write", "\(folder)/\(name)", reason: "10,000 files of its name are there already",
        advice: "choose another folder with --to")
    } catch {
      try? target.remove(temporary)
      throw error
    }
  }

  /// The name that it arrived by; a name that steers terminals or looks like an option is cleaned.
  private static func name(of note: Note, _ file: NoteFile?) -> InboxPath {
    let arrived = file.flatMap { InboxPath(escaped: $0.path)?.name }
    if let arrived, let text = arrived.text, PrintableText.of(arrived.bytes) == text,
      !text.hasPrefix("-"), !text.hasPrefix("."), let path = InboxPath(text)
    {
      return path
    }
    let stem = SafeName(arrived.map { String(decoding: $0.stem, as: UTF8.self) } ?? "")?.text
    let ending = arrived.flatMap {
      SafeName(String(decoding: $0.bytes.dropFirst($0.stem.count + 1), as: UTF8.self), byteLimit: 8)
    }
    let text = (stem ?? "recording-\(note.key)") + (ending.map { ".\($0)" } ?? "")
    return InboxPath(text) ?? InboxPath.recording
  }

  private func isOriginal(
    _ path: InboxPath, of note: Note, in folder: borrowing CustodyFolder
  ) throws(CustodyError) -> Bool {
    guard let stamp = try folder.stamp(of: path), stamp.kind == .file,
      stamp.byteCount == Int64(note.recording.byteCount)
    else { return false }
    return try folder.open(path).digest().digest == note.recording.digest
  }

  /// Copies the original from the store or, where that does not have it any more, from where its file
  /// was moved; the first that is what arrived counts.
  private func copy(
    _ note: Note, _ files: [NoteFile], to temporary: InboxPath,
    in target: borrowing CustodyFolder, _ folder: String
  ) throws(CustodyError) {
    var failure: CustodyError?
    for source in [nil] + files.map(Optional.some) {
      do throws(CustodyError) {
        try copy(note, source, to: "\(folder)/\(temporary)")
        let copied = try target.open(temporary)
        guard try copied.digest().digest == note.recording.digest else {
          throw CustodyError(
            "give back", note.fileName,
            reason: "\(source.map { "\($0.inbox)/\($0.location)" } ?? "the store's copy") is not "
              + "what arrived", advice: "spool check says what else is damaged")
        }
        if let file = files.first { Self.setTime(of: copied, to: file.stamp.modified) }
        // What failed to reach the disk once is not asked for again.
        guard fsync(copied.descriptor) == 0 else {
          throw CustodyError("flush", "\(folder)/\(temporary)", .last)
        }
        return
      } catch {
        if error.isFullDisk { throw error }
        try target.remove(temporary)
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func copy(_ note: Note, _ file: NoteFile?, to path: String) throws(CustodyError) {
    guard let file else {
      return try inStore { () throws(StoreError) in
        try store.copyFile(from: try store.path(of: note.recording), to: path)
      }
    }
    guard let location = InboxPath(escaped: file.location) else { return }
    let opened = try CustodyFolder(at: file.inbox, calls: .system).open(location)
    try inStore { () throws(StoreError) in
      try store.copyFile(from: opened.readingPath, to: path)
    }
  }

  /// A recording that does not say itself when it was made is known by its file's time.
  private static func setTime(of file: borrowing ArrivedFile, to nanoseconds: Int64) {
    let time = timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    _ = unsafe futimens(file.descriptor, [time, time])
  }
}

extension InboxPath {
  /// What is called so of which no other name can be made.
  fileprivate static let recording: InboxPath = {
    guard let path = InboxPath("recording") else { preconditionFailure("a plain name") }
    return path
  }()
}
