// glibc's structures count as those of whichever module was loaded first.
internal import CPosix
internal import Glibc

/// An open file or folder with one owner, which closes it.
struct Descriptor: ~Copyable, Sendable {
  /// The number that the system knows it by.
  let number: CInt

  init(_ number: CInt) { self.number = number }

  deinit { close(number) }

  /// What the system says of it now.
  func status() throws(SystemError) -> stat {
    var status = stat()
    let number = number
    try SystemError.check { unsafe fstat(number, &status) }
    return status
  }
}
