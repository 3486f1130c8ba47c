package import Platform

/// Programs of the user's that copy a file elsewhere and give it back, such as rclone. What they promise
/// about half files and names that are taken is theirs; that the bytes are there is seen for oneself.
package struct CommandTransport: Transport, ~Copyable {
  private let place: Destination.Command
  private let environment: [String: String]

  package init(_ place: Destination.Command, _ environment: [String: String]) {
    self.place = place
    self.environment = environment
  }

  /// Reads all of the file: no program says what lies there without.
  package mutating func find(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    var byteCount = 0
    let ending = try run(place.read, path, mayGoOn: { true }) { bytes in
      byteCount += bytes.byteCount
    }
    return ending.exitCode == 0 ? RemoteFile(byteCount: byteCount) : nil
  }

  package mutating func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    note: (UploadState) throws(SpoolError) -> Void, mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> RemoteFile {
    if try find(path) != nil { throw SpoolError(occupied: path) }
    var progress = UploadProgress()
    let ending = try run(place.send, path, file: file.file.path, mayGoOn: { mayGoOn(progress) }) {
      _ in
    }
    guard ending.exitCode == 0 else { throw failure(place.send, ending, of: path.description) }
    progress.sentByteCount = file.byteCount
    guard
      try digest(readingBack: path, limit: file.byteCount, &progress, mayGoOn) == file.digest
    else {
      throw SpoolError(otherBytes: path, "the command gave other bytes back than it was sent")
    }
    return RemoteFile(byteCount: file.byteCount)
  }

  package mutating func read(
    _ path: RemotePath, limit: Int, mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    var count = 0
    let ending = try run(place.read, path, mayGoOn: mayGoOn) { (bytes) throws(SpoolError) in
      count += bytes.byteCount
      if count > limit { throw SpoolError(otherBytes: path, "it has more than \(limit) bytes") }
      try consume(bytes)
    }
    guard ending.exitCode == 0 else { throw failure(place.read, ending, of: path.description) }
  }

  package mutating func list(
    mayGoOn: () -> Bool, to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    guard let words = place.list else {
      throw SpoolError(
        "cannot list the files of the destination", reason: "it has no program that lists them",
        advice: "give it list: [PROGRAM, …], which writes one path a line", cause: .input,
        kind: .missing)
    }
    var lines = LineSplitter()
    func take(_ line: [UInt8]) throws(SpoolError) {
      guard var text = String(validating: line, as: UTF8.self) else {
        let text = PlainText.line(String(decoding: line, as: UTF8.self))
        return try consume(.unusable(text, reason: "its name is no UTF-8"))
      }
      // As find writes it; and a folder, as rclone does.
      if text.hasPrefix("./") { text = String(text.dropFirst(2)) }
      if text.isEmpty || text.hasSuffix("/") { return }
      if let file = ListedFile.of(text, byteCount: nil) { try consume(file) }
    }
    let ending = try ProgramRun(words, environment: environment).run(mayGoOn: mayGoOn) {
      (bytes) throws(SpoolError) in
      guard let found = lines.take(bytes) else {
        throw SpoolError(
          "cannot list the files of the destination", reason: "\(words[0]) writes a line of no end",
          cause: .blocked, kind: .broken)
      }
      for line in found { try take(line) }
    }
    if let line = lines.last { try take(line) }
    guard ending.exitCode == 0 else { throw failure(words, ending, "list", of: "the destination") }
  }

  /// Nothing of Spool's is left: the program has to remove its own.
  package mutating func discard(_ state: UploadState, of path: RemotePath) throws(SpoolError) {}

  package mutating func removeProbe(_ path: RemotePath) throws(SpoolError) {
    precondition(path.isProbe)
    guard let words = place.remove else {
      throw SpoolError(
        "remove", path.description, reason: "the destination has no command that removes a file",
        cause: .input)
    }
    let ending = try run(words, path, mayGoOn: { true }) { _ in }
    guard ending.exitCode == 0 else { throw failure(words, ending, of: path.description) }
  }

  /// No program says it.
  package mutating func freeByteCount() throws(SpoolError) -> Int? { nil }

  private func run(
    _ words: [String], _ path: RemotePath, file: String = "", mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) -> ProgramRun.Ending {
    var filled: [String] = []
    for word in words {
      let text = Self.filled(word, name: path.description, file: file)
      // A name must not be taken for an option.
      if text.hasPrefix("-"), !word.hasPrefix("-") {
        throw SpoolError(
          "deliver to the name", path.description, reason: "it begins like an option",
          advice: "choose another name, or write ./{name} in the command", cause: .input,
          kind: .invalid)
      }
      filled.append(text)
    }
    return try ProgramRun(filled, environment: environment).run(mayGoOn: mayGoOn, to: consume)
  }

  /// A word with what its placeholders stand for, each put in once.
  private static func filled(_ word: String, name: String, file: String) -> String {
    var text = ""
    var rest = word[...]
    while let mark = rest.firstIndex(of: "{") {
      text += rest[..<mark]
      rest = rest[mark...]
      if rest.hasPrefix("{name}") {
        text += name
        rest = rest.dropFirst(6)
      } else if rest.hasPrefix("{file}") {
        text += file
        rest = rest.dropFirst(6)
      } else {
        text.append(rest.removeFirst())
      }
    }
    return text + rest
  }

  private func failure(
    _ words: [String], _ ending: ProgramRun.Ending, _ action: String = "deliver",
    of subject: String
  ) -> SpoolError {
    let last = ending.complaints.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    let complaint = PlainText.line(last)
    return SpoolError(
      action, subject,
      reason: "\(words.first ?? "") ended with the exit code \(ending.exitCode)"
        + (complaint.isEmpty ? "" : ": \(complaint)"),
      advice: "try it alone: \(ShellWords.line(words))", cause: .transient)
  }
}
