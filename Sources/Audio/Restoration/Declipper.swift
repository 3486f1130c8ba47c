/// Restores clipped samples.
///
/// A run of two or more samples of one sign at or above the level counts as clipped. It is replaced
/// by the most likely samples under an autoregressive model of the surrounding sound, of order 32
/// or less (Janssen, Veldhuis and Vries, IEEE ASSP-34, 1986), that reach at least as far as the
/// clipped ones. All other samples pass bit-exactly. Runs longer than the limit are left alone.
package final class Declipper: ReportingProcessor {
  package struct Settings: Hashable, Sendable {
    /// The magnitude, relative to full scale, from which samples count as clipped.
    package var level: Decibels
    /// The longest run to repair; clamped to 0…20 ms and 1,024 frames.
    package var longest: Seconds

    package init(level: Decibels = Decibels(-0.1), longest: Seconds = Seconds(0.005)) {
      self.level = level
      self.longest = longest
    }
  }

  package struct Report: Hashable, Sendable, Codable {
    /// The number of repaired runs.
    package var mendedRuns: Int
    /// The number of samples in them.
    package var mendedSamples: Int
    /// The number of runs that were too long or had too little sound around them.
    package var abandonedRuns: Int
    /// The peak of the repaired samples, relative to full scale; nil if there are none.
    package var peak: Decibels?
  }

  package let outputFormat: AudioFormat
  /// The longest run, the context behind it, and the group being collected.
  package var latency: Frames { Frames(Self.group + ahead) }

  /// The number of frames finished at a time.
  private static let group = 256
  /// Context frames on each side of a run for the model.
  private static let context = 512

  private let level: Float
  private let longest: Int
  private let ahead: Int
  private let gap: ClippedGap
  /// For each channel: the finished context, the group to finish, and the look-ahead.
  private let rows: Scratch<Float>
  private let rowLength: Int
  private var filled = context
  private var pending = 0
  /// For each channel, the end of the processed runs in its row.
  private var settled: [Int]
  private var counts = Counts()

  private struct Counts: BitwiseCopyable {
    var mendedRuns = 0
    var mendedSamples = 0
    var abandonedRuns = 0
    var peak: Float = 0
  }

  package init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    level = Float(Decibels(min(max(settings.level.value, -120), 60)).amplitude)
    let wanted = Seconds(min(max(settings.longest.value, 0), 0.02)).frames(at: format.sampleRate)
    longest = min(max(wanted.count, 2), 1024)
    ahead = longest + 1 + Self.context
    gap = ClippedGap(longest: longest, reach: 2 * Self.context + Self.group)
    rowLength = Self.context + Self.group + ahead
    rows = Scratch(repeating: 0, count: rowLength * format.channelCount)
    settled = Array(repeating: Self.context, count: format.channelCount)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = min(rowLength - filled, input.frameCount.count - start)
      for channel in 0..<outputFormat.channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start,
          to: rows.start + (channel * rowLength + filled), count: count)
      }
      start += count
      filled += count
      pending += count
      if filled == rowLength { finishGroup(&output) }
    }
  }

  /// Returns the frames held back, as if silence followed.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      for channel in 0..<outputFormat.channelCount {
        let row = unsafe rows.start + channel * rowLength
        unsafe (row + filled).update(repeating: 0, count: rowLength - filled)
      }
      filled = rowLength
      finishGroup(&output)
    }
  }

  /// What was repaired.
  package func report() -> Report {
    Report(
      mendedRuns: counts.mendedRuns, mendedSamples: counts.mendedSamples,
      abandonedRuns: counts.abandonedRuns, peak: Decibels(finiteAmplitude: Double(counts.peak)))
  }
}

extension Declipper {
  /// Repairs the runs that begin in the group, returns it, and moves on.
  private func finishGroup(_ output: inout AudioBuffer) {
    let count = min(Self.group, pending)
    let offset = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<outputFormat.channelCount {
      let row = unsafe rows.start + channel * rowLength
      unsafe mendGroup(row, channel)
      unsafe (output.baseAddress(ofChannel: channel) + offset).update(
        from: row + Self.context, count: count)
      unsafe row.update(from: row + Self.group, count: rowLength - Self.group)
      settled[channel] = max(settled[channel] - Self.group, Self.context)
    }
    filled = rowLength - Self.group
    pending -= count
  }

  private func mendGroup(_ row: UnsafeMutablePointer<Float>, _ channel: Int) {
    let end = Self.context + Self.group
    guard unsafe LinkedLevel.peakMagnitude(row + Self.context, count: Self.group) >= level else {
      return
    }
    // All runs of the group share one model.
    var hasModel: Bool?
    var position = settled[channel]
    while position < end {
      let first = unsafe row[position]
      guard first.magnitude >= level else {
        position += 1
        continue
      }
      var next = position + 1
      while next < rowLength, unsafe row[next].magnitude >= level,
        unsafe (row[next] < 0) == (first < 0)
      { next += 1 }
      let length = next - position
      let before = unsafe row[position - 1]
      if before.magnitude >= level, (before < 0) == (first < 0) {
        // The rest of a run that was longer than the visible part.
      } else if length > longest {
        counts.abandonedRuns += 1
      } else if length > 1 {
        if hasModel == nil {
          hasModel = unsafe gap.findModel(
            row, count: 2 * Self.context + Self.group, below: level)
        }
        if hasModel == true, unsafe gap.mend(row, start: position, count: length) {
          counts.mendedRuns += 1
          counts.mendedSamples += length
          counts.peak = unsafe max(
            counts.peak, LinkedLevel.peakMagnitude(row + position, count: length))
        } else {
          counts.abandonedRuns += 1
        }
      }
      position = next
    }
    settled[channel] = position
  }

  /// The frames held back and the counters.
  package var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(filled)
    snapshot.append(pending)
    snapshot.append(counts)
    snapshot.append(contentsOf: settled)
    for channel in 0..<outputFormat.channelCount {
      for index in 0..<filled { snapshot.append(rows[channel * rowLength + index]) }
    }
    return snapshot
  }

  package func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    filled = try reader.next(Int.self)
    pending = try reader.next(Int.self)
    counts = try reader.next(Counts.self)
    settled = try reader.next(Int.self, count: settled.count)
    guard (Self.context..<rowLength).contains(filled), (0...rowLength).contains(pending),
      settled.allSatisfy({ (Self.context...rowLength).contains($0) })
    else { throw SnapshotError() }
    for channel in 0..<outputFormat.channelCount {
      for index in 0..<filled {
        rows[channel * rowLength + index] = try reader.next(Float.self)
      }
    }
    try reader.finish()
  }
}
