import CConfinement
import Glibc
import TestSupport

/// Where Spool runs, and what becomes there of what a plugin tries.
enum Surroundings: CaseIterable {
  /// As the tests do.
  case asHere
  /// By a user without rights, where the tests are root's.
  case unprivileged
  /// Where the kernel refuses namespaces.
  case withoutNamespaces

  /// What comes before Spool on the command line; nil where that cannot be had here.
  var words: [String]? {
    switch self {
    case .asHere: ["env"]
    case .unprivileged:
      // Programs of root's own are of no use to others.
      Self.working([
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "PATH=/usr/bin:/bin",
      ])
    case .withoutNamespaces:
      Self.working([
        "unshare", "-r", "sh", "-c",
        #"echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all "$@""#,
        "sh",
      ])
    }
  }

  /// What comes before Spool on the command line where a user without rights gets no namespaces, so that
  /// the limit of processes is the only one; nil where that cannot be had here.
  static var userWithoutNamespaces: [String]? {
    guard let words = Self.withoutNamespaces.words else { return nil }
    guard geteuid() == 0 else { return words }
    return Self.unprivileged.words.flatMap { Self.working($0 + words) }
  }

  /// Whether Spool gets namespaces there.
  var hasNamespaces: Bool {
    self != .withoutNamespaces && Self.kernelGivesThem
  }

  private static let kernelGivesThem =
    working(["unshare", "-r", "-m", "-p", "-n", "-f", "--mount-proc"]) != nil

  /// The words, where Spool and Python start behind them.
  private static func working(_ words: [String]) -> [String]? {
    guard let program = Program(named: words[0]), let spool = try? SpoolProgram.program
    else { return nil }
    for tool in [spool.path, "python3"] {
      guard let result = try? program.run(words.dropFirst() + [tool, "--version"]),
        result.exitCode == 0
      else { return nil }
    }
    return words
  }

  /// What becomes of each deed.
  var outcomes: [String: Set<String>] {
    let files: Set<String> = hasNamespaces ? ["EROFS", "EACCES"] : ["EACCES"]
    let changes: Set<String> = hasNamespaces ? files : ["done", "EPERM"]
    let signals: Set<String> =
      hasNamespaces
      ? ["ESRCH"] : confinement_landlock_version() >= 6 ? ["EPERM"] : ["EPERM", "done"]
    return [
      "write": files, "truncate": files.union(["EPERM"]), "chmod": changes, "utime": changes,
      "kill": signals, "kill Spool": signals, "limit": ["EPERM"],
      "environ": ["EACCES"], "shadow": ["EACCES"],
      "internet": ["EPERM"], "unix": ["EPERM"], "datagrams": ["EPERM"], "io_uring": ["EPERM"],
      "unshare": ["EPERM"], "pair": ["done"],
      "priority": hasNamespaces ? ["ESRCH"] : ["EPERM"], "own priority": ["done"],
      "segment": hasNamespaces ? ["done"] : ["EPERM"], "shared": ["done"], "own": ["done"],
      "set id": ["EPERM"], "made with set id": ["EPERM"], "daemon": ["done"],
    ]
  }
}
