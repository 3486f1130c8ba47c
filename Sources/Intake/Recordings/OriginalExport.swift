internal import CPosix
internal import Glibc
import PipelineModel
package import Platform
package import Store

extension DiskStore {
  /// Writes an original, the recording as it arrived, into a folder under its original name, after
  /// comparing its bytes with the digest of its arrival. It never replaces another file. O(bytes).
  /// - Parameters:
  ///   - recording: in any state.
  ///   - folder: an existing folder.
  /// - Throws: if no intact original is left, or the folder cannot take it.
  /// - Returns: the original's path in the folder, and whether it was written now; else it was
  ///   already there.
  package func writeOriginal(
    of recording: Recording, to folder: String
  ) throws(SpoolError) -> (path: String, isNew: Bool) {
    let files = try recordings.files(of: recording.key)
      .filter { $0.role == .recording }
    let target = try ProcessedFolder(at: folder)
    let name = Self.originalName(of: recording, files.first)
    if try isOriginal(name, of: recording, in: target) {
      return ("\(folder)/\(name)", isNew: false)
    }
    let unique = String(UInt64.random(in: .min ... .max), radix: 36)
    guard let temporary = InboxPath(".spool-\(getpid())-\(unique).tmp") else {
      preconditionFailure("a plain name")
    }
    do throws(SpoolError) {
      try copyOriginal(of: recording, files, to: temporary, in: target, folder)
      for number in 1...10_000 {
        let path = ReleaseName.path(of: name, in: .inbox, number: number)
        if number > 1, try isOriginal(path, of: recording, in: target) {
          try target.remove(temporary)
          return ("\(folder)/\(path)", isNew: false)
        }
        guard try target.move(temporary, toNew: path) else { continue }
        try target.flushFolder(.inbox)
        return ("\(folder)/\(path)", isNew: true)
      }
      throw SpoolError(
        "write", "\(folder)/\(name)", reason: "10,000 files of its name are there already",
        advice: "choose another folder with \(option: .to)")
    } catch {
      try? target.remove(temporary)
      throw error
    }
  }

  /// Its original name; one that steers terminals or looks like an option is cleaned.
  private static func originalName(of recording: Recording, _ file: RecordingFile?) -> InboxPath {
    let arrived = file.flatMap { InboxPath(escaped: $0.path)?.name }
    if let arrived, let text = arrived.text, PrintableText.of(arrived.bytes) == text,
      !text.hasPrefix("-"), !text.hasPrefix("."), let path = InboxPath(text)
    {
      return path
    }
    let stem = PrintableText.fileName(
      arrived.map { String(decoding: $0.stem, as: UTF8.self) } ?? "")
    let ending = arrived.flatMap {
      PrintableText.fileName(
        String(decoding: $0.bytes.dropFirst($0.stem.count + 1), as: UTF8.self), byteLimit: 8)
    }
    let text = (stem ?? "recording-\(recording.key)") + (ending.map { ".\($0)" } ?? "")
    return InboxPath(text) ?? InboxPath.recording
  }

  private func isOriginal(
    _ path: InboxPath, of recording: Recording, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    guard let stamp = try folder.stamp(of: path), stamp.isRegularFile,
      stamp.byteCount == Int64(recording.content.byteCount)
    else { return false }
    return try folder.open(path).digest().digest == recording.content.digest
  }

  /// Copies the original from the store or, if it is not there, from where its file was moved; the
  /// first with the right digest counts.
  private func copyOriginal(
    of recording: Recording, _ files: [RecordingFile], to temporary: InboxPath,
    in target: borrowing ProcessedFolder, _ folder: String
  ) throws(SpoolError) {
    var failure: SpoolError?
    for source in [nil] + files.map(Optional.some) {
      do throws(SpoolError) {
        try copyOriginal(of: recording, source, to: "\(folder)/\(temporary)")
        let copied = try target.open(temporary)
        guard try copied.digest().digest == recording.content.digest else {
          throw SpoolError(
            "give back", recording.fileName,
            reason: "\(source.map { "\($0.inbox)/\($0.location)" } ?? "the store's copy") is not "
              + "what arrived", advice: "\(command: .check) says what else is damaged")
        }
        // A recording without a time of its own is known by its file's time.
        try doing("flush", "\(folder)/\(temporary)") { () throws(SystemError) in
          try copied.flush(modifiedAt: files.first?.stamp.modified)
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

  private func copyOriginal(
    of recording: Recording, _ file: RecordingFile?, to path: String
  ) throws(SpoolError) {
    guard let file else {
      return try copyFile(from: try self.path(of: recording.content), to: path)
    }
    guard let location = InboxPath(escaped: file.location) else { return }
    let opened = try ProcessedFolder(at: file.inbox).open(location)
    try copyFile(from: opened.readingPath, to: path)
  }
}

extension InboxPath {
  /// The name if no other is possible.
  fileprivate static let recording: InboxPath = {
    guard let path = InboxPath("recording") else { preconditionFailure("a plain name") }
    return path
  }()
}
