internal import CPosix
import Glibc

/// Memory that two processes share: a file in memory, whose length neither of them can change. What
/// the other process writes into it may change at any time.
@safe package final class SharedMemory: @unchecked Sendable {
  // Safe: the address and the length never change.
  private let file: OpenFile
  /// The first byte; valid while this value lives.
  @unsafe package let start: UnsafeMutableRawPointer
  package let byteCount: Int

  /// Makes zeroed memory, which takes room where it is written.
  package convenience init(byteCount: Int) throws(SystemError) {
    let descriptor = try SystemError.check {
      unsafe posix_fixed_memory_file("spool-sound", byteCount)
    }
    try self.init(OpenFile(descriptor: descriptor, path: "shared memory"), byteCount: byteCount)
  }

  /// Maps the memory of another process.
  package convenience init(descriptor: CInt, byteCount: Int) throws(SystemError) {
    try self.init(OpenFile(descriptor: descriptor, path: "shared memory"), byteCount: byteCount)
  }

  private init(_ file: consuming OpenFile, byteCount: Int) throws(SystemError) {
    let start = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else { throw .last }
    unsafe self.start = unsafe start
    self.byteCount = byteCount
    self.file = file
  }

  deinit { unsafe munmap(start, byteCount) }

  /// The descriptor of its file, to pass it on.
  package var descriptor: CInt { file.descriptor }
}
