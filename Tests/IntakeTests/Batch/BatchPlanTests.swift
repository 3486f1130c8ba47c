@testable import Intake
import PipelineModel
import Platform
import Testing

@Suite("What a batch foresees")
struct BatchPlanTests {
  private func file(_ path: String, _ byteCount: Int) -> FoundFile {
    FoundFile(path: path, byteCount: byteCount)
  }

  private func cost(seconds: Double) -> BatchForecast.CostModel.Cost {
    BatchForecast.CostModel.Cost(
      mediaSeconds: 100 * seconds, storeByteCount: 1000 * seconds,
      publishedByteCount: 500 * seconds, seconds: seconds)
  }

  @Test("few files are all looked into, of many an even part with both ends")
  func sample() {
    #expect(BatchForecast.CostModel.sample(of: 0) == [])
    #expect(BatchForecast.CostModel.sample(of: 3) == [0, 1, 2])
    let sample = BatchForecast.CostModel.sample(of: 10_000)
    #expect(sample.count == BatchForecast.CostModel.sampleLimit)
    #expect(sample.first == 0 && sample.last == 9_999)
    #expect(Set(sample).count == sample.count)
  }

  @Test("files that were not looked into cost what their kind costs for each byte")
  func kinds() {
    var costs = BatchForecast.CostModel()
    #expect(costs[file("x.wav", 10)] == BatchForecast.CostModel.Cost())
    costs.add(cost(seconds: 2), of: file("a.wav", 1000))
    costs.add(cost(seconds: 4), of: file("b.WAV", 1000))
    costs.add(cost(seconds: 10), of: file("c.m4a", 100))
    #expect(costs[file("a.wav", 1000)] == cost(seconds: 2))
    #expect(costs[file("d.wav", 2000)].seconds == 6)
    #expect(costs[file("e.m4a", 50)].mediaSeconds == 500)
    #expect(abs(costs[file("f.mp3", 2100)].seconds - 16) < 1e-9)
    // What cannot be opened costs nothing, and spoils nobody's estimate.
    costs.addHopeless(file("broken.wav", 5000))
    #expect(costs[file("broken.wav", 5000)] == BatchForecast.CostModel.Cost())
    #expect(costs[file("d.wav", 2000)].seconds == 6)
  }

  @Test("the costliest file is begun first, equal ones in the order of their paths")
  func queue() {
    var costs = BatchForecast.CostModel()
    let files = [file("a.wav", 10), file("b.m4a", 10), file("c.wav", 30), file("d.wav", 10)]
    costs.add(cost(seconds: 1), of: files[0])
    costs.add(cost(seconds: 9), of: files[1])
    var queue = BatchPlan.Queue(
      files.map {
        BatchPlan.Job(file: $0, name: $0.path, wantedName: nil, sidecar: nil, transcript: nil)
      },
      costs: costs)
    var order: [String] = []
    var numbers: [Int] = []
    var shares: [Double] = []
    while let (number, job, share) = queue.next() {
      order.append(job.file.path)
      numbers.append(number)
      shares.append(share)
    }
    #expect(order == ["b.m4a", "c.wav", "a.wav", "d.wav"])
    #expect(numbers == [1, 2, 3, 4])
    #expect(zip(shares, [9, 3, 1, 1]).allSatisfy { abs($0 - $1 / 14) < 1e-9 })
    let rest = queue.drain()
    #expect(rest.isEmpty)
  }

  @Test("files at once: twice the cores, as memory allows, never more than there are")
  func budget() {
    let gigabyte = 1_000_000_000
    func workers(_ jobs: Int?, cores: Int, memory: Int, files: Int) -> Int {
      BatchBudget(jobs: jobs, coreCount: cores, memoryByteCount: memory).workerCount(for: files)
    }
    #expect(workers(nil, cores: 2, memory: 8 * gigabyte, files: 100) == 4)
    #expect(workers(nil, cores: 64, memory: gigabyte, files: 100) == 10)
    #expect(workers(nil, cores: 2, memory: 0, files: 100) == 1)
    #expect(workers(nil, cores: 8, memory: 8 * gigabyte, files: 3) == 3)
    #expect(workers(7, cores: 2, memory: 0, files: 100) == 7)
    #expect(BatchBudget(jobs: nil, coreCount: 1).memoryByteCount > 1_000_000)
  }

  @Test("what cannot fit is refused with figures")
  func room() throws {
    var forecast = BatchForecast()
    forecast.storeByteCount = 6_000_000
    forecast.publishedByteCount = 3_000_000
    forecast.storeFreeByteCount = 8_000_000
    forecast.outputFreeByteCount = 8_000_000
    try forecast.checkRoom(output: "/out")
    forecast.sharesDisk = true
    let error = try #require(throws: SpoolError.self) { try forecast.checkRoom(output: "/out") }
    #expect(error.reason == "the batch needs about 9.0 MB, and 8.0 MB are free")
    #expect(error.cause == .environment)
  }
}
