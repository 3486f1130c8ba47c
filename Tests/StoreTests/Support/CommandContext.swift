import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport

/// Writes a text as a stage would, with a stage's error.
func put(_ text: String, at path: String) throws(SpoolError) {
  do {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  } catch {
    throw SpoolError("cannot write", reason: "\(error)")
  }
}

/// The text of a file; nil if there is none.
func text(at path: String) -> String? {
  (try? Data(contentsOf: URL(fileURLWithPath: path))).map { String(decoding: $0, as: UTF8.self) }
}

/// The names in a folder, hidden ones too, sorted.
func names(in path: String) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}

/// The artifacts of a store whose bytes are not those that their names promise.
func damagedArtifacts(inStore path: String) -> [String] {
  names(in: path + "/artifacts").flatMap { shard in
    names(in: "\(path)/artifacts/\(shard)").filter { name in
      let file = "\(path)/artifacts/\(shard)/\(name)"
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: file)) else { return true }
      return SHA256.digest(of: Array(data)).hex != name
    }
  }
}

/// The draft that was resumed; throws if there was none.
func found(_ draft: consuming ArtifactDraft?) throws -> ArtifactDraft {
  switch consume draft {
  case .some(let draft): return draft
  case .none: throw CocoaError(.fileNoSuchFile)
  }
}

extension DiskStore {
  /// Publishes a text.
  func publish(
    _ text: String, at path: String, isReplacing: Bool = false
  ) throws(SpoolError) -> Int {
    try publish(SHA256.digest(of: text), at: path, isReplacing: isReplacing) {
      (temporary) throws(SpoolError) in
      try put(text, at: temporary)
    }
  }
}
