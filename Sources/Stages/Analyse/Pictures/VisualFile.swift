import Media
import PipelineModel
import Platform
import Receipts
import SoundEngine

/// A file for people on its way into the store, gathered in pieces of some size.
struct VisualFile: ~Copyable {
  private let draft: ArtifactDraft
  private var bytes: [UInt8] = []
  private static let pieceByteCount = 1 << 16

  /// Starts an empty file.
  init(in store: any ArtifactStore) throws(SpoolError) {
    draft = try store.makeDraft(.file)
  }

  /// Adds bytes through `body`.
  mutating func add(_ body: (inout [UInt8]) -> Void) throws(SpoolError) {
    body(&bytes)
    if bytes.count >= Self.pieceByteCount { try write() }
  }

  /// Adds a text.
  mutating func add(_ text: String) throws(SpoolError) {
    bytes += Array(text.utf8)
    if bytes.count >= Self.pieceByteCount { try write() }
  }

  private mutating func write() throws(SpoolError) {
    let piece = bytes
    try unsafe draft.append(piece.span.bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Makes it an artifact.
  consuming func seal() throws(SpoolError) -> Artifact {
    try write()
    return try draft.seal()
  }
}

/// A file that a stage for people who look gives, and where it goes.
struct VisualOutput: Hashable, Sendable {
  let port: PortName
  /// What follows the recording's name: `.waveform.png`.
  let ending: String
}

/// A stage for people who look: its files bear the name of its template, and their own endings.
protocol VisualStage: SoundSinkStage, PublishingStage {
  /// The template of the files' names.
  var name: String { get }
  /// The files, as far as they are asked for.
  var outputs: [VisualOutput] { get }
}

extension VisualStage {
  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    let stem = ExportName.fill(name, recording: recordings.first)
    return outputs.map { stem + $0.ending }
  }

  /// Publishes those outputs that are there.
  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    let stem = ExportName.fill(name, recording: context.names.first)
    var published: [PublishedFile] = []
    for file in outputs {
      guard let artifact = context.outputs[file.port]?.artifact else { continue }
      published.append(try context.publish(artifact, as: stem + file.ending))
    }
    return published
  }
}

extension ArtifactStore {
  /// Keeps a drawing as scalable graphics.
  func keepSVG(_ drawing: Drawing) throws(SpoolError) -> Artifact {
    try keep(drawing.svg, as: .file)
  }

  /// Keeps pixels as PNG.
  func keepPNG(_ raster: Raster) throws(SpoolError) -> Artifact {
    try keep(raster.png(path: "the picture"), as: .file)
  }
}

/// The size of a picture, as every stage that draws one lets it be chosen.
struct PictureSize: Codable, Hashable, Sendable {
  /// Pixels from side to side.
  let width: Int
  /// Pixels from top to bottom.
  let height: Int

  /// The parameters that it is made of.
  static func parameters(
    widths: ClosedRange<Int> = 200...8000, heights: ClosedRange<Int> = 120...4000
  ) -> [ParameterDescriptor] {
    [
      ParameterDescriptor(
        "width", .integer(widths), .defaulted("1600"), "the picture's width in pixels"),
      ParameterDescriptor(
        "height", .integer(heights), .defaulted("400"), "the picture's height in pixels"),
    ]
  }

  /// How the files are called.
  static let name = ParameterDescriptor(
    "name", .fileName(fields: ["stem"]), .defaulted("{stem}"),
    "the beginning of the files' names; {stem} is the recording's", isInKey: false)
}
