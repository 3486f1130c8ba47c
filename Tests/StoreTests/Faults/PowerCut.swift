import Platform

@testable import Store

/// What a power cut after a list of calls would leave, by the rules of POSIX alone: bytes count
/// once their file was flushed, names once their folder was.
struct PowerCut {
  private var flushedFiles: Set<String> = []
  private var waitingNames: [String: Set<String>] = [:]
  private var durableNames: Set<String> = []
  private(set) var mistakes: [String] = []

  init(after operations: [FileOperation]) {
    for operation in operations { apply(operation) }
  }

  /// Whether the name and all of its folders up to `root` would be there, with all bytes.
  func spares(_ path: String, under root: String) -> Bool {
    var path = path
    while path != root {
      guard durableNames.contains(path), path.count > root.count else { return false }
      path = folder(path)
    }
    return durableNames.contains(root)
  }

  /// Whether all of a file's bytes would be there.
  func sparesBytes(of path: String) -> Bool { flushedFiles.contains(path) }

  private mutating func apply(_ operation: FileOperation) {
    switch operation {
    case .write(let path, _), .truncate(let path): flushedFiles.remove(path)
    case .flush(let path): flushedFiles.insert(path)
    case .makeFolder(let path): waitingNames[folder(path), default: []].insert(path)
    case .rename(let from, let to), .link(let from, let to):
      if !flushedFiles.contains(from) { mistakes.append("\(to) is named before its flush") }
      if case .rename = operation { flushedFiles.remove(from) }
      flushedFiles.insert(to)
      waitingNames[folder(to), default: []].insert(to)
    // It may be a new file's.
    case .open(let path): waitingNames[folder(path), default: []].insert(path)
    case .flushFolder(let path):
      durableNames.formUnion(waitingNames.removeValue(forKey: path) ?? [])
    case .read, .startWriteback, .setMode, .setOwner, .unlink, .clone, .copyRange, .removeFolder,
      .lock:
      break
    }
  }

  private func folder(_ path: String) -> String { FilePath.folder(of: path) }
}
