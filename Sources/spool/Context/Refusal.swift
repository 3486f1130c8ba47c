import PipelineModel
import Platform
import Receipts
import Store

extension CommandContext {
  typealias Refusal = SpoolError
}

/// An error as text, for commands that word their errors themselves.
struct ErrorText {
  private let error: SpoolError

  init(_ error: SpoolError) { self.error = error }

  func render(_ console: Console) -> String { error.text(console) }
}

extension SpoolError {
  init(text: String, code: ExitCode) {
    self.init("", reason: text, kind: .invalid)
    faults = [ParameterFault(at: [], "\(code.rawValue)")]
  }

  var text: String { text(Console()) }

  var code: ExitCode {
    faults.first.flatMap { Int32($0.message) }.map { ExitCode(rawValue: $0) } ?? exitCode
  }
}

extension CommandContext {
  func existingStore(at option: String?) throws(SpoolError) -> ReadableStore {
    try requireStore(at: Self.storePath(option))
    return try readableStore(at: option)
  }

  func unlock(_ receiptWriter: SignedReceiptWriter) throws(SpoolError) {
    try receiptWriter.unlock()
  }

  func runs(limit: Int, in store: DiskStore) throws(SpoolError) -> [RunRecord] {
    try store.runs.newest(limit: limit)
  }
}

extension OutputFolder {
  static func prepare(_ path: String, console: Console) throws(SpoolError) -> String {
    try prepare(path)
  }
}
