import FoundationEssentials
import Glibc
import Platform
import Synchronization

/// A control group around a plugin and its descendants: it limits their total number, and its
/// removal kills all of them, whatever session or process group they moved to.
///
/// Unlike the process limit of users, it also applies to root. It needs a writable control group,
/// which root has on most machines, and a user has if the service that started Spool delegates one.
final class ProcessCage {
  /// Maximum number of processes and threads.
  static let most = 256

  /// Its open `cgroup.procs`: a process that writes 0 to it enters. -1 once it is closed.
  var entrance: Int32 { procs?.descriptor ?? -1 }

  private var procs: OpenFile?

  private let folder: String
  private static let count = Atomic(0)

  /// Makes a cage; nil if this machine permits none.
  init?() {
    guard let place = Self.place else { return nil }
    Self.sweep(place)
    let number = Self.count.add(1, ordering: .relaxed).newValue
    folder = "\(place)/\(Self.prefix)\(getpid())-\(number)"
    do throws(SystemError) {
      try FileOperations.uncounted.makeNewFolder(folder, mode: 0o755)
      procs = try OpenFile("\(folder)/cgroup.procs", O_WRONLY)
      try limit(Self.most)
    } catch {
      try? FileOperations.uncounted.removeFolder(folder)
      return nil
    }
  }

  func closeEntrance() { procs = nil }

  /// Whether this machine permits cages.
  static var isPossible: Bool { place != nil }

  /// Kills the remaining processes and removes it.
  func end() {
    if remove() { return }
    // Prevents new processes during the kill.
    try? limit(0)
    for _ in 0..<500 {
      for process in processes { kill(process, SIGKILL) }
      if remove() { return }
      usleep(2000)
    }
  }

  /// - Returns: false while processes are left in it.
  private func remove() -> Bool {
    do throws(SystemError) { try FileOperations.uncounted.removeFolder(folder) } catch {
      return error.code != EBUSY
    }
    return true
  }

  private func limit(_ count: Int) throws(SystemError) {
    try OpenFile("\(folder)/pids.max", O_WRONLY).put(Array("\(count)".utf8))
  }

  private var processes: [pid_t] {
    let bytes = FileManager.default.contents(atPath: "\(folder)/cgroup.procs") ?? Data()
    // A process of another namespace shows as 0, which `kill` takes for the own process group.
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { pid_t($0) }
      .filter { $0 > 1 && $0 != getpid() }
  }

  /// Removes empty cages of Spool processes that were killed.
  private static func sweep(_ place: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let owner = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }),
        kill(owner, 0) != 0, errno == ESRCH
      else { continue }
      try? FileOperations.uncounted.removeFolder("\(place)/\(name)")
    }
  }

  private static let prefix = "spool-plugin-"

  /// The folder of this process's own group, if cages can be made in it.
  private static let place: String? = {
    func text(_ path: String) -> String {
      String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
    guard
      let place = place(
        groups: text("/proc/self/cgroup"), mounts: text("/proc/self/mountinfo")),
      FilePath.isWritable(place)
    else { return nil }
    // Version 2 of control groups counts processes only if the controller is enabled.
    let isSecond = FilePath.exists("\(place)/cgroup.subtree_control")
    let counted = text("\(place)/cgroup.subtree_control").split(whereSeparator: \.isWhitespace)
    return !isSecond || counted.contains("pids") ? place : nil
  }()

  /// The folder of the control group that counts this process.
  /// - Parameters:
  ///   - groups: the content of `/proc/self/cgroup`.
  ///   - mounts: the content of `/proc/self/mountinfo`.
  static func place(groups: String, mounts: String) -> String? {
    let own = groups.split(separator: "\n").compactMap {
      line -> (names: [Substring], path: String)? in
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      return parts.count == 3 ? (parts[1].split(separator: ","), String(parts[2])) : nil
    }
    let isFirst = own.contains { $0.names.contains("pids") }
    guard
      let path = own.first(where: { isFirst ? $0.names.contains("pids") : $0.names.isEmpty })?.path
    else { return nil }
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard let dash = fields.firstIndex(of: "-"), fields.count > dash + 3, dash > 4 else {
        continue
      }
      let (kind, options) = (fields[dash + 1], fields[dash + 3].split(separator: ","))
      guard isFirst ? kind == "cgroup" && options.contains("pids") : kind == "cgroup2" else {
        continue
      }
      let (root, point) = (String(fields[3]), String(fields[4]))
      let inner =
        root == "/" ? path : path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
      return inner == "/" || inner.isEmpty ? point : "\(point)\(inner)"
    }
    return nil
  }
}
