import Glibc

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
    let bytes = Array(name.utf8)
    precondition(bytes.count <= Self.mostBytes)
    let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { throw SystemError(errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) {
      unsafe $0[1...bytes.count].copyBytes(from: bytes)
    }
    let length = MemoryLayout<sa_family_t>.size + 1 + bytes.count
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket, $0, socklen_t(length))
      }
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
