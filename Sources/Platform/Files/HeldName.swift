package import Glibc

/// A name that one holder on the computer has at a time. The kernel frees it when its holder dies, and
/// nothing of it lies on a disk: it is the abstract address of a socket (unix(7)).
///
/// Processes in other network namespaces have names of their own.
package struct HeldName: ~Copyable {
  private let socket: CInt

  /// The longest name, in bytes: an address has 108, the first of which is zero.
  private static let mostBytes = 107

  /// Takes the name without waiting; nil if it is held already.
  /// - Parameter name: at most 107 bytes.
  package init?(_ name: String) throws(SystemError) {
    let bytes = [0] + Array(name.utf8)
    precondition(bytes.count <= Self.mostBytes + 1)
    let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { throw SystemError(errno) }
    let status = unsafe sockaddr_un(bytes).withPointer(count: bytes.count) {
      unsafe bind(socket, $0, $1)
    }
    guard status == 0 else {
      let code = errno
      close(socket)
      if code == EADDRINUSE { return nil }
      throw SystemError(code)
    }
    self.socket = socket
  }

  deinit { close(socket) }
}

extension sockaddr_un {
  /// The address of a socket on this computer: a path, or behind a zero byte an abstract name.
  /// - Parameter name: at most 108 bytes.
  package init(_ name: [UInt8]) {
    self.init()
    sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &sun_path) { unsafe $0.copyBytes(from: name) }
  }

  /// Calls `body` with the address and its length, as system calls take them.
  /// - Parameter count: the bytes of the name.
  @unsafe package func withPointer<Result>(
    count: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    unsafe withUnsafePointer(to: self) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sa_family_t>.size + count))
      }
    }
  }
}
