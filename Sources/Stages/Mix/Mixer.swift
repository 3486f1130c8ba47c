import Audio
import PipelineModel
import Platform
import SoundEngine

extension MixdownStage {
  /// One traversal of the tracks: blocks are decoded side by side on a pool of threads, and added up
  /// on the caller's in the order of the tracks, so that the sum does not depend on who was first.
  final class Mixer {
    /// A track that is under way, or a key that is listened to.
    private struct Strand {
      let reader: TrackReader
      let role: Role
      var isOver = false
    }

    private enum Role {
      /// Part of the mix.
      case track(lane: Int, routes: [Route])
      /// What moves a ducked track.
      case key(duck: Int, number: Int)
    }

    /// From a channel of a track to one of the mix.
    private struct Route {
      let channel: Int
      let output: Int
      let gain: Double
    }

    /// A ducked lane's gain: the lowest that one of its keys asks for.
    private struct Ducking {
      let lane: Int
      var keys: [(fader: Double, gain: DuckingGain)] = []
      /// The lowest gains of the block's frames so far.
      var lowest: [Float] = []
    }

    private let bus: MixBus
    private let gain: Double
    private let blockLength: Frames
    private var strands: [Strand] = []
    private var duckings: [Ducking] = []
    /// The gains of the block's frames, for lanes that are ducked.
    private var curves: [Int: [Float]] = [:]
    private let results: OrderedResults<Result<TrackBlock, SpoolError>>
    private var hasBegun = false
    /// Whether anything of a lane came into the mix.
    private(set) var wasHeard: [Bool]

    /// Opens the tracks.
    /// - Parameters:
    ///   - matching: gains in front of the faders, one for each lane.
    ///   - masterGain: for the sum.
    ///   - isWhole: whether all that is heard is mixed, whichever stems are wanted.
    init(
      _ layout: MixLayout, matching: [Decibels], masterGain: Double, isWhole: Bool,
      blockLength: Frames, pool: WorkerPool, buffers: BufferPool
    ) throws(SpoolError) {
      gain = masterGain
      self.blockLength = blockLength
      let format = isWhole ? layout.mixFormat : layout.format
      bus = MixBus(channelCount: format.channelCount, capacity: blockLength)
      wasHeard = Array(repeating: false, count: layout.lanes.count)
      let rate = layout.format.sampleRate
      // The keys come first: who gives way needs the gains of the same block.
      for duck in layout.ducks where isWhole || layout.lanes[duck.track].isGiven {
        let lookAhead = duck.settings.lookAhead.frames(at: rate)
        var ducking = Ducking(lane: duck.track)
        for lane in duck.by {
          let key = layout.lanes[lane]
          strands.append(
            Strand(
              reader: TrackReader(
                try key.input.open(at: rate), offset: key.offset - lookAhead, buffers: buffers),
              role: .key(duck: duckings.count, number: ducking.keys.count)))
          ducking.keys.append(
            (
              fader: key.fader * matching[lane].amplitude,
              gain: DuckingGain(duck.settings.gain, sampleRate: rate)
            ))
        }
        duckings.append(ducking)
        curves[duck.track] = Array(repeating: 1, count: blockLength.count)
      }
      for (index, lane) in layout.lanes.enumerated() where isWhole ? lane.isHeard : lane.isGiven {
        let routes = MixdownStage.Mixer.routes(
          of: lane, fader: lane.fader * matching[index].amplitude, from: isWhole ? 0 : lane.output,
          in: layout)
        strands.append(
          Strand(
            reader: TrackReader(
              try lane.input.open(at: rate), offset: lane.offset, buffers: buffers),
            role: .track(lane: index, routes: routes)))
      }
      results = OrderedResults(pool: pool, limit: strands.count)
    }

    /// The greatest magnitude so far; 1 is full scale.
    var peak: Float { bus.peak }

    /// Replaces the content of `buffer` with the next block; false at the end of the last track.
    func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
      precondition(buffer.capacity >= blockLength)
      if !hasBegun {
        hasBegun = true
        strands.forEach { submit($0) }
      }
      for lane in curves.keys {
        curves[lane] = Array(repeating: 1, count: blockLength.count)
      }
      var end = Frames.zero
      for index in strands.indices {
        let block = try nextBlock(of: index)
        switch strands[index].role {
        case .key(let duck, let number): follow(block, duck, key: number)
        case .track(let lane, let routes):
          guard let block else { continue }
          add(block, of: lane, routes)
          end = max(end, block.end)
        }
      }
      bus.take(end, gain: gain, into: &buffer)
      return end > .zero
    }

    /// A strand's part of the block; nil once it is over.
    private func nextBlock(of index: Int) throws(SpoolError) -> TrackBlock? {
      guard !strands[index].isOver, let result = results.next() else { return nil }
      let block = try result.get()
      strands[index].isOver = block.isLast
      if !block.isLast { submit(strands[index]) }
      return block
    }

    private func submit(_ strand: Strand) {
      results.submit { [reader = strand.reader, blockLength] in
        Result { () throws(SpoolError) in try reader.next(blockLength) }
      }
    }

    /// Takes the gains of one key; behind the last one, the lowest move the lane.
    private func follow(_ block: TrackBlock?, _ duck: Int, key: Int) {
      var gains = [Float](repeating: 1, count: blockLength.count)
      duckings[duck].keys[key].gain.follow(
        block?.sound, at: block?.silence ?? .zero, fader: duckings[duck].keys[key].fader,
        onto: &gains)
      if key > 0 {
        for index in gains.indices {
          gains[index] = min(gains[index], duckings[duck].lowest[index])
        }
      }
      duckings[duck].lowest = gains
      guard key == duckings[duck].keys.count - 1 else { return }
      let lane = duckings[duck].lane
      guard var curve = curves.removeValue(forKey: lane) else { return }
      for index in curve.indices { curve[index] *= gains[index] }
      curves[lane] = curve
    }

    private func add(_ block: TrackBlock, of lane: Int, _ routes: [Route]) {
      guard let sound = block.sound else { return }
      if sound.buffer.frameCount > .zero { wasHeard[lane] = true }
      for route in routes {
        if let curve = curves[lane] {
          bus.add(
            sound.buffer, channel: route.channel, to: route.output, at: block.silence,
            gain: route.gain, curve: curve)
        } else {
          bus.add(
            sound.buffer, channel: route.channel, to: route.output, at: block.silence,
            gain: route.gain)
        }
      }
    }

    /// Mono tracks are panned, stereo tracks balanced. In a mono mix there is no pan, and a stereo
    /// track comes in as the mean of its channels.
    /// - Parameter output: the first channel on the bus.
    private static func routes(
      of lane: MixLayout.Lane, fader: Double, from output: Int, in layout: MixLayout
    ) -> [Route] {
      switch (lane.input.channelCount, layout.mixFormat.channelCount) {
      case (1, 1): return [Route(channel: 0, output: output, gain: fader)]
      case (_, 1):
        return [0, 1].map { Route(channel: $0, output: output, gain: fader / 2) }
      case (let channels, _):
        let gains =
          channels == 1
          ? layout.settings.panLaw.gains(pan: lane.track.pan) : PanLaw.balance(lane.track.pan)
        return [
          Route(channel: 0, output: output, gain: fader * gains.left),
          Route(channel: channels - 1, output: output + 1, gain: fader * gains.right),
        ]
      }
    }
  }
}

/// Reads one track in blocks that are counted from the beginning of the mix.
// Unchecked: the owner of a reader has one piece of work at most under way with it, and takes its
// result, through a lock, before it hands out the next.
final class TrackReader: @unchecked Sendable {
  private let source: any SoundSource
  private let buffers: BufferPool
  /// Frames of the mix before the track begins.
  private var silence: Frames
  /// Frames of the track that are left out.
  private var left: Frames

  /// Reads an open track that begins `offset` after the mix; its first frames are left out where
  /// that is negative.
  init(_ source: any SoundSource, offset: Frames, buffers: BufferPool) {
    self.source = source
    self.buffers = buffers
    silence = max(offset, .zero)
    left = max(Frames(-offset.count), .zero)
  }

  /// The next `length` frames of the mix.
  func next(_ length: Frames) throws(SpoolError) -> TrackBlock {
    let before = min(silence, length)
    silence = silence - before
    guard before < length else { return TrackBlock(silence: before, sound: nil, isLast: false) }
    while left > .zero {
      var passing = makeBuffer(min(left, length))
      guard try source.read(into: &passing) else {
        return TrackBlock(silence: .zero, sound: nil, isLast: true)
      }
      left = left - passing.frameCount
    }
    var buffer = makeBuffer(length - before)
    _ = try source.read(into: &buffer)
    let isLast = buffer.frameCount < buffer.capacity
    return TrackBlock(silence: before, sound: SharedBuffer(buffer), isLast: isLast)
  }

  private func makeBuffer(_ capacity: Frames) -> AudioBuffer {
    buffers.makeBuffer(channelCount: source.outline.format.channelCount, capacity: capacity)
  }
}

/// What a track gives to a block of the mix.
struct TrackBlock: Sendable {
  /// Frames before the sound.
  let silence: Frames
  /// The sound; nil where the track has not begun.
  let sound: SharedBuffer?
  /// Whether the track ends here.
  let isLast: Bool

  /// Where it ends, in the block.
  var end: Frames { silence + (sound?.buffer.frameCount ?? .zero) }
}
