internal import CSQLite

/// Where the phrases of a query stand in a transcript: what the full text search knows and SQL alone
/// does not tell. `SearchPlaces.function` gives it to SQL as text.
struct SearchPlaces: Sendable {
  /// One phrase at one place.
  struct Place: Hashable, Sendable {
    /// Which phrase of the query, from 0.
    let phrase: Int
    /// Where it is found.
    var column = SearchColumn.words
    /// Its first token in that column.
    let token: Int
  }

  /// In any order.
  let places: [Place]

  /// What the function of that name gave.
  init(_ text: String) {
    var reader = SearchNumbers.Reader(text)
    var places: [Place] = []
    var token = 0
    while let phrase = reader.next(), let column = reader.next().flatMap(SearchColumn.init),
      let step = reader.nextSigned()
    {
      token += step
      places.append(Place(phrase: phrase, column: column, token: token))
    }
    self.places = places
  }

  /// What SQL calls the function.
  static let function = "places"

  /// Makes the function known to a connection. - Returns: SQLite's status.
  static func register(with api: UnsafeMutablePointer<fts5_api>) -> CInt {
    unsafe api.pointee.xCreateFunction?(api, function, nil, tellPlaces, nil) ?? SQLITE_ERROR
  }
}

/// The places of all phrases in the row that is looked at. Not a closure: it is C that calls.
private func tellPlaces(
  calls: UnsafePointer<Fts5ExtensionApi>?, row: OpaquePointer?, context: OpaquePointer?,
  count: CInt, values: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let calls = unsafe calls, let instanceCount = unsafe calls.pointee.xInstCount,
    let instance = unsafe calls.pointee.xInst
  else { return }
  var total: CInt = 0
  var status = unsafe instanceCount(row, &total)
  var numbers = SearchNumbers()
  var last = 0
  for index in 0..<max(0, total) where status == SQLITE_OK {
    var (phrase, column, token): (CInt, CInt, CInt) = (0, 0, 0)
    status = unsafe instance(row, index, &phrase, &column, &token)
    numbers.append(Int(phrase))
    numbers.append(Int(column))
    numbers.append(signed: Int(token) - last)
    last = Int(token)
  }
  guard status == SQLITE_OK else { return unsafe sqlite3_result_error_code(context, status) }
  let text = numbers.text
  // SQLITE_TRANSIENT, a cast that is not imported: SQLite takes a copy.
  let copy = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  unsafe sqlite3_result_text(context, text, CInt(text.utf8.count), copy)
}
