import CLibAV
import CLibAVLoader
package import Platform

/// The cover picture of a recording.
package struct CoverArt: Hashable, Sendable {
  package let bytes: [UInt8]
  /// `image/jpeg` or `image/png`.
  package let mimeType: String

  /// Takes an encoded picture; nil unless it is JPEG or PNG, the two formats that players support.
  package init?(bytes: [UInt8]) {
    if bytes.starts(with: [0xff, 0xd8, 0xff]) {
      mimeType = "image/jpeg"
    } else if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      mimeType = "image/png"
    } else {
      return nil
    }
    self.bytes = bytes
  }

  /// Reads the picture at `path`, which is to become a cover. O(bytes).
  /// - Throws: where there is none, or none that every export can have.
  package init(file path: String) throws(SpoolError) {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileOperations.system.beginning(of: path, byteCount: Self.byteLimit + 1)
    } catch {
      throw SpoolError("read the cover", path, error)
    }
    let cover = CoverArt(bytes: bytes)
    if let cover, cover.obstacle == nil {
      self = cover
      return
    }
    throw SpoolError(
      "read the cover", path, reason: cover?.obstacle ?? "it is neither JPEG nor PNG",
      advice: "a JPEG or PNG file of up to 16 MB", cause: .input)
  }

  /// Why no export can have it as its cover; nil if each can. O(bytes) at worst.
  package var obstacle: String? {
    if size == nil { return "its header cannot be read" }
    // The length of a FLAC metadata block has 24 bits, and the block holds more than the picture.
    return bytes.count > CoverArt.byteLimit
      ? "it is larger than 16 MB, which is all that a FLAC file takes" : nil
  }

  private static let byteLimit = (1 << 24) - 1024

  /// Width and height in pixels; nil if the header is invalid. O(bytes) at worst.
  var size: (width: Int, height: Int)? {
    mimeType == "image/png" ? pngSize : jpegSize
  }

  /// The picture as the front cover in a Vorbis comment: a FLAC picture block (RFC 9639, section
  /// 8.8) in Base64; nil if its header is invalid. O(bytes).
  var commentText: String? {
    guard let size else { return nil }
    // Without a description, of 24 bits a pixel and no palette.
    let numbers = [0, size.width, size.height, 24, 0, bytes.count]
    let block =
      3.bigEndianBytes(4) + mimeType.utf8.count.bigEndianBytes(4) + Array(mimeType.utf8)
      + numbers.flatMap { $0.bigEndianBytes(4) } + bytes
    var text = [CChar](repeating: 0, count: (block.count + 2) / 3 * 4 + 1)
    return unsafe av_base64_encode(&text, Int32(text.count), block, Int32(block.count))
      .map { unsafe String(cString: $0) }
  }

  private func number(at offset: Int, bytes count: Int) -> Int? {
    guard offset >= 0, offset + count <= bytes.count else { return nil }
    return Int(bigEndianBytes: bytes[offset..<offset + count])
  }

  private var pngSize: (width: Int, height: Int)? {
    guard let width = number(at: 16, bytes: 4), let height = number(at: 20, bytes: 4) else {
      return nil
    }
    return (width, height)
  }

  /// Reads the first start-of-frame segment (ITU-T T.81, B.2.2).
  private var jpegSize: (width: Int, height: Int)? {
    var offset = 2
    while let marker = number(at: offset, bytes: 2), marker > 0xff00 {
      let isStartOfFrame =
        (0xffc0...0xffcf).contains(marker) && ![0xffc4, 0xffc8, 0xffcc].contains(marker)
      if isStartOfFrame {
        guard let height = number(at: offset + 5, bytes: 2),
          let width = number(at: offset + 7, bytes: 2)
        else { return nil }
        return (width, height)
      }
      guard let length = number(at: offset + 2, bytes: 2) else { return nil }
      offset += 2 + length
    }
    return nil
  }
}
