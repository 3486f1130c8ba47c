import Glibc
import Platform

extension KillTest {
  /// The undisturbed run's output and figures, with which every other run is compared.
  struct Reference {
    /// One file of the undisturbed run.
    struct Output: Hashable, Sendable, Encodable {
      /// Its name in the output folder.
      let name: String
      /// The hexadecimal SHA-256 of its bytes.
      let sha256: String
      let byteCount: Int
    }

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
      files = place.outputs()
      guard !files.isEmpty else {
        throw SpoolError(
          "the undisturbed run left no file to compare", advice: "use a pipeline that exports")
      }
      self.seconds = seconds
      self.processorSeconds = processorSeconds
      self.trace = trace
    }

    /// Every file with its digest.
    func summary() throws(SpoolError) -> [Output] {
      try files.map { (file) throws(SpoolError) in
        let (digest, byteCount) = try FileBytes.digest(of: file.path)
        return Output(name: file.name, sha256: digest.hex, byteCount: byteCount)
      }
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
      let found = place.outputs()
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

/// Reads files of output folders.
enum FileBytes {
  private static let files = FileOperations.system

  private static func open(_ path: String) throws(SpoolError) -> OpenFile {
    try doing("read", path) { () throws(SystemError) in
      try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
  }

  /// The SHA-256 and length of a file.
  static func digest(of path: String) throws(SpoolError) -> (digest: Digest, byteCount: Int) {
    let file = try open(path)
    let (digest, byteCount) = try doing("read", path) { () throws(SystemError) in
      try files.digest(of: file)
    }
    return (digest, Int(byteCount))
  }

  /// The offset of the first difference between two files; nil if they are equal.
  static func firstDifference(_ path: String, _ other: String) throws(SpoolError) -> Int? {
    let first = try open(path)
    let second = try open(other)
    var offset = 0
    while true {
      let one = try piece(of: first, at: offset)
      let two = try piece(of: second, at: offset)
      let count = min(one.count, two.count)
      if one.prefix(count) != two.prefix(count) {
        return offset + (zip(one, two).prefix { $0 == $1 }.count)
      }
      if count == 0 { return one.count == two.count ? nil : offset }
      offset += count
    }
  }

  /// Some bytes at an offset; none at the end.
  private static func piece(
    of file: borrowing OpenFile, at offset: Int
  ) throws(SpoolError) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: FileOperations.pieceByteCount)
    do throws(SystemError) {
      let count = try files.read(into: &piece, from: file, at: Int64(offset))
      return Array(piece.prefix(count))
    } catch { throw SpoolError("read", file.path, error) }
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
    /// The run found this part of its work damaged.
    case damaged(String)
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
    case .damaged(let part): "holds what the run that goes on found damaged: \(part)"
    case .failedRun(let code): "the run that goes on ended with exit code \(code)"
    case .endlessRun(let seconds): "the run that goes on did not end in \(Int(seconds)) s"
    }
  }

  func encode(to encoder: any Encoder) throws {
    try JSONLine([
      "problem": words, "path": path, "referencePath": referencePath, "after": after,
    ]).encode(to: encoder)
  }
}
