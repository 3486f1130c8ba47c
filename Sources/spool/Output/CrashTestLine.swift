import CrashTest

/// An event of a crash test as `--json` shows it: `event` names it, the other members depend on it.
struct CrashTestLine: Encodable {
  private var event = ""
  private var files: [OutputDigest]?
  private var seconds: Double?
  private var number: Int?
  private var series: Int?
  private var kills: Int?
  private var operation: Int?
  private var isInsidePass: Bool?
  private var losses: [Loss]?
  private var differenceCount: Int?
  private var difference: Difference?
  private var result: KillTestResult?

  init(_ event: KillTestEvent) {
    switch event {
    case .reference(let files, let seconds):
      self.event = "reference"
      self.files = files
      self.seconds = seconds
    case .killed(let number, let series, let seconds, let operation):
      self.event = "killed"
      self.number = number
      self.series = series
      self.seconds = seconds
      self.operation = operation
    case .wentOn(let series, let seconds, let isInsidePass, let losses):
      self.event = "went-on"
      self.series = series
      self.seconds = seconds
      self.isInsidePass = isInsidePass
      self.losses = losses
    case .seriesEnded(let series, let kills, let differenceCount):
      self.event = "series"
      self.series = series
      self.kills = kills
      self.differenceCount = differenceCount
    case .differs(let difference):
      self.event = "differs"
      self.difference = difference
    }
  }

  init(_ result: KillTestResult) {
    event = "result"
    self.result = result
  }
}
