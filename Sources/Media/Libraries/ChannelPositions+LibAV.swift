import Audio
import CLibAV
import CLibAVLoader

extension ChannelPositions {
  /// The positions of a layout. Those that libavutil cannot express as a mask are unknown.
  /// - Parameter mask: what the file states in its place; 0 for none.
  init(_ layout: AVChannelLayout, stating mask: UInt64?) {
    let count = unsafe Int(layout.nb_channels)
    if let mask, mask == 0 || mask.nonzeroBitCount == count {
      self.init(rawValue: mask)
    } else {
      let isMask = unsafe layout.order == AV_CHANNEL_ORDER_NATIVE
      self.init(rawValue: isMask ? unsafe layout.u.mask : 0)
    }
  }
}

extension AVChannelLayout {
  /// Replaces the layout.
  mutating func set(_ positions: ChannelPositions, channelCount: Int) {
    if positions.isEmpty {
      unsafe av_channel_layout_uninit(&self)
      unsafe order = AV_CHANNEL_ORDER_UNSPEC
      unsafe nb_channels = Int32(channelCount)
    } else {
      unsafe av_channel_layout_from_mask(&self, positions.rawValue)
    }
  }
}

extension InputFile {
  /// The positions of a stream's channels.
  func positions(ofStream index: Int) -> ChannelPositions {
    unsafe ChannelPositions(
      stream(index).pointee.codecpar.pointee.ch_layout,
      stating: statedChannelMask(ofStream: index))
  }

  /// The mask in a comment of a FLAC file (RFC 9639, section 8.6.2); nil if there is none.
  func statedChannelMask(ofStream index: Int) -> UInt64? {
    let stream = unsafe stream(index).pointee
    guard unsafe stream.codecpar.pointee.codec_id == AV_CODEC_ID_FLAC else { return nil }
    let tags = unsafe [String: String].tags(context.pointee.metadata, over: stream.metadata)
    guard let text = tags[EncoderSettings.flacMask.lowercased()]?.lowercased(),
      text.hasPrefix("0x")
    else { return nil }
    return UInt64(text.dropFirst(2), radix: 16)
  }
}
