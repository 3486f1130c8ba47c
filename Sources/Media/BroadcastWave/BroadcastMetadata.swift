package import Audio
import Glibc
package import Platform

/// The metadata of a WAV file: production data, cue points and the recorder's notes; and what an AIFF
/// or CAF file tells alike.
package struct BroadcastMetadata: Hashable, Sendable {
  /// Nil if the file has none.
  package var bext: BroadcastExtension?
  /// Whether there is a `bext` chunk that is too short.
  package private(set) var hasTornExtension = false
  /// The recorder's notes as XML; nil if there are none.
  package var iXML: [UInt8]?
  /// Nil if the file has none.
  package var cues: CuePoints?
  /// The names of the other chunks with something to tell, at most eight.
  package private(set) var otherChunks: [String] = []
  /// The entries of an `INFO` list that libavformat does not read, by its names, in lower case.
  package private(set) var information: [String: String] = [:]
  /// The annotations and comments of an AIFF file.
  package private(set) var annotations: [String] = []

  package init() {}

  /// Reads the metadata of the WAV, RF64, BW64, W64, AIFF or CAF file at `path`, or of the file of
  /// these types that a FLAC file was made of and keeps the chunks of; empty for other files. Skips
  /// chunks of more than 16 MB. Throws if the file cannot be read.
  package init(of path: String) throws(SpoolError) {
    let file = try OpenFile(path: path, O_RDONLY)
    let byteCount = try file.byteCount
    try self.init(in: ContainerBytes(file, byteCount: byteCount))
  }

  /// Reads the metadata of an open file, as ``init(of:)`` does.
  init(in bytes: borrowing ContainerBytes) throws(SpoolError) {
    guard let wave = try WaveChunks.table(of: bytes.copy()) else {
      guard let file = InterchangeChunks(try bytes.copy()) else { return }
      cues = file.cues
      annotations = file.annotations
      addOthers(file.otherChunks)
      return
    }
    if let chunk = wave.first("bext") {
      bext = try wave.bytes(of: chunk).flatMap { BroadcastExtension($0) }
      hasTornExtension = bext == nil
    }
    if let chunk = wave.first("iXML") { iXML = try wave.bytes(of: chunk) }
    if let chunk = wave.first("cue "), let bytes = try wave.bytes(of: chunk) {
      let points = CuePoints(bytes, lists: try wave.lists("adtl"))
      cues = points.isEmpty ? nil : points
    }
    let lists = try wave.lists("INFO")
    for list in wave.isRIFF ? [] : lists { add(information: list) }
    // libavformat reads an ID3 tag only where nothing else has tags.
    let hasTags = bext != nil || !lists.isEmpty
    addOthers(
      wave.chunks.map(\.name).filter {
        !Self.known.contains($0) || hasTags && $0.lowercased() == "id3 "
      })
  }

  private mutating func addOthers(_ names: [String]) {
    for name in names {
      let word = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      if !word.isEmpty, !otherChunks.contains(word) { otherChunks.append(word) }
    }
    otherChunks = Array(otherChunks.prefix(8))
  }

  /// Adds the entries of an `INFO` list that are not there yet.
  private mutating func add(information list: [UInt8]) {
    var reader = ByteReader(list[...])
    while let name = reader.bytes(4), let count = reader.integer(byteCount: 4),
      let bytes = reader.bytes(count)
    {
      if count % 2 == 1 { _ = reader.bytes(1) }
      let entry = String(decoding: name, as: UTF8.self)
      let text = String(ofFile: bytes.prefix { $0 != 0 })
      guard let tag = ExportSpec.tag(ofInformation: entry), information[tag] == nil, !text.isEmpty
      else { continue }
      information[tag] = text
    }
  }

  /// What is read here or by libavformat, what a file of its own has anew, what only fills or repeats
  /// it, and what an editor notes for itself.
  private static let known: Set<String> = [
    "fmt ", "data", "fact", "ds64", "bext", "iXML", "cue ", "LIST", "id3 ", "ID3 ", "JUNK", "junk",
    "PAD ", "FLLR", "filr", "fill", "PEAK", "levl", "slnt", "minf", "elm1", "regn", "umid", "DGDA",
  ]

  /// The chunks in file order.
  var chunks: [WaveHeader.Chunk] {
    var header = WaveHeader()
    if let bext { header.append("bext", bext.bytes) }
    if let iXML { header.append("iXML", iXML) }
    if let cues, !cues.isEmpty {
      header.append("cue ", cues.cue)
      if let list = cues.list { header.append("LIST", list) }
    }
    return header.chunks
  }

  /// Equal digests mean equal bytes in the file.
  package var digest: Digest {
    var hasher = SHA256()
    hasher.update("spool-broadcast-1\n")
    for chunk in chunks {
      hasher.update("\(chunk.name):\(chunk.content.count)=")
      hasher.update(chunk.content)
    }
    return hasher.finalize()
  }
}

/// The cue points of a WAV file: its `cue ` chunk, and their labels and notes in the `adtl` list.
package struct CuePoints: Hashable, Sendable {
  /// A place.
  struct Point: Hashable {
    let number: UInt32
    var frame: Int
  }

  /// A label of a point: `labl`, `note`, `ltxt` or `file`, in the file's own bytes.
  struct Label: Hashable {
    let name: String
    var bytes: [UInt8]

    /// The point it belongs to.
    var number: UInt32? {
      var reader = ByteReader(bytes[...])
      return reader.integer(byteCount: 4).map { UInt32($0) }
    }

    /// How many bytes come before the text; nil for a label without one.
    var headByteCount: Int? { ["labl": 4, "note": 4, "ltxt": 20][name] }

    /// The same with its text in UTF-8, as all texts of the files that are written.
    var inUTF8: Label {
      guard let headByteCount else { return self }
      let text = bytes.dropFirst(headByteCount)
      if String(validating: text, as: UTF8.self) != nil { return self }
      let head = Array(bytes.prefix(headByteCount))
      return Label(name: name, bytes: head + Array(String(ofFile: text).utf8))
    }
  }

  private(set) var points: [Point]
  private(set) var labels: [Label]

  init(points: [Point], labels: [Label]) {
    self.points = points
    self.labels = labels
  }

  package var isEmpty: Bool { points.isEmpty }

  /// Reads the content of the chunk and of the lists, without the lists' type. Truncated entries
  /// are skipped.
  init(_ cue: [UInt8], lists: [[UInt8]] = []) {
    var reader = ByteReader(cue[...])
    points = []
    for _ in 0..<(reader.integer(byteCount: 4) ?? 0) {
      guard let entry = reader.bytes(24) else { break }
      var fields = ByteReader(entry[...])
      guard let number = fields.integer(byteCount: 4) else { break }
      // The play list position, the chunk, and two offsets for compressed sound.
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
        // Another name would have more bytes when it is written.
        if let name = String(validating: name, as: UTF8.self) {
          labels.append(Label(name: name, bytes: bytes))
        }
        if count % 2 == 1 { _ = reader.bytes(1) }
      }
    }
  }

  /// The points as markers, in order of time. One is called by its label, else by its note, else by
  /// the text of its stretch; libavformat reads labels only up to the first note.
  func markers(at rate: Hertz) -> [MediaProbe.Marker] {
    var titles: [UInt32: String] = [:]
    for name in ["labl", "note", "ltxt"] {
      for label in labels where label.name == name {
        let head = label.headByteCount ?? 0
        let text = String(ofFile: label.bytes.dropFirst(head).prefix { $0 != 0 })
        guard let number = label.number, titles[number] == nil, !text.isEmpty else { continue }
        titles[number] = text
      }
    }
    return points.map { point in
      MediaProbe.Marker(
        time: Frames(point.frame).duration(at: rate), title: titles[point.number])
    }.sorted { $0.time < $1.time }
  }

  /// What it tells besides places and their names, in words; nil if nothing. Chapters hold neither.
  package var detail: String? {
    let labelled = Set(labels.filter { $0.name == "labl" }.compactMap(\.number))
    let hasNotes = labels.contains { label in
      label.name == "note" && label.number.map(labelled.contains) == true
    }
    let hasLengths = labels.contains { label in
      var reader = ByteReader(label.bytes[...].dropFirst(4))
      return label.name == "ltxt" && reader.integer(byteCount: 4) ?? 0 > 0
    }
    let parts = (hasNotes ? ["notes"] : []) + (hasLengths ? ["lengths"] : [])
    return parts.isEmpty ? nil : parts.joined(separator: " and ") + " of cue points"
  }

  /// The points moved by `place`; nil removes a point with its labels. `length` gives the new
  /// length of a stretch described by `ltxt`.
  package func moved(
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

  /// The content of the list, with its type; nil without labels.
  var list: [UInt8]? {
    guard !labels.isEmpty else { return nil }
    return labels.map(\.inUTF8).reduce(into: Array("adtl".utf8)) { bytes, label in
      WaveHeader.append(label.name, label.bytes, to: &bytes)
    }
  }
}
