/// Ogg (RFC 3533): a chain of pages, the last of which says that it is the last.
struct OggExtent {
  let file: ContainerBytes

  /// No page is longer: a head, 255 lengths, and as many bytes as those can say.
  private static let longestPage = 27 + 255 + 255 * 255

  var extent: ContainerExtent {
    let start = max(0, file.byteCount - 2 * Self.longestPage)
    let window = file.bytes(at: start, count: file.byteCount - start)
    var place = window.count - 4
    while place >= 0 {
      if let extent = extent(ofPageAt: place, in: window) { return extent }
      place -= 1
    }
    return .unended("its last pages do not read")
  }

  /// What the page says of the file's end; nil where no page begins here.
  private func extent(ofPageAt place: Int, in window: [UInt8]) -> ContainerExtent? {
    guard window[place...].starts(with: "OggS".utf8) else { return nil }
    guard window.count - place >= 27 else { return .incomplete("its last page is cut off") }
    let (version, flags) = (window[place + 4], window[place + 5])
    guard version == 0, flags < 8 else { return nil }
    let body = place + 27 + Int(window[place + 26])
    guard body <= window.count else { return .incomplete("its last page is cut off") }
    let end = window[(place + 27)..<body].reduce(body) { $0 + Int($1) }
    guard end <= window.count else {
      return .incomplete("its last page declares \(end - window.count) bytes that are missing")
    }
    return flags & 4 != 0 ? .whole : .unended("no page says that it is the last")
  }
}
