import Media
import Pictures
import PipelineModel

extension ArtifactStore {
  /// Keeps a drawing as scalable graphics.
  func keepSVG(_ drawing: Drawing) throws(StageError) -> Artifact {
    do { return try keep(SVGDocument(drawing).text, as: .file) } catch { throw StageError(error) }
  }

  /// Keeps pixels as PNG.
  func keepPNG(_ raster: Raster) throws(StageError) -> Artifact {
    let bytes: [UInt8]
    do throws(MediaError) {
      bytes = try PNGPicture.encode(
        raster.bytes, width: raster.width, height: raster.height, path: "the picture")
    } catch {
      throw StageError(error)
    }
    var file = try LookFile(in: self)
    try file.add { $0 += bytes }
    return try file.seal()
  }
}
