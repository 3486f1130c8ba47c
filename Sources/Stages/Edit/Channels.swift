import Audio
import PipelineModel
import Platform
import SoundEngine

/// `channels`: picked, swapped or mixed as one says.
private struct ChannelsStage: DeclaredStage, SoundFilterStage {
  struct Parameters: Codable, Sendable {
    let pick: [Int]?
    let matrix: [[Double]]?
  }

  static let descriptor = StageDescriptor.soundFilter(
    "channels", revision: 1,
    summary: "Pick, swap or mix channels",
    discussion: """
      `pick` names the channels to take, by number from 1, in the order in which they are wanted; \
      one may be taken more than once: `pick: 2` is the second alone, `pick: [2, 1]` swaps two. \
      They come through bit for bit. `matrix` has a row for each channel that comes out, and in it \
      a gain for each that comes in, as an amplitude: `matrix: [[0.5, 0.5]]` is the mean of two, \
      [[1, 0], [0, -1]] turns the second upside down. Nothing is clipped.
      """,
    parameters: [
      ParameterDescriptor(
        "pick", .list(of: .integer(1...64), count: 1...64), .optional,
        "the channels to take, in order"),
      ParameterDescriptor(
        "matrix",
        .list(of: .list(of: .number(.number, -100...100), count: 1...64), count: 1...64),
        .optional, "what each channel is made of, in place of pick"),
    ],
    shorthand: "pick")

  private enum Wish {
    case pick([Int])
    case matrix([[Double]])
  }

  private let wish: Wish

  init(_ parameters: Parameters) throws(SpoolError) {
    switch (parameters.pick, parameters.matrix) {
    case (let pick?, nil): wish = .pick(pick)
    case (nil, let matrix?):
      guard Set(matrix.map(\.count)).count == 1 else {
        throw SpoolError(
          "the rows of channels' matrix are not equally long",
          advice: "a gain in every row for each channel that comes in")
      }
      wish = .matrix(matrix)
    default:
      throw SpoolError(
        "channels needs either pick or matrix", advice: "pick: [1, 2], or matrix: [[0.5, 0.5]]")
    }
  }

  private func gains(for format: AudioFormat) throws(SpoolError) -> [[Double]] {
    let count = format.channelCount
    switch wish {
    case .pick(let numbers):
      if let missing = numbers.first(where: { $0 > count }) {
        throw SpoolError(
          "channels cannot pick channel \(missing)",
          reason: "there \(count == 1 ? "is 1 channel" : "are \(count) channels")",
          advice: "pick from 1 to \(count)")
      }
      return numbers.map { number in (1...count).map { $0 == number ? 1 : 0 } }
    case .matrix(let gains):
      let width = gains.first?.count ?? 0
      guard width == count else {
        throw SpoolError(
          "channels' matrix is for \(width) channels",
          reason: "there \(count == 1 ? "is 1 channel" : "are \(count) channels")",
          advice: "give \(count) gains in every row")
      }
      return gains
    }
  }

  func makeProcessor(for format: AudioFormat) throws(SpoolError) -> any Processor {
    ChannelMatrix(try gains(for: format), format: format)
  }

  func outline(after stream: SoundOutline) throws(SpoolError) -> SoundOutline {
    stream.changed(to: ChannelMatrix.format(after: try gains(for: stream.format), stream.format))
  }
}

extension StageRegistration { static let channels = StageRegistration(ChannelsStage.self) }
