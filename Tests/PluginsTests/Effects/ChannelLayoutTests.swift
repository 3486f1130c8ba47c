import Plugins
import Testing

@Suite("Channels go through a plugin of any width")
struct ChannelLayoutTests {
  private func summary(_ layout: ChannelLayout) -> [String] {
    layout.instances.map { instance in
      "\(instance.inputs) → "
        + instance.outputs.map { "\($0.channel)=\($0.ports)" }.joined(separator: " ")
    }
  }

  @Test(
    "every channel comes out once",
    arguments: [
      (1, 1, 1, ["[[0]] → 0=[0]"]),
      (2, 1, 1, ["[[0]] → 0=[0]", "[[1]] → 1=[0]"]),
      (2, 2, 2, ["[[0], [1]] → 0=[0] 1=[1]"]),
      // Mono sound through stereo: both sides hear it, and their mean comes out.
      (1, 2, 2, ["[[0], [0]] → 0=[0, 1]"]),
      (3, 2, 2, ["[[0], [1]] → 0=[0] 1=[1]", "[[2], [2]] → 2=[0, 1]"]),
      // A reverb that makes two of one hears the mean of both.
      (2, 1, 2, ["[[0, 1]] → 0=[0] 1=[1]"]),
      (1, 1, 2, ["[[0]] → 0=[0, 1]"]),
      (2, 2, 1, ["[[0], [1]] → 0=[0] 1=[0]"]),
      (2, 4, 2, ["[[0], [1], [0], [1]] → 0=[0] 1=[1]"]),
      (2, 2, 4, ["[[0], [1]] → 0=[0, 2] 1=[1, 3]"]),
    ] as [(Int, Int, Int, [String])])
  func layout(channels: Int, inputs: Int, outputs: Int, expected: [String]) {
    let layout = ChannelLayout(channelCount: channels, inputs: inputs, outputs: outputs)
    #expect(summary(layout) == expected)
  }

  @Test func `whatever the widths, each channel is made exactly once of outputs that there are`() {
    for channels in 1...9 {
      for inputs in 1...5 {
        for outputs in 1...5 {
          let layout = ChannelLayout(
            channelCount: channels, inputs: inputs, outputs: outputs, sideChains: 1)
          let made = layout.instances.flatMap { $0.outputs.map(\.channel) }
          #expect(made == Array(0..<channels))
          for instance in layout.instances {
            #expect(instance.inputs.count == inputs && instance.sideChains.count == 1)
            #expect(instance.inputs.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0 < channels } })
            #expect(
              instance.outputs.allSatisfy {
                !$0.ports.isEmpty && $0.ports.allSatisfy { $0 < outputs }
              })
          }
        }
      }
    }
  }
}
