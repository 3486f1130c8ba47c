import Glibc
import Platform

extension KillTest {
  /// The undisturbed run's output and figures, with which every other run is compared.
  struct Reference {
    private let files: [(name: String, path: String)]
    /// Duration in seconds.
    let seconds: Double
    /// Processor time in seconds.
    let processorSeconds: Double
    private let trace: Trace
    /// Duration of the recording in seconds; nil if the run did not report it.
    var mediaSeconds: Double? { trace.furthest }
    var fileCount: Int { files.count }

    init(
      _ place: ScratchStore, seconds: Double, processorSeconds: Double, trace: Trace
    ) throws(SpoolError) {
      files = try place.outputs()
      guard !files.isEmpty else {
        throw SpoolError(
          "the undisturbed run left no file to compare", advice: "use a pipeline that exports")
      }
      self.seconds = seconds
      self.processorSeconds = processorSeconds
      self.trace = trace
    }

    /// Every file with its digest.
    func summary() throws(SpoolError) -> [OutputDigest] {
      var list: [OutputDigest] = []
      for file in files {
        let (digest, byteCount) = try FileBytes.digest(of: file.path)
        list.append(OutputDigest(name: file.name, sha256: digest.hex, byteCount: byteCount))
      }
      return list
    }

    /// The expected time from a starting point to the end without disturbance.
    func expectedSeconds(from point: StartingPoint) -> Double {
      seconds - trace.lastSafeMoment(for: point)
    }

    /// Compares an output folder with the reference.
    /// - Parameters:
    ///   - isComplete: whether the run has ended and every file must exist. Before, files may be
    ///     missing, but existing ones must be complete.
    ///   - after: what preceded the comparison.
    func differences(
      in place: ScratchStore, isComplete: Bool, after: String
    ) throws(SpoolError) -> [Difference] {
      let found = try place.outputs()
      var differences: [Difference] = []
      for file in found {
        let original = files.first { $0.name == file.name }
        func add(_ kind: Difference.Kind) {
          differences.append(
            Difference(kind: kind, path: file.path, referencePath: original?.path, after: after))
        }
        // An incomplete file.
        if file.name.hasPrefix(".spool-"), file.name.hasSuffix(".part") {
          if isComplete { add(.leftover) }
        } else if let original {
          if let offset = try FileBytes.firstDifference(file.path, original.path) {
            add(.bytes(offset: offset))
          }
        } else {
          add(.unexpected)
        }
      }
      guard isComplete else { return differences }
      for file in files where !found.contains(where: { $0.name == file.name }) {
        differences.append(
          Difference(
            kind: .missing, path: "\(place.out)/\(file.name)", referencePath: file.path,
            after: after))
      }
      return differences
    }
  }
}

/// One file of the undisturbed run.
struct OutputDigest: Hashable, Sendable, Encodable {
  /// Its name in the output folder.
  let name: String
  /// The hexadecimal SHA-256 of its bytes.
  let sha256: String
  let byteCount: Int
}

/// Reads a file in blocks.
struct FileBytes: ~Copyable {
  private static let pieceByteCount = 1 << 20
  private let descriptor: Int32
  private let path: String

  init(of path: String) throws(SpoolError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system("read", path) }
  }

  deinit { close(descriptor) }

  /// The next block; empty at the end. All blocks but the last have the same length.
  func next() throws(SpoolError) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    var count = 0
    while count < piece.count {
      let room = piece.count - count
      let read = unsafe piece.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), room)
      }
      if read == 0 { break }
      if read > 0 {
        count += read
      } else if errno != EINTR {
        throw .system("read", path)
      }
    }
    return Array(piece[..<count])
  }

  /// The SHA-256 and length of a file.
  static func digest(of path: String) throws(SpoolError) -> (digest: Digest, byteCount: Int) {
    let file = try FileBytes(of: path)
    var hash = SHA256()
    var byteCount = 0
    while true {
      let piece = try file.next()
      if piece.isEmpty { return (hash.finalize(), byteCount) }
      hash.update(piece)
      byteCount += piece.count
    }
  }

  /// The offset of the first difference between two files; nil if they are equal.
  static func firstDifference(
    _ path: String, _ other: String
  ) throws(SpoolError) -> Int? {
    let first = try FileBytes(of: path)
    let second = try FileBytes(of: other)
    var offset = 0
    while true {
      let (one, two) = (try first.next(), try second.next())
      if one != two {
        return offset + (zip(one, two).prefix { $0 == $1 }.count)
      }
      if one.isEmpty { return nil }
      offset += one.count
    }
  }
}

/// A deviation of an output folder from the undisturbed run's.
struct Difference: Hashable, Sendable, Encodable {
  enum Kind: Hashable, Sendable {
    /// The content differs, first at this byte.
    case bytes(offset: Int)
    /// The file does not exist.
    case missing
    /// The reference has no file of that name.
    case unexpected
    /// A temporary file that was not cleaned up.
    case leftover
    /// The run ended with this exit code.
    case failedRun(exitCode: Int32)
    /// The run did not end within this time.
    case endlessRun(seconds: Double)
  }

  let kind: Kind
  /// The file's path, existing or not; for a failed run, its error message.
  let path: String
  /// The undisturbed run's file; nil if it has none.
  let referencePath: String?
  /// What preceded it: `kill 7 in series 2`.
  let after: String

  var words: String {
    switch kind {
    case .bytes(let offset): "differs from the reference at byte \(offset)"
    case .missing: "is not there"
    case .unexpected: "is no file of the undisturbed run"
    case .leftover: "was left behind"
    case .failedRun(let code): "the run that goes on ended with exit code \(code)"
    case .endlessRun(let seconds): "the run that goes on did not end in \(Int(seconds)) s"
    }
  }

  private enum Key: CodingKey { case problem, path, referencePath, after }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(words, forKey: .problem)
    try container.encode(path, forKey: .path)
    try container.encodeIfPresent(referencePath, forKey: .referencePath)
    try container.encode(after, forKey: .after)
  }
}
