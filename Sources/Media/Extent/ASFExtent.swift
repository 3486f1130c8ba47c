/// Windows Media: a head of objects, one of which says how long the file is (ASF 1.20, section 3.2).
struct ASFExtent {
  let file: ContainerBytes

  private static let head: [UInt8] = [
    0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9, 0, 0xaa, 0, 0x62, 0xce, 0x6c,
  ]
  private static let properties: [UInt8] = [
    0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0, 0xc0, 0x0c, 0x20, 0x53, 0x65,
  ]

  static func isASF(_ file: ContainerBytes) -> Bool { file.bytes(at: 0, count: 16) == head }

  var extent: ContainerExtent {
    let headEnd = file.little(at: 16, count: 8)
    guard headEnd >= 30, headEnd < 1 << 60 else { return .whole }
    guard headEnd <= file.byteCount else { return .incomplete("its head is cut off") }
    var offset = 30
    while headEnd - offset >= 24 {
      let size = file.little(at: offset + 16, count: 8)
      guard size >= 24, size <= headEnd - offset else { break }
      if file.bytes(at: offset, count: 16) == Self.properties, size >= 104 {
        // What is sent live has no length.
        let isLive = file.little(at: offset + 88, count: 4) & 1 != 0
        let declared = file.little(at: offset + 40, count: 8)
        if isLive || declared <= file.byteCount || declared >= 1 << 60 { return .whole }
        return .short(of: declared, at: file.byteCount)
      }
      offset += size
    }
    return .whole
  }
}
