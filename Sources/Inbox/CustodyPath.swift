internal import Sidecars
internal import PipelineModel

extension InboxPath {
  /// The path as text that loses nothing: control characters, percent signs and bytes that are no
  /// text are written as `%0A`. O(n).
  public var escaped: String { EscapedText.of(bytes) }

  /// Reads what `escaped` gave; nil where it is no path. O(n).
  public init?(escaped text: String) {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let first = rest.popFirst() {
      guard first == UInt8(ascii: "%") else {
        bytes.append(first)
        continue
      }
      guard rest.count >= 2,
        let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    self.init(bytes: bytes)
  }
}

extension NoteFileStamp {
  /// A stamp of the inbox as the ledger's.
  init(_ stamp: FileStamp) {
    self.init(
      inode: stamp.inode, byteCount: stamp.byteCount, modified: stamp.modified,
      changed: stamp.changed)
  }
}
