internal import Hashing
internal import JSONText

extension SampleSummary {
  /// As it stands in a receipt and in a quote.
  var json: JSONValue {
    .object([
      "format": .text(extent.format.rawValue), "rate": .integer(extent.rate),
      "channels": .integer(extent.channels), "frames": .integer(extent.frames),
      "blocks": .integer(extent.blockCount), "root": .text(root.hex),
    ])
  }

  /// Reads what stands in a receipt or a quote; nil for anything else, and where the number of blocks
  /// does not follow from the rest.
  init?(_ json: JSONValue) {
    guard let format = json["format"]?.text.flatMap(SampleFormat.init(rawValue:)),
      let rate = json["rate"]?.integer, let channels = json["channels"]?.integer,
      let frames = json["frames"]?.integer,
      let extent = SampleExtent(format: format, rate: rate, channels: channels, frames: frames),
      let root = json["root"]?.text.flatMap(Digest.init(hex:))
    else { return nil }
    self.init(extent: extent, root: root)
    guard self.json == json else { return nil }
  }
}
