import PipelineModel
import Platform
import Testing
@testable import Intake
@testable import spool

@Suite("The events of a batch") struct BatchLineTests {
  @Test("name the file with all its bytes, its run and its exports, as batch.json does")
  func file() {
    let report =
      #"{"exactPath":"caf%E9.wav","exports":[{"byteCount":5,"path":"cafe.flac"}],"#
      + #""path":"caf�.wav","run":"r-1"}"#
    let result = BatchFileResult(path: "caf�.wav", outcome: .done, report: report)
    let line = JSONText.of(JSONRecorder.line(.finished(result)))
    for member in [
      #""exactPath":"caf%E9.wav""#, #""run":"r-1""#,
      #""exports":[{"byteCount":5,"path":"cafe.flac"}]"#,
    ] { #expect(line.contains(member), "\(line)") }
  }

  @Test("have no exact path where the path is one, and no exports where there are none")
  func plain() {
    let failed = BatchFileResult(path: "a.wav", outcome: .failed, report: #"{"path":"a.wav"}"#)
    let line = JSONText.of(JSONRecorder.line(.finished(failed)))
    #expect(line.contains(#""exports":[]"#) && !line.contains("exactPath"), "\(line)")
    let started = JSONText.of(JSONRecorder.line(.started(path: "50%.wav", share: 1)))
    #expect(started.contains(#""exactPath":"50%25.wav""#), "\(started)")
  }
}
