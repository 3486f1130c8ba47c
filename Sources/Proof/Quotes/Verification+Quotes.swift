extension Verification {
  /// Checks quotes. Blocks.
  /// - Parameters:
  ///   - folders: the bundles' folders.
  ///   - mayGoOn: asked before every bundle; false ends the work.
  /// - Returns: what was found, in the order of `folders`; nil where `mayGoOn` ended the work.
  public func check(
    quotes folders: [String], mayGoOn: @escaping @Sendable () -> Bool = { true }
  ) -> [VerifiedQuote]? {
    let (keys, certificates) = (keys, certificates)
    return each(folders, mayGoOn) { QuoteCheck($0, keys: keys, certificates: certificates).result }
  }
}

extension ReceiptSearch {
  /// The folders of all quotes, sorted, the folder itself among them: of those, too, that lack something.
  public var quotes: [String] {
    let rest: Set = [QuoteBundle.clipName, QuoteBundle.receiptName, QuoteBundle.scriptName]
    var found: [String: Set<String>] = [:]
    for path in paths {
      let name = Self.name(of: path)
      guard name == QuoteBundle.quoteName || rest.contains(name) else { continue }
      found[String(path.utf8.dropLast(name.utf8.count)) ?? "", default: []].insert(name)
    }
    return found.filter { $0.value.contains(QuoteBundle.quoteName) || rest.isSubset(of: $0.value) }
      .keys.sorted().map { place in
        let inner = place.hasSuffix("/") ? String(place.dropLast()) : place
        return inner.isEmpty
          ? folder : folder.hasSuffix("/") ? folder + inner : "\(folder)/\(inner)"
      }
  }
}
