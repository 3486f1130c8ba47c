public import AudioModel

/// The places that a WAV file marks: its `cue ` chunk, and the names and notes that its `adtl` list
/// has for them.
public struct CuePoints: Hashable, Sendable {
  /// A place.
  struct Point: Hashable {
    /// The number by which the list means it.
    let number: UInt32
    /// The frame.
    var frame: Int
  }

  /// Something that is said of a point: `labl`, `note`, `ltxt` or `file`, in the file's own bytes.
  struct Label: Hashable {
    let name: String
    var bytes: [UInt8]

    /// The point that it is about.
    var number: UInt32? {
      var reader = ByteReader(bytes[...])
      return reader.integer(byteCount: 4).map { UInt32($0) }
    }
  }

  private(set) var points: [Point]
  private(set) var labels: [Label]

  /// Whether nothing is marked.
  public var isEmpty: Bool { points.isEmpty }

  /// Reads the content of the chunk and of the lists, without the lists' type. What is cut off in
  /// the middle is left out.
  init(_ cue: [UInt8], lists: [[UInt8]] = []) {
    var reader = ByteReader(cue[...])
    points = []
    for _ in 0..<(reader.integer(byteCount: 4) ?? 0) {
      guard let entry = reader.bytes(24) else { break }
      var fields = ByteReader(entry[...])
      guard let number = fields.integer(byteCount: 4) else { break }
      // The place in a play list, the chunk that is meant, and two offsets for compressed sound.
      _ = fields.bytes(16)
      guard let frame = fields.integer(byteCount: 4) else { break }
      points.append(Point(number: UInt32(number), frame: frame))
    }
    labels = []
    for list in lists {
      var reader = ByteReader(list[...])
      while let name = reader.bytes(4), let count = reader.integer(byteCount: 4),
        let bytes = reader.bytes(count)
      {
        labels.append(Label(name: String(decoding: name, as: UTF8.self), bytes: bytes))
        if count % 2 == 1 { _ = reader.bytes(1) }
      }
    }
  }

  /// The points at other frames, as `place` tells; nil takes a point out, and what is said of it.
  /// How many frames a stretch has that `ltxt` describes is told by `length`.
  public func moved(
    _ place: (Frames) -> Frames?, length: (Frames) -> Frames = { $0 }
  ) -> CuePoints {
    var copy = self
    copy.points = points.compactMap { point in
      place(Frames(point.frame)).flatMap { frame in
        UInt32(exactly: frame.count).map { Point(number: point.number, frame: Int($0)) }
      }
    }
    let left = Set(copy.points.map(\.number))
    copy.labels = labels.filter { $0.number.map(left.contains) ?? false }.map { label in
      var reader = ByteReader(label.bytes[...].dropFirst(4))
      guard label.name == "ltxt", let frames = reader.integer(byteCount: 4) else { return label }
      var count: [UInt8] = []
      count.append(length(Frames(frames)).count, byteCount: 4)
      return Label(name: label.name, bytes: label.bytes.prefix(4) + count + reader.rest)
    }
    return copy
  }

  /// The content of the `cue ` chunk.
  var cue: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(points.count, byteCount: 4)
    for point in points {
      bytes.append(Int(point.number), byteCount: 4)
      bytes.append(point.frame, byteCount: 4)
      bytes += Array("data".utf8) + [UInt8](repeating: 0, count: 8)
      bytes.append(point.frame, byteCount: 4)
    }
    return bytes
  }

  /// The content of the list, with its type; nil where nothing is said.
  var list: [UInt8]? {
    guard !labels.isEmpty else { return nil }
    return labels.reduce(into: Array("adtl".utf8)) { bytes, label in
      WaveHeader.append(label.name, label.bytes, to: &bytes)
    }
  }
}
