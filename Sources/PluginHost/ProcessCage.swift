import FoundationEssentials
import Glibc

/// A control group of the kernel around a plugin and all that it starts: they are counted together, and
/// none of them outlives it, whichever session or process group it moved to.
///
/// The limit of processes that every user has does not bind root; this one does. It needs a group of
/// processes that can be written to, which root has on most machines, and a user where the service
/// that started Spool delegates one.
struct ProcessCage {
  /// The most processes and threads.
  static let most = 256

  private let folder: String

  /// The cage of a process; nil where there can be none on this machine.
  init?(of process: pid_t) {
    guard let place = Self.place else { return nil }
    folder = "\(place)/\(Self.prefix)\(process)"
  }

  /// Puts this process into it.
  /// - Returns: whether it is in there, and counted.
  func enter() -> Bool {
    sweep()
    guard unsafe mkdir(folder, 0o755) == 0 else { return false }
    guard Self.write("\(Self.most)", to: "\(folder)/pids.max"),
      Self.write("0", to: "\(folder)/cgroup.procs")
    else {
      unsafe rmdir(folder)
      return false
    }
    return true
  }

  /// Ends whatever is still in it, and removes it. Does nothing where it was never entered.
  func end() {
    guard unsafe rmdir(folder) != 0, errno == EBUSY else { return }
    // Nothing new is born while the rest is ended.
    _ = Self.write("0", to: "\(folder)/pids.max")
    for _ in 0..<500 {
      for process in processes { kill(process, SIGKILL) }
      if unsafe rmdir(folder) == 0 || errno != EBUSY { return }
      usleep(2000)
    }
  }

  private var processes: [pid_t] {
    let bytes = FileManager.default.contents(atPath: "\(folder)/cgroup.procs") ?? Data()
    // One of another namespace is shown as 0, which would mean this process's own group.
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { pid_t($0) }
      .filter { $0 > 1 && $0 != getpid() }
  }

  /// Removes what was left by a Spool that was killed: empty cages of processes that are gone.
  private func sweep() {
    guard let place = Self.place else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    for name in names where name.hasPrefix(Self.prefix) {
      guard let owner = pid_t(name.dropFirst(Self.prefix.count)), kill(owner, 0) != 0,
        errno == ESRCH
      else { continue }
      unsafe rmdir("\(place)/\(name)")
    }
  }

  private static let prefix = "spool-plugin-"

  /// The folder of this process's own group, where cages can be made in it.
  private static let place: String? = {
    func text(_ path: String) -> String {
      String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
    guard
      let place = place(
        groups: text("/proc/self/cgroup"), mounts: text("/proc/self/mountinfo")),
      unsafe access(place, W_OK) == 0
    else { return nil }
    // In the second version of control groups, processes are counted only where that was asked for.
    let isSecond = unsafe access("\(place)/cgroup.subtree_control", F_OK) == 0
    let counted = text("\(place)/cgroup.subtree_control").split(whereSeparator: \.isWhitespace)
    return !isSecond || counted.contains("pids") ? place : nil
  }()

  /// Where the group of processes lies that counts this one.
  /// - Parameters:
  ///   - groups: what `/proc/self/cgroup` says.
  ///   - mounts: what `/proc/self/mountinfo` says.
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

  private static func write(_ text: String, to path: String) -> Bool {
    let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var bytes = Array(text.utf8)
    return unsafe Glibc.write(file, &bytes, bytes.count) == bytes.count
  }
}
