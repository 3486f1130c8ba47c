internal import AudioModel

/// A stretch of a stream as the blocks that hold it, shared and not copied.
struct SoundWindow: Sendable {
  private var blocks: [SharedBuffer] = []
  // Where each block starts in the stream.
  private var starts: [Int] = []

  /// The first frame that it no longer holds, or does not yet.
  private(set) var end = 0

  /// Adds the next block of the stream.
  mutating func append(_ block: SharedBuffer) {
    guard block.buffer.frameCount.count > 0 else { return }
    blocks.append(block)
    starts.append(end)
    end += block.buffer.frameCount.count
  }

  /// Lets the blocks go that lie wholly before `frame`.
  mutating func drop(before frame: Int) {
    guard let first = blocks.first, first.buffer.frameCount.count + starts[0] <= frame else {
      return
    }
    let kept = blocks.indices.first { starts[$0] + blocks[$0].buffer.frameCount.count > frame }
    blocks.removeFirst(kept ?? blocks.count)
    starts.removeFirst(kept ?? starts.count)
  }

  /// Only the blocks with something of `range`.
  func cut(to range: Range<Int>) -> SoundWindow {
    var window = self
    window.drop(before: range.lowerBound)
    let count = window.starts.firstIndex { $0 >= range.upperBound } ?? window.starts.count
    window.blocks.removeLast(window.blocks.count - count)
    window.starts.removeLast(window.starts.count - count)
    window.end = min(end, range.upperBound)
    return window
  }

  /// Replaces the content of `buffer` with the frames of `range`, all of which it must hold.
  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) {
    buffer.frameCount = .zero
    var index = (starts.partitioningIndex { $0 > range.lowerBound }) - 1
    var position = range.lowerBound
    while position < range.upperBound {
      let block = blocks[index]
      let start = position - starts[index]
      let count = min(block.buffer.frameCount.count - start, range.upperBound - position)
      buffer.append(contentsOf: block.buffer, start: Frames(start), count: Frames(count))
      position += count
      index += 1
    }
  }
}

extension Array {
  /// The first index whose element satisfies a condition that all later ones satisfy too.
  /// O(log n).
  func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
