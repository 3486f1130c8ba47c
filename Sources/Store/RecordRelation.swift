internal import PipelineModel

/// How a checkpoint's record stands to its rows in the database.
enum RecordRelation: Hashable, Sendable {
  /// Both say the same.
  case same
  /// The record knows more: its process died before the rows counted, or the database is older.
  case ahead
  /// The rows know more: the record is older.
  case behind
  /// They cannot both be right.
  case contradiction

  /// Compares them. Kept sound that only one of them names is no contradiction: it may have been
  /// freed.
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
