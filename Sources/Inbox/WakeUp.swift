internal import CPosix
internal import Glibc

/// Ends another thread's poll(2), now or when it next begins one.
final class WakeUp: Sendable {
  /// What the other thread polls for reading.
  let descriptor: CInt

  init() { descriptor = posix_wake_counter() }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Wakes it.
  func ring() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Makes it ready for the next ring.
  func settle() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
