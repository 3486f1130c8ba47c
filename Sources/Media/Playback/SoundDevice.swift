import Audio
import CAsoundLoader
import Platform

/// The owner of a sound device that is open for playback, through libasound. One thread at a time.
@safe final class SoundDevice {
  /// What it takes: the wanted rate, which libasound converts where it has to, and the wanted channel
  /// count, or the nearest that the device has.
  let format: AudioFormat

  private let pcm: OpaquePointer
  private let name: String
  private var samples: [Float] = []

  /// The length of the device's buffer, in microseconds: how late a key is heard.
  private static let latency: UInt32 = 150_000

  /// Opens a device by a name of libasound's configuration, such as `default` or `hw:0`.
  ///
  /// A device that does not take 32-bit floats at this rate is opened again through libasound's
  /// converter.
  init(named name: String, for wanted: AudioFormat) throws(SpoolError) {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe spool_asound_load(&text, text.count) == 0 else {
      throw SpoolError(
        "cannot open libasound, which plays sound",
        reason: String(
          decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self),
        advice: "install ALSA's library: libasound2 on Debian", cause: .environment)
    }
    let rate = UInt32(max(1, wanted.sampleRate.value.rounded()))
    var first: SpoolError?
    for candidate in [name, "plug:'\(name)'"] {
      spool_asound_forget_message()
      var pcm: OpaquePointer?
      let opened = unsafe spool_asound_open(&pcm, candidate)
      guard opened >= 0, let pcm = unsafe pcm else { throw first ?? Self.error(opened, name) }
      var status = unsafe spool_asound_channels(pcm, UInt32(wanted.channelCount))
      let channels = Int(status)
      if channels > 0 {
        status = unsafe spool_asound_set(pcm, UInt32(channels), rate, Self.latency)
      }
      if channels > 0, status >= 0 {
        unsafe self.pcm = pcm
        self.name = name
        format = AudioFormat(sampleRate: Hertz(Double(rate)), channelCount: channels)
        return
      }
      first = first ?? Self.error(status, name)
      unsafe snd_pcm_close(pcm)
    }
    throw first ?? Self.error(0, name)
  }

  deinit { unsafe snd_pcm_close(pcm) }

  /// Plays a block, and waits for room in the device's buffer. A gap because the block came late is
  /// no error.
  func write(_ block: borrowing AudioBuffer) throws(SpoolError) {
    let count = interleave(block)
    var done = 0
    while done < count {
      spool_asound_forget_message()
      let written = unsafe samples.withUnsafeBufferPointer { samples in
        unsafe snd_pcm_writei(
          pcm, samples.baseAddress.map { unsafe $0 + done * format.channelCount },
          UInt(count - done))
      }
      if written >= 0 {
        done += written
      } else {
        let status = unsafe snd_pcm_recover(pcm, Int32(written), 1)
        if status < 0 { throw Self.error(status, name) }
      }
    }
  }

  /// The frames that were written and are not heard yet.
  var delay: Frames {
    var frames = 0
    guard unsafe snd_pcm_delay(pcm, &frames) >= 0 else { return .zero }
    return Frames(max(0, frames))
  }

  /// Waits until everything written was heard. Further blocks may follow.
  func finish() {
    unsafe snd_pcm_drain(pcm)
    unsafe snd_pcm_prepare(pcm)
  }

  /// Drops what is not heard yet. Further blocks may follow.
  func discard() {
    unsafe snd_pcm_drop(pcm)
    unsafe snd_pcm_prepare(pcm)
  }

  /// ALSA puts the surround channels before the centre, FFmpeg and WAV files after it.
  private static func order(of channelCount: Int) -> [Int] {
    switch channelCount {
    case 5: [0, 1, 3, 4, 2]
    case 6: [0, 1, 4, 5, 2, 3]
    case 8: [0, 1, 4, 5, 2, 3, 6, 7]
    default: Array(0..<channelCount)
    }
  }

  /// Puts a block into `samples`, frame by frame. Gives the number of frames.
  private func interleave(_ block: borrowing AudioBuffer) -> Int {
    let (channels, frames) = (format.channelCount, block.frameCount.count)
    if samples.count < channels * frames {
      samples = [Float](repeating: 0, count: channels * frames)
    }
    for (place, channel) in Self.order(of: channels).enumerated() {
      let source = block.channel(channel)
      for frame in 0..<frames { samples[frame * channels + place] = source[frame] }
    }
    return frames
  }

  private static func error(_ status: Int32, _ name: String) -> SpoolError {
    let message = unsafe String(cString: spool_asound_message())
    let reason = unsafe message.isEmpty ? String(cString: snd_strerror(status)) : message
    return SpoolError(
      "play on the sound device", name, reason: reason,
      advice: "aplay -L lists the devices, and \(option: .device) names one; without any, export "
        + "the sound, and play the file elsewhere")
  }
}
