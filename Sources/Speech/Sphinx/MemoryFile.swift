import CPosix
import Glibc

/// A file that lies in memory only, for libraries that want to be told a path.
///
/// Nothing of it is left when the process ends, however it ends.
struct MemoryFile: ~Copyable {
  private let descriptor: Int32

  /// Where it can be opened, as long as it lives.
  var path: String { "/proc/self/fd/\(descriptor)" }

  /// Holds the text.
  init(named name: String, holding text: String) throws(SpeechError) {
    let descriptor = unsafe posix_memory_file(name)
    self.descriptor = descriptor
    guard descriptor >= 0 else {
      throw SpeechError(.words, on: name, why: unsafe String(cString: strerror(errno)))
    }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = unsafe bytes.withUnsafeBufferPointer {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard written > 0 else {
        throw SpeechError(.words, on: name, why: unsafe String(cString: strerror(errno)))
      }
      bytes = bytes.dropFirst(written)
    }
  }

  deinit { close(descriptor) }
}
