import PipelineModel
import Platform
package import Proof
package import Store

/// The transparency log as of its last signed head, as far as the database or the log file has it.
/// A pure value.
///
/// The longest head signed by a known key decides. If neither list leads to it, nothing can be
/// repaired: a shorter head would lose receipts.
package struct LogRecovery: Sendable {
  /// The list that leads to the signed head.
  package enum Source: Hashable, Sendable {
    case database
    case log
  }

  /// The entries under the head, in order.
  package let entries: [ReceiptEntry]
  package let head: ReceiptHead
  package let source: Source

  /// Searches for the signed list. O(n).
  /// - Parameter keys: the keys whose signatures count.
  /// - Returns: nil if no head is signed, or neither list leads to it.
  package init?(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    let texts = [
      (records.head?.text, records.databasePath), (records.copy, records.headPath),
    ]
    let heads = texts.compactMap { text, path in
      text.flatMap { text in (try? TreeHead(text, at: path, keys: keys)).map { ($0, text) } }
    }
    guard let (head, text) = heads.max(by: { $0.0.size < $1.0.size }) else { return nil }
    let lists: [(Source, [ReceiptEntry])] = [
      (.database, records.entries), (.log, records.logged),
    ]
    guard let (source, list) = lists.first(where: { head.contradiction(in: $0.1) == nil })
    else {
      return nil
    }
    entries = Array(list.prefix(head.size))
    self.head = ReceiptHead(size: head.size, root: head.root, text: text)
    self.source = source
  }
}

extension ReceiptRecords {
  /// The log after a restored database has caught up with its files: they are ahead, and their
  /// head, signed by a known key, continues the database's list. Otherwise unchanged. O(n).
  /// - Parameter keys: the keys whose signatures count.
  package func caughtUp(keys: [VerifyingKey]) -> ReceiptRecords {
    guard let copy, copy != head?.text,
      let ahead = try? TreeHead(copy, at: headPath, keys: keys), ahead.size > entries.count,
      ahead.contradiction(in: logged) == nil, zip(entries, logged).allSatisfy(==)
    else { return self }
    if let head {
      guard let own = try? TreeHead(head.text, at: databasePath, keys: keys),
        own.size == entries.count, own.contradiction(in: entries) == nil
      else { return self }
    } else if !entries.isEmpty {
      return self
    }
    // An entry under no head was being added when the process died.
    let list = Array(logged.prefix(ahead.size))
    return ReceiptRecords(
      entries: list, logged: list,
      head: ReceiptHead(size: ahead.size, root: ahead.root, text: copy), copy: copy,
      databasePath: databasePath, logPath: logPath, headPath: headPath)
  }
}
