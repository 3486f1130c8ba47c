import Foundation
import Media
import Platform
import TestSupport
import Testing

@Suite("A cover's file")
struct CoverArtTests {
  @Test("is a picture with a header that can be read, and nothing else")
  func files() throws {
    let folder = try ScratchFolder()
    let png: [UInt8] =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
      + [0, 0, 0, 64, 0, 0, 0, 48]
    func cover(_ bytes: [UInt8]) throws -> CoverArt {
      let path = folder.file("cover")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      return try CoverArt(file: path)
    }
    #expect(try cover(png).mimeType == "image/png")
    #expect(try cover(png).bytes == png)
    for (bytes, reason) in [
      (Array("GIF89a".utf8), "it is neither JPEG nor PNG"), ([], "it is neither JPEG nor PNG"),
      (Array(png.prefix(12)), "its header cannot be read"),
      (png + [UInt8](repeating: 0, count: 1 << 24), "it is larger than 16 MB"),
    ] {
      let error = #expect(throws: SpoolError.self) { try cover(bytes) }
      #expect(error?.reason?.hasPrefix(reason) == true, "\(error?.description ?? "")")
    }
    let missing = #expect(throws: SpoolError.self) { try CoverArt(file: folder.file("none")) }
    #expect(missing?.kind == .missing)
    #expect(throws: SpoolError.self) { try CoverArt(file: folder.path) }
  }
}
