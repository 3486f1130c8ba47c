public import PipelineModel
public import Proof

extension ReceiptRecords {
  /// The list as it is once a database that came back from a backup has taken in what the files beside
  /// it know: they are ahead of it, and the head among them, which a known key signed, is over a list
  /// that continues that of the database. Anything else is what it is. O(n).
  /// - Parameter keys: the keys whose signatures count.
  public func caughtUp(keys: [VerifyingKey]) -> ReceiptRecords {
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
    // What no head covers was on its way when a process was killed: nobody signed it.
    let list = Array(logged.prefix(ahead.size))
    return ReceiptRecords(
      entries: list, logged: list,
      head: ReceiptHead(size: ahead.size, root: ahead.root, text: copy), copy: copy,
      databasePath: databasePath, logPath: logPath, headPath: headPath)
  }
}
