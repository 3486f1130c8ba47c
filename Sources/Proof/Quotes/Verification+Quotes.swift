extension Verification {
  /// Checks quotes. Blocks.
  /// - Parameters:
  ///   - folders: the bundles' folders.
  ///   - mayGoOn: asked before every bundle; false ends the work.
  /// - Returns: what was found, in the order of `folders`; nil where `mayGoOn` ended the work.
  public func check(
    quotes folders: [String], mayGoOn: @escaping @Sendable () -> Bool = { true }
  ) -> [VerifiedQuote]? {
    let keys = keys
    return each(folders, mayGoOn) { QuoteCheck($0, keys: keys).result }
  }
}

extension ReceiptSearch {
  /// The folders of all quotes, sorted, the folder itself among them: of those, too, that lack something.
  public static func quotes(below folder: String) -> [String] {
    var found: [String: Set<String>] = [:]
    for (path, _) in FolderWalk.entries(of: folder) {
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      found[String(path.dropLast(name.utf8.count)), default: []].insert(name)
    }
    let rest: Set = [QuoteBundle.clipName, QuoteBundle.receiptName, QuoteBundle.scriptName]
    return found.filter { $0.value.contains(QuoteBundle.quoteName) || rest.isSubset(of: $0.value) }
      .keys.sorted().map { place in
        let inner = place.hasSuffix("/") ? String(place.dropLast()) : place
        return inner.isEmpty
          ? folder : folder.hasSuffix("/") ? folder + inner : "\(folder)/\(inner)"
      }
  }
}
