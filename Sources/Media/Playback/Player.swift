package import Audio
package import Platform
import Synchronization

/// Plays a sound, or several of which one is heard at a time, on a thread of its own.
package final class Player: Sendable {
  /// What a user asks for.
  package enum Order: Sendable {
    case togglePause
    /// Pauses; without effect on what is paused.
    case pause
    /// Moves by a span of time.
    case move(Seconds)
    /// Moves to a part of the whole length, 0 to 1; without effect if the length is unknown.
    case jump(Double)
    /// Makes another sound heard, at the same position.
    case select(Int)
    /// Makes the next sound heard; after the last the first.
    case selectNext
    case stop
  }

  /// Where it is.
  package struct Status: Sendable {
    /// The position that is heard, in the sound.
    package var position: Seconds
    /// Which sound is heard.
    package var selected = 0
    package var isPaused = false
    /// Whether it is over: by its end, an order or a failure.
    package var isEnded = false
    package var failure: SpoolError?
    /// The greatest magnitude of a sample since the status was taken last.
    package var peak: Float = 0
    fileprivate var isStopping = false
  }

  private let work: PlayerWork
  private let thread: BackgroundThread

  /// Opens a device and begins to play.
  /// - Parameters:
  ///   - sounds: at least one; each with a gain.
  ///   - device: a name of libasound's configuration.
  ///   - start: in the sounds.
  ///   - end: in the sounds; nil for the end of the longest.
  /// - Throws: if the device cannot be opened.
  package init(
    _ sounds: [(sound: PlayableSound, gain: Decibels)], on device: String, from start: Seconds,
    to end: Seconds?
  ) throws(SpoolError) {
    let work = PlayerWork(sounds, start: start, end: end)
    let opening = Mailbox<Result<Void, SpoolError>>()
    self.work = work
    thread = BackgroundThread(name: "playback") { work.run(on: device, opening) }
    var opened: Result<Void, SpoolError>?
    while opened == nil { opened = opening.receive(atMost: .seconds(60)).first }
    try opened?.get()
  }

  /// The format in which sounds are heard together: the rate of the first, and as many channels as
  /// any of them has.
  package static func format(of sounds: [PlayableSound]) -> AudioFormat {
    AudioFormat(
      sampleRate: sounds.first?.format.sampleRate ?? Hertz(48_000),
      channelCount: sounds.map(\.format.channelCount).max() ?? 2)
  }

  /// The status now. Begins a new peak.
  package func takeStatus() -> Status { work.takeStatus() }

  package func send(_ order: Order) { work.send(order) }

  /// Waits for the end; what was ordered to stop ends at once.
  package func join() { thread.join() }
}

/// What the thread of a player and its owner share, and the thread's work.
private final class PlayerWork: Sendable {
  private let sounds: [(sound: PlayableSound, gain: Decibels)]
  private let start: Seconds
  private let end: Seconds?
  private let orders = Mailbox<Player.Order>()
  private let status: Mutex<Player.Status>

  /// Seconds in which one sound fades into another: a sudden change would click.
  private static let crossfade = Seconds(0.005)

  init(_ sounds: [(sound: PlayableSound, gain: Decibels)], start: Seconds, end: Seconds?) {
    (self.sounds, self.start, self.end) = (sounds, start, end)
    status = Mutex(Player.Status(position: start))
  }

  func takeStatus() -> Player.Status {
    status.withLock { status in
      defer { status.peak = 0 }
      return status
    }
  }

  func send(_ order: Player.Order) {
    if case .stop = order { status.withLock { $0.isStopping = true } }
    orders.send(order)
  }

  func run(on name: String, _ opening: Mailbox<Result<Void, SpoolError>>) {
    do throws(SpoolError) {
      let device = try SoundDevice(named: name, for: Player.format(of: sounds.map(\.sound)))
      opening.send(.success(()))
      try play(on: device)
    } catch {
      status.withLock { $0.failure = error }
      opening.send(.failure(error))
    }
    status.withLock { $0.isEnded = true }
  }

  private func play(on device: SoundDevice) throws(SpoolError) {
    let rate = device.format.sampleRate
    let last = end?.frames(at: rate)
    var streams: [PlaybackStream] = []
    for (sound, _) in sounds { streams.append(try PlaybackStream(sound, in: device.format)) }
    var output = AudioBuffer(
      channelCount: device.format.channelCount, capacity: PlaybackStream.blockLength)
    var (selected, isPaused) = (0, false)
    var next = start.frames(at: rate)
    try seek(streams, to: next)
    while true {
      var target: Frames?
      let before = selected
      for order in orders.receive(atMost: isPaused ? .seconds(3600) : .zero) {
        let place = target ?? max(.zero, next - device.delay)
        switch order {
        case .stop: return device.discard()
        case .pause where isPaused: break
        case .pause, .togglePause:
          isPaused.toggle()
          // Everything written is heard, so that nothing has to be repeated.
          if isPaused, target == nil { device.finish() }
        case .move(let span): target = place + span.frames(at: rate)
        case .jump(let part): target = length.map { Seconds($0.value * part).frames(at: rate) }
        case .select(let number) where sounds.indices.contains(number): selected = number
        case .select: break
        case .selectNext: selected = (selected + 1) % sounds.count
        }
      }
      if let target {
        device.discard()
        next = max(.zero, min(target, last ?? length?.frames(at: rate) ?? target))
        try seek(streams, to: next)
      }
      if !isPaused {
        var frames = Frames.zero
        for stream in streams {
          _ = try stream.next(before: last)
          frames = max(frames, stream.block.frameCount)
        }
        guard frames > .zero else { return device.finish() }
        mix(streams, selected, before, frames, rate, into: &output)
        try device.write(output)
        next += frames
      }
      let heard = max(.zero, next - device.delay).duration(at: rate)
      let peak = isPaused ? 0 : output.peak
      status.withLock { status in
        (status.position, status.selected, status.isPaused) = (heard, selected, isPaused)
        status.peak = max(status.peak, peak)
      }
    }
  }

  private func seek(_ streams: [PlaybackStream], to frame: Frames) throws(SpoolError) {
    for stream in streams {
      try stream.seek(to: frame) { !status.withLock { $0.isStopping } }
    }
  }

  /// The longest sound's; nil if one is unknown.
  private var length: Seconds? {
    var longest = Seconds(0)
    for (sound, _) in sounds {
      guard let duration = sound.duration else { return nil }
      longest = max(longest, duration)
    }
    return longest
  }

  /// Puts the selected sound's block into `output`, with silence after its end. If another one was
  /// heard before, it fades over.
  private func mix(
    _ streams: [PlaybackStream], _ selected: Int, _ before: Int, _ frames: Frames, _ rate: Hertz,
    into output: inout AudioBuffer
  ) {
    output.frameCount = frames
    output.silence()
    let fade = min(frames, Self.crossfade.frames(at: rate)).count
    add(streams[selected], gain: sounds[selected].gain, to: &output)
    guard selected != before else { return }
    var old = AudioBuffer(channelCount: output.channelCount, capacity: frames)
    old.frameCount = frames
    old.silence()
    add(streams[before], gain: sounds[before].gain, to: &old)
    for channel in 0..<output.channelCount {
      var samples = output.mutableChannel(channel)
      let source = old.channel(channel)
      for frame in 0..<fade {
        let part = Float(frame + 1) / Float(fade + 1)
        samples[frame] = part * samples[frame] + (1 - part) * source[frame]
      }
    }
  }

  private func add(_ stream: PlaybackStream, gain: Decibels, to output: inout AudioBuffer) {
    let factor = gain.value == 0 ? 1 : Float(gain.amplitude)
    for channel in 0..<output.channelCount {
      var samples = output.mutableChannel(channel)
      let source = stream.block.channel(channel)
      for frame in source.indices { samples[frame] = factor * source[frame] }
    }
  }
}

extension AudioBuffer {
  /// The greatest magnitude of a sample.
  fileprivate var peak: Float {
    var peak: Float = 0
    for index in 0..<channelCount {
      let samples = channel(index)
      for frame in samples.indices { peak = max(peak, abs(samples[frame])) }
    }
    return peak
  }
}
