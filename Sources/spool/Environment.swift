import FoundationEssentials
import Glibc

/// The process's environment.
enum Environment {
  /// Every variable.
  static var variables: [String: String] { ProcessInfo.processInfo.environment }

  /// Makes `--plugins` known to everything that this process does and starts. Called first, while
  /// there is one thread.
  static func share(plugins folder: String?) {
    guard let folder, let path = unsafe realpath(folder, nil) else { return }
    defer { unsafe free(path) }
    unsafe setenv("SPOOL_PLUGINS", path, 1)
  }
}
