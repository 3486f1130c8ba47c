import AudioModel

/// The greatest of the last 10 ms of levels: what a compressor takes for the peak level of sound.
///
/// The magnitude of a wave falls to nothing twice a period, which is not to mean that the sound
/// has become quiet. Half a period of 50 Hz is 10 ms, so that the crest of a steady tone from
/// there up is always in view, and its level is constant. A level that rises counts at once; one
/// that falls, 10 ms later.
///
/// The levels lie in a ring, in groups whose maxima are known. A level costs O(1) but for the
/// search through the maxima, once a group; nothing depends on how the levels are cut into runs.
final class PeakHold {
  private static let group = 16

  /// How many levels are looked back at, the newest included: 10 ms, rounded up to whole groups.
  let window: Int

  /// The last `window` levels: the newest has taken the place of the one that left.
  private let ring: Scratch<Float>
  /// The greatest level of each group; that of the group at `position` is 0 while it is replaced.
  /// Behind them zeros, to a whole vector.
  private let maxima: Scratch<Float>
  /// Where the next level goes.
  private var position = 0
  /// For each place of the group at `position`, the greatest level behind it.
  private let behind = Scratch<Float>(repeating: 0, count: group)

  /// Looks back on silence.
  init(sampleRate: Hertz) {
    let half = max((0.01 * sampleRate.value).rounded(.up), 1)
    let groups = (Int(half) + Self.group - 1) / Self.group
    window = groups * Self.group
    ring = Scratch(repeating: 0, count: window)
    maxima = Scratch(repeating: 0, count: (groups + 7) / 8 * 8)
  }

  /// Replaces each of `count` levels, 0 or more, by the greatest of the window that ends with it.
  func hold(_ levels: UnsafeMutablePointer<Float>, count: Int) {
    var done = 0
    while done < count {
      let offset = position % Self.group
      let length = min(Self.group - offset, count - done)
      let number = position / Self.group
      let before = maxima[number]
      maxima[number] = 0
      let others = unsafe LinkedLevel.peak(maxima.start, count: maxima.count)
      let fresh = unsafe levels + done
      if length == Self.group {
        let newest = unsafe LinkedLevel.peak(fresh, count: Self.group)
        if others >= newest, others >= before {
          // Neither what comes nor what goes is the greatest: by far the most groups.
          unsafe (ring.start + position).update(from: fresh, count: Self.group)
          unsafe fresh.update(repeating: others, count: Self.group)
        } else {
          unsafe replace(fresh, count: Self.group, others: others)
        }
        maxima[number] = newest
      } else {
        unsafe replace(fresh, count: length, others: others)
        if offset + length == Self.group {
          maxima[number] = unsafe LinkedLevel.peak(
            ring.start + number * Self.group, count: Self.group)
        }
      }
      done += length
      position = position + length == window ? 0 : position + length
    }
  }

  /// Holds levels of one group, of which `others` is the greatest of all other groups.
  private func replace(_ levels: UnsafeMutablePointer<Float>, count: Int, others: Float) {
    let offset = position % Self.group
    let group = unsafe ring.start + (position - offset)
    let behind = unsafe behind.start
    var greatest: Float = 0
    for index in stride(from: Self.group - 1, through: offset, by: -1) {
      unsafe behind[index] = greatest
      greatest = unsafe LinkedLevel.greater(greatest, group[index])
    }
    greatest = others
    for index in 0..<offset { greatest = unsafe LinkedLevel.greater(greatest, group[index]) }
    for index in 0..<count {
      let level = unsafe levels[index]
      unsafe group[offset &+ index] = level
      greatest = LinkedLevel.greater(greatest, level)
      unsafe levels[index] = LinkedLevel.greater(greatest, behind[offset &+ index])
    }
  }
}

extension PeakHold {
  /// Adds the window's levels and where it stands.
  func append(to snapshot: inout ProcessorSnapshot) {
    snapshot.append(position)
    unsafe snapshot.append(samples: ring.start, count: window)
  }

  /// Takes over what `append` wrote for the same rate.
  func restore(from reader: inout SnapshotReader) throws(SnapshotError) {
    let position = try reader.next(Int.self)
    guard (0..<window).contains(position) else { throw SnapshotError() }
    unsafe try reader.read(window, into: ring.start)
    self.position = position
    for number in 0..<window / Self.group {
      maxima[number] = unsafe LinkedLevel.peak(
        ring.start + number * Self.group, count: Self.group)
    }
  }
}
