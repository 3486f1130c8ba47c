public import Hashing

/// What a WAV file tells beside its sound: how it came about, its places, and what the recorder
/// wrote down.
public struct BroadcastNotes: Hashable, Sendable {
  /// How it came about; nil where the file does not say.
  public var bext: BroadcastExtension?
  /// Whether there is a `bext` chunk that is too short to be one.
  public private(set) var hasTornExtension = false
  /// The recorder's notes, as the XML that they are; nil where there are none.
  public var iXML: [UInt8]?
  /// The places that are marked; nil where none are.
  public var cues: CuePoints?

  /// Nothing is told.
  public init() {}

  /// Reads what the WAV, RF64, BW64 or W64 file at `path` tells; nothing from any other file. Chunks
  /// of more than 16 MB are left out. Throws where the file cannot be read.
  public init(of path: String) throws(MediaError) {
    guard let wave = try WaveChunks.open(path) else { return }
    if let chunk = wave.first("bext") {
      bext = try wave.bytes(of: chunk).flatMap { BroadcastExtension($0) }
      hasTornExtension = bext == nil
    }
    if let chunk = wave.first("iXML") { iXML = try wave.bytes(of: chunk) }
    if let chunk = wave.first("cue "), let bytes = try wave.bytes(of: chunk) {
      let points = CuePoints(bytes, lists: try wave.lists("adtl"))
      cues = points.isEmpty ? nil : points
    }
  }

  /// The chunks, in the order in which they stand in a file.
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

  /// The identity of what is written of them: equal digests, equal bytes.
  public var digest: Digest {
    var hasher = SHA256()
    hasher.update("spool-broadcast-1\n")
    for chunk in chunks {
      hasher.update("\(chunk.name):\(chunk.content.count)=")
      hasher.update(chunk.content)
    }
    return hasher.finalize()
  }
}
