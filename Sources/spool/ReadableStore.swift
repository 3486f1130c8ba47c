import FoundationEssentials
import PipelineModel
import Store

/// A store for a command that only looks: where there is none yet, an empty one that goes away
/// with this value, so that looking leaves nothing behind.
final class ReadableStore {
  let store: DiskStore
  private let scratch: String?

  init(at path: String) throws(StoreError) {
    if FileManager.default.fileExists(atPath: path) {
      scratch = nil
      store = try DiskStore(reading: path)
    } else {
      let folder = FileManager.default.temporaryDirectory.path + "/spool-\(UUID().uuidString)"
      scratch = folder
      store = try DiskStore(at: folder)
    }
  }

  deinit {
    if let scratch { try? FileManager.default.removeItem(atPath: scratch) }
  }
}
