import AudioModel
import DSP
import PipelineEngine
import PipelineModel
import Threading

/// A mix as the source of a pass. Where voices are matched or the mix is kept below a ceiling, the
/// tracks are heard before they are mixed; blocks without a frame are given meanwhile, so that the
/// pass can be stopped at any of them.
final class MixSource: SoundSource {
  /// The most that a voice is turned up, in dB: what needs more is hardly a voice.
  private static let mostMatching = 30.0

  private enum Phase {
    case matching([LoudnessScan])
    case rehearsing(Mixer, TruePeakMeter)
    case mixing(Mixer)
  }

  let outline: SoundOutline
  private(set) var warnings: [String] = []
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
    pool = WorkerPool(
      threadCount: CoreCount.online, name: "track")
  }

  func read(into buffer: inout AudioBuffer) throws(StageError) -> Bool {
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
  private func current() throws(StageError) -> Phase {
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
  private func mixingPhase() throws(StageError) -> Phase {
    if layout.settings.ceiling == nil { return .mixing(try makeMixer(isWhole: false)) }
    return .rehearsing(try makeMixer(isWhole: true), TruePeakMeter(format: layout.mixFormat))
  }

  private func makeMixer(isWhole: Bool) throws(StageError) -> Mixer {
    try Mixer(
      layout, matching: matching, masterGain: layout.settings.masterVolume * reduction.amplitude,
      isWhole: isWhole, blockLength: blockLength, pool: pool, buffers: buffers)
  }

  /// Lets every voice be heard for another stretch, side by side.
  private func advance(_ scans: [LoudnessScan]) throws(StageError) {
    let waiting = scans.filter { !$0.isOver }
    guard !waiting.isEmpty else {
      scans.forEach { settle($0) }
      phase = try mixingPhase()
      return
    }
    let results = OrderedResults<Result<Void, StageError>>(pool: pool, limit: waiting.count)
    for scan in waiting {
      results.submit {
        do throws(StageError) { return .success(try scan.advance()) } catch {
          return .failure(error)
        }
      }
    }
    while let result = results.next() { try result.get() }
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
  private func conclude(_ mixer: Mixer) throws(StageError) {
    let isEmpty = layout.lanes.indices.allSatisfy {
      !layout.lanes[$0].isGiven || !mixer.wasHeard[$0]
    }
    if isEmpty, layout.lanes.contains(where: { $0.isGiven && $0.offset.count < 0 }) {
      throw StageError(
        "nothing is left of the mix", reason: "every track that is heard ends before it begins",
        advice: "give one of them a later offset: offset: 0 s")
    }
    for (index, lane) in layout.lanes.enumerated() where lane.isGiven && !mixer.wasHeard[index] {
      warnings.append("\(lane.input.title) ends before the mix begins")
    }
    if mixer.peak > 1 {
      let excess = Decibels(amplitude: Double(mixer.peak)).value
      warnings.append(
        "\(layout.settings.givesStems ? "a stem" : "the mix") goes \(Unit.decibels.format((excess * 10).rounded() / 10)) over full scale: put "
          + "limit or normalize below it, or mix with headroom: reduce")
    }
  }

  func report() -> String? {
    try? Findings.json(MixReport(layout, matching: matching, loudness: loudness, reduction))
  }
}
