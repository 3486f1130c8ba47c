import Foundation

/// The socket that systemd would listen at: a real datagram socket.
package final class NotifySocket {
  /// What `NOTIFY_SOCKET` says.
  package let name: String
  private let descriptor: CInt

  /// Binds a socket. A name that begins with `@` is an abstract one.
  package init(_ name: String) throws {
    self.name = name
    descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    var bytes = Array(name.utf8)
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let number = descriptor
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(number, $0, length)
      }
    }
    guard status == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// The lines of every datagram that has come since the last call.
  package func lines() -> [String] {
    var found: [String] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      guard count > 0 else { return found }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      found += text.split(separator: "\n").map(String.init)
    }
  }
}
