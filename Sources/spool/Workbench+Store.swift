import Glibc
import PipelineModel
import Store

/// The store, as a command needs it: made, looked at, or refused.
extension Workbench {
  /// Opens the store, and makes it if there is none.
  func store(at option: String?) throws(Refusal) -> DiskStore {
    try requireParent(of: option)
    let store = try open(option) { (path) throws(StoreError) in try DiskStore(at: path) }
    return told(store, store)
  }

  /// A folder that was named and is not there is made; one above it that is missing is more likely a
  /// mistake, and is not.
  private func requireParent(of option: String?) throws(Refusal) {
    guard let named = option ?? Environment.variables["SPOOL_STORE"], !named.isEmpty else { return }
    let path = absolute(named)
    var names = path.split(separator: "/").filter { $0 != "." }
    guard !names.isEmpty, names.removeLast() != ".." else { return }
    let parent = "/" + names.joined(separator: "/")
    guard unsafe access(parent, F_OK) != 0, errno == ENOENT else { return }
    throw Refusal(
      text: ErrorText(
        StageError(
          "cannot make the store \(path)",
          reason: "the folder above it, \(parent), does not exist",
          advice: "make the folder above it, or name another with --store", cause: .environment)
      ).render(console), code: .failed)
  }

  /// Opens the store, and makes it if there is none, for a command that frees room: also on a disk that
  /// has none.
  func freeing<Result>(
    _ option: String?, _ body: (DiskStore) throws(StoreError) -> Result
  ) throws(Refusal) -> Result {
    try requireParent(of: option)
    return try open(option) { (path) throws(StoreError) in
      try DiskStore.freeing(path) { (store) throws(StoreError) in try body(told(store, store)) }
    }
  }

  /// Opens the store for a command that only looks.
  func readableStore(at option: String?) throws(Refusal) -> ReadableStore {
    let readable = try open(option) { (path) throws(StoreError) in try ReadableStore(at: path) }
    return told(readable, readable.store)
  }

  /// Opens the store for a command that looks at what was done there: refused where there is none,
  /// which is most likely a slip of the pen.
  func existingStore(at option: String?) throws(Refusal) -> ReadableStore {
    let path = StoreLocation.resolve(option: option, environment: Environment.variables)
    try requireStore(at: path)
    return try readableStore(at: option)
  }

  /// Throws where there is no store.
  func requireStore(at path: String) throws(Refusal) {
    if DiskStore.isThere(at: path) { return }
    let reason =
      unsafe access(path, F_OK) == 0
      ? "nothing that a store is made of lies there" : unsafe String(cString: strerror(errno))
    throw Refusal(
      text: ErrorText(
        StageError(
          "there is no store at \(absolute(path))", reason: reason,
          advice: "name the store's folder with --store; spool run makes one")
      ).render(console), code: .failed)
  }

  /// Says so where a store's database had to be made again.
  private func told<Opened>(_ opened: Opened, _ store: DiskStore) -> Opened {
    if let recovery = store.recovery { console.report("note: \(Format.visible(recovery.line))") }
    store.listen { [console] in console.report("note: \(Format.visible($0))") }
    return opened
  }

  private func open<Opened>(
    _ option: String?, _ body: (String) throws(StoreError) -> Opened
  ) throws(Refusal) -> Opened {
    do {
      return try body(
        StoreLocation.resolve(option: option, environment: Environment.variables))
    } catch {
      throw Refusal(
        text: ErrorText(StageError(error)).render(console), code: .failed,
        isFullDisk: error.isFullDisk)
    }
  }
}
