import Foundation

/// Debian's libfaketime, which gives a program clocks that are wrong.
package enum FalseClock {
  /// The library, or the one that `SPOOL_FAKETIME` names; nil where there is none.
  package static let library: String? = {
    let places = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map {
      "/usr/lib/\($0)/faketime/libfaketime.so.1"
    }
    let named = ProcessInfo.processInfo.environment["SPOOL_FAKETIME"].map { [$0] } ?? []
    return (named + places).first { FileManager.default.fileExists(atPath: $0) }
  }()

  package static var isInstalled: Bool { library != nil }

  /// Words for `env` in front of a command: its clocks are wrong by what a file says at each moment,
  /// such as `+3600`; files keep their times.
  ///
  /// The library passes values to child processes in the environment, and a Swift program that finds
  /// such values of its own process has no arguments. Hence the shell, which also cleans up.
  /// - Parameter isMonotonicRight: whether the monotonic clock stays right.
  package static func words(_ file: String, isMonotonicRight: Bool = false) -> [String] {
    [
      "LD_PRELOAD=\(library ?? "")", "FAKETIME_TIMESTAMP_FILE=\(file)", "FAKETIME_NO_CACHE=1",
      "NO_FAKE_STAT=1",
    ]
      + (isMonotonicRight ? ["FAKETIME_DONT_FAKE_MONOTONIC=1"] : []) + [
        "sh", "-c",
        """
        "$@"; code=$?; rm -f /dev/shm/faketime_shm_$$ /dev/shm/sem.faketime_sem_$$; exit $code
        """, "sh",
      ]
  }
}
