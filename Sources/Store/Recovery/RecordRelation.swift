internal import PipelineModel

/// How a checkpoint's record compares with its rows.
enum RecordRelation: Hashable, Sendable {
  case same
  /// The record has more: its process died before the commit, or the database is older.
  case ahead
  /// The rows have more: the record is older.
  case behind
  /// At most one of them is right.
  case contradiction

  /// Kept sound named by only one of them is no contradiction: it may have been freed.
  init(record: Checkpoint, rows: Checkpoint) {
    guard record.components == rows.components,
      Self.agree(record.memo, rows.memo), Self.agree(record.hint, rows.hint)
    else {
      self = .contradiction
      return
    }
    var isAhead =
      (record.memo != nil && rows.memo == nil) || (record.hint != nil && rows.hint == nil)
    var isBehind =
      (record.memo == nil && rows.memo != nil) || (record.hint == nil && rows.hint != nil)
    for port in Set(record.outputs.keys).union(rows.outputs.keys) {
      switch (record.outputs[port], rows.outputs[port]) {
      case (let mine?, let theirs?):
        guard mine.kind == theirs.kind, mine.identity == theirs.identity,
          Self.agree(mine.artifact, theirs.artifact)
        else {
          self = .contradiction
          return
        }
        if mine.artifact != nil, theirs.artifact == nil { isAhead = true }
        if mine.artifact == nil, theirs.artifact != nil { isBehind = true }
      case (_?, nil): isAhead = true
      case (nil, _): isBehind = true
      }
    }
    self = isBehind ? .behind : isAhead ? .ahead : .same
  }

  private static func agree<Value: Equatable>(_ a: Value?, _ b: Value?) -> Bool {
    a == nil || b == nil || a == b
  }
}
