internal import Hashing

/// What the undisturbed run left, and how it went: what every other run is held against.
struct Reference {
  private let files: [Workplace.Output]
  /// How long it took, in seconds.
  let seconds: Double
  /// How much processor time it took, in seconds.
  let processorSeconds: Double
  private let trace: Trace
  /// How long the recording is, in seconds; nil where the run did not tell.
  var mediaSeconds: Double? { trace.furthest }
  /// How many files it left.
  var fileCount: Int { files.count }

  init(
    _ place: Workplace, seconds: Double, processorSeconds: Double, trace: Trace
  ) throws(CrashTestError) {
    files = try place.outputs()
    guard !files.isEmpty else {
      throw CrashTestError(
        "the undisturbed run left no file to compare", advice: "use a pipeline that exports")
    }
    self.seconds = seconds
    self.processorSeconds = processorSeconds
    self.trace = trace
  }

  /// Every file with its digest.
  func summary() throws(CrashTestError) -> [OutputDigest] {
    var list: [OutputDigest] = []
    for file in files {
      let (digest, byteCount) = try FileBytes.digest(of: file.path)
      list.append(OutputDigest(name: file.name, sha256: digest.hex, byteCount: byteCount))
    }
    return list
  }

  /// The time that is left from a starting point, as long as nothing disturbs it.
  func expectedSeconds(from point: StartingPoint) -> Double {
    seconds - trace.lastSafeMoment(for: point)
  }

  /// What is wrong in an output folder.
  /// - Parameters:
  ///   - isComplete: whether the run has ended: then every file has to be there, and nothing else.
  ///     Before, files may be missing, but what is there has to be whole.
  ///   - after: what was done to the run.
  func differences(
    in place: Workplace, isComplete: Bool, after: String
  ) throws(CrashTestError) -> [Difference] {
    let found = try place.outputs()
    var differences: [Difference] = []
    for file in found {
      let original = files.first { $0.name == file.name }
      func add(_ kind: Difference.Kind) {
        differences.append(
          Difference(kind: kind, path: file.path, referencePath: original?.path, after: after))
      }
      if file.isTemporary {
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

/// One file of the undisturbed run.
public struct OutputDigest: Hashable, Sendable, Encodable {
  /// Its name in the output folder.
  public let name: String
  /// The SHA-256 of its bytes, in hexadecimal.
  public let sha256: String
  /// Its length.
  public let byteCount: Int
}
