import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

extension MixdownStage {
  /// A mix as the source of a pass. Where voices are matched or the mix is kept below a ceiling, the
  /// tracks are heard before they are mixed; blocks without a frame are given meanwhile, so that the
  /// pass can be stopped at any of them.
  final class Source: SoundSource {
    /// The most that a voice is turned up, in dB: what needs more is hardly a voice.
    private static let mostMatching = 30.0

    private enum Phase {
      case matching([LoudnessScan])
      case rehearsing(MixdownStage.Mixer, TruePeakMeter)
      case mixing(MixdownStage.Mixer)
    }

    let outline: SoundOutline
    private(set) var warnings: [String] = []
    private(set) var overload: String?
    private let layout: MixLayout
    private let blockLength: Frames
    private let buffers = BufferPool()
    private let pool: WorkerPool
    private var phase: Phase?
    private var matching: [Decibels]
    private var loudness: [Int: LUFS] = [:]
    /// A block of the mix that is heard before it is given.
    private var rehearsed: AudioBuffer
    /// What the ceiling takes from the mix.
    private var reduction = Decibels(0)

    /// Makes ready to mix; nothing is decoded before the first `read`.
    init(_ layout: MixLayout, blockLength: Frames = SoundStream.blockLength) {
      self.layout = layout
      self.blockLength = blockLength
      outline = layout.outline
      rehearsed = AudioBuffer(
        channelCount: layout.mixFormat.channelCount,
        capacity: layout.settings.ceiling == nil ? .zero : blockLength)
      matching = layout.lanes.map { _ in Decibels(0) }
      if layout.settings.stem == nil {
        warnings = layout.latecomers.map { latecomer in
          "\(latecomer.lane.input.title) begins after \(Unit.seconds.format(latecomer.silence.value)) "
            + "of silence: check its offset"
        }
      }
      warnings += layout.notes
      pool = WorkerPool(
        threadCount: CoreCount.online, name: "track")
    }

    func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
      buffer.frameCount = .zero
      switch try current() {
      case .matching(let scans):
        try advance(scans)
        return true
      case .rehearsing(let mixer, let meter):
        if try mixer.read(into: &rehearsed) {
          meter.analyse(rehearsed)
        } else {
          let peak = meter.finding().truePeak?.value ?? -.infinity
          reduction = Decibels(min(0, (layout.settings.ceiling?.value ?? 0) - peak))
          phase = .mixing(try makeMixer(isWhole: false))
        }
        return true
      case .mixing(let mixer):
        if try mixer.read(into: &buffer) { return true }
        try conclude(mixer)
        return false
      }
    }

    /// The phase that it is in; at first, the first that there is need for.
    private func current() throws(SpoolError) -> Phase {
      if let phase { return phase }
      let begun: Phase
      if layout.settings.match != nil {
        var scans: [LoudnessScan] = []
        for (index, lane) in layout.lanes.enumerated() where lane.isHeard && lane.track.isVoice {
          scans.append(
            LoudnessScan(
              try lane.input.open(at: layout.format.sampleRate), lane: index, buffers: buffers))
        }
        begun = .matching(scans)
      } else {
        begun = try mixingPhase()
      }
      phase = begun
      return begun
    }

    /// The phase after the voices were matched.
    private func mixingPhase() throws(SpoolError) -> Phase {
      if layout.settings.ceiling == nil { return .mixing(try makeMixer(isWhole: false)) }
      return .rehearsing(try makeMixer(isWhole: true), TruePeakMeter(format: layout.mixFormat))
    }

    private func makeMixer(isWhole: Bool) throws(SpoolError) -> MixdownStage.Mixer {
      try MixdownStage.Mixer(
        layout, matching: matching, masterGain: layout.settings.masterVolume * reduction.amplitude,
        isWhole: isWhole, blockLength: blockLength, pool: pool, buffers: buffers)
    }

    /// Lets every voice be heard for another stretch, side by side.
    private func advance(_ scans: [LoudnessScan]) throws(SpoolError) {
      let waiting = scans.filter { !$0.isOver }
      guard !waiting.isEmpty else {
        scans.forEach { settle($0) }
        phase = try mixingPhase()
        return
      }
      try pool.forEach(waiting) { (scan) throws(SpoolError) in try scan.advance() }
    }

    /// Decides on the gain of a voice.
    private func settle(_ scan: LoudnessScan) {
      guard let target = layout.settings.match else { return }
      let title = layout.lanes[scan.lane].input.title
      guard let found = scan.loudness else {
        warnings.append("\(title) is silent, so its loudness was not matched")
        return
      }
      loudness[scan.lane] = found
      let wanted = target.value - found.value
      if wanted > Self.mostMatching {
        warnings.append("\(title) is so quiet that it was turned up by 30 dB only")
      }
      matching[scan.lane] = Decibels(min(wanted, Self.mostMatching))
    }

    /// Collects what there is to be warned of; a mix that no track reaches into is an error.
    private func conclude(_ mixer: MixdownStage.Mixer) throws(SpoolError) {
      let isEmpty = layout.lanes.indices.allSatisfy {
        !layout.lanes[$0].isGiven || !mixer.wasHeard[$0]
      }
      if isEmpty, layout.lanes.contains(where: { $0.isGiven && $0.offset.count < 0 }) {
        throw SpoolError(
          "nothing is left of the mix", reason: "every track that is heard ends before it begins",
          advice: "give one of them a later offset: offset: 0 s")
      }
      for (index, lane) in layout.lanes.enumerated() where lane.isGiven && !mixer.wasHeard[index] {
        warnings.append("\(lane.input.title) ends before the mix begins")
      }
      if mixer.peak > 1 {
        let excess = Decibels(amplitude: Double(mixer.peak))
        let level = Unit.decibels.format(excess.rounded(toShowBeyond: Decibels(0)))
        overload =
          "\(layout.settings.givesStems ? "a stem" : "the mix") goes \(level) over full scale: put "
          + "limit or normalize below it, or mix with headroom: reduce"
      }
    }

    func report() -> String? {
      try? Findings.json(MixReport(layout, matching: matching, loudness: loudness, reduction))
    }
  }
}

/// Measures how loud a track is, a stretch at a time, without keeping any of it.
// Unchecked: it is worked on by one thread at a time; the thread that hands it out waits for the
// piece of work before the next, and before asking for the finding.
final class LoudnessScan: @unchecked Sendable {
  /// Blocks of a stretch: some seconds of sound, a fraction of a second of work.
  private static let stretch = 16

  /// The lane that it is measured for.
  let lane: Int
  /// Whether the track was heard to its end.
  private(set) var isOver = false
  private let source: any SoundSource
  private let meter: LoudnessMeter
  private let buffers: BufferPool

  init(_ source: any SoundSource, lane: Int, buffers: BufferPool) {
    self.source = source
    self.lane = lane
    self.buffers = buffers
    meter = LoudnessMeter(format: source.outline.format, includesPeaks: false)
  }

  /// Hears the next stretch.
  func advance() throws(SpoolError) {
    for _ in 0..<Self.stretch where !isOver {
      var buffer = buffers.makeBuffer(
        channelCount: source.outline.format.channelCount, capacity: SoundStream.blockLength)
      isOver = try !source.read(into: &buffer)
      meter.analyse(buffer)
    }
  }

  /// The integrated loudness of what was heard; nil for silence.
  var loudness: LUFS? { meter.finding().integrated }
}

/// What is written down about a mix.
struct MixReport: Codable {
  /// One track.
  struct Track: Codable {
    let name: String?
    let isHeard: Bool
    /// Where it began, in frames of the mix.
    let offset: Frames
    let volume: Double
    let pan: Double
    /// Its own loudness, where voices were matched.
    let loudness: LUFS?
    /// What matching it took.
    let matching: Decibels?
  }

  let sampleRate: Hertz
  let channels: Int
  let masterVolume: Double
  /// What the ceiling took from the mix.
  let reduction: Decibels
  let tracks: [Track]

  init(
    _ layout: MixLayout, matching: [Decibels], loudness: [Int: LUFS], _ reduction: Decibels
  ) {
    sampleRate = layout.format.sampleRate
    channels = layout.format.channelCount
    masterVolume = layout.settings.masterVolume
    self.reduction = reduction
    tracks = layout.lanes.enumerated().map { index, lane in
      Track(
        name: lane.track.name, isHeard: lane.isHeard, offset: lane.offset,
        volume: lane.track.volume, pan: lane.track.pan, loudness: loudness[index],
        matching: loudness[index].map { _ in matching[index] })
    }
  }
}
