import CPosix
import Glibc

/// What liblilv writes to standard error while it reads files: it tells nobody otherwise that it could not
/// read one.
final class HeardErrors {
  private let file = unsafe posix_memory_file("heard")
  private static let most = 64 << 10

  deinit { if file >= 0 { close(file) } }

  /// Does something, and passes on to standard error what was written meanwhile. Not while other threads
  /// write there.
  /// - Returns: the first error among it, in the library's own words; nil where there is none.
  func listen(_ body: () -> Void) -> String? {
    let usual = file < 0 ? -1 : dup(STDERR_FILENO)
    guard usual >= 0 else {
      body()
      return nil
    }
    fflush(nil)
    dup2(file, STDERR_FILENO)
    body()
    fflush(nil)
    dup2(usual, STDERR_FILENO)
    close(usual)
    var bytes = [UInt8](repeating: 0, count: Self.most)
    let count = max(0, unsafe pread(file, &bytes, bytes.count, 0))
    guard count > 0 else { return nil }
    _ = unsafe write(STDERR_FILENO, &bytes, count)
    ftruncate(file, 0)
    lseek(file, 0, SEEK_SET)
    return Self.firstError(in: String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// The first error of lines such as `error: /x.lv2/manifest.ttl:3:9: expected '.'` or
  /// `lilv_world_load_file(): error: Error loading file`.
  static func firstError(in text: String) -> String? {
    let mark = "error: "
    return text.split(whereSeparator: \.isNewline).lazy.compactMap { line -> String? in
      line.firstRange(of: mark).map { String(line[$0.upperBound...]) }
    }.first
  }
}
