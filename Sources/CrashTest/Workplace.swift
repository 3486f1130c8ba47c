internal import FoundationEssentials
import Glibc

/// A folder with a store and an output folder, in which one run is started until it is done.
struct Workplace: Sendable {
  let path: String

  var store: String { path + "/store" }
  var out: String { path + "/out" }
  /// The keys that runs sign receipts with: one folder beside all places, so that all sign with the
  /// same, and the user's own keys are left alone.
  var keys: String { path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex) + "/keys" }
  /// Where the run's standard error goes.
  var errors: String { path + "/errors" }

  /// Makes the folder.
  init(at path: String) throws(CrashTestError) {
    self.path = path
    guard unsafe mkdir(path, 0o700) == 0 else { throw .system("make the folder", path) }
  }

  /// Makes a folder with a new name inside `folder`, readable by its owner alone.
  static func makeRoot(inFolder folder: String) throws(CrashTestError) -> String {
    var name = Array("\(folder)/spool-crashtest-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&name) != nil else { throw .system("make a folder in", folder) }
    return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Deletes a folder and all that is in it.
  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// The files in the output folder, sorted by name; none where there is no folder yet. Receipts
  /// say when and in which run they were signed, and are no two the same.
  func outputs() throws(CrashTestError) -> [Output] {
    guard unsafe access(out, F_OK) == 0 else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: out).sorted()
        .filter { !$0.hasSuffix(".receipt.json") }
        .map { Output(name: $0, path: "\(out)/\($0)") }
    } catch {
      throw CrashTestError("cannot list \(out)", reason: "\(error)")
    }
  }

  /// What the last start said on standard error: an error in its parts, or else all of it in one line.
  var complaint: (reason: String, advice: String?) {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: errors)) else { return ("", nil) }
    return Self.complaint(in: String(decoding: data, as: UTF8.self))
  }

  /// The parts of an error as commands report it.
  static func complaint(in text: String) -> (reason: String, advice: String?) {
    var reasons: [String] = []
    var advice: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ":", maxSplits: 1)
      let rest = parts.count == 2 ? parts[1].drop(while: \.isWhitespace) : line
      switch parts.first {
      case "error", "why": reasons.append(String(rest))
      case "next": advice = String(rest)
      default: reasons.append(String(line.drop(while: \.isWhitespace)))
      }
    }
    return (reasons.joined(separator: ": "), advice)
  }

  /// A file in the output folder.
  struct Output: Hashable, Sendable {
    let name: String
    let path: String

    /// Whether the name is one of those under which files are written before they are whole.
    var isTemporary: Bool { name.hasPrefix(".spool-") && name.hasSuffix(".part") }
  }
}
