package import Platform

/// A folder of a web server (RFC 4918). A file is sent whole under the name of its part, read back, and
/// moved to its own name, which the server must not give twice.
///
/// Ranges are never sent: some servers replace the file by the range. So an upload that was interrupted
/// begins anew, unless the server has the whole part.
package struct WebDAVTransport: Transport, ~Copyable {
  private let address: WebAddress
  private let publicAddress: WebAddress?
  private let token: String?
  private var connection: HTTPConnection
  /// The folders that are there, and when the destination's own was seen last.
  private var folders: Set<[String]> = []
  private var lastSeen: Int64?
  package private(set) var requestedPause: Double?

  /// Nanoseconds after which the destination's folder is looked for again: a disk of the server may
  /// have been unmounted.
  private static let memory: Int64 = 10_000_000_000

  /// - Parameter settings: what the connection needs besides the destination's own.
  package init(
    _ place: Destination.WebDAV, _ environment: [String: String], bytesPerSecond: Int? = nil,
    settings: HTTPConnection.Settings = HTTPConnection.Settings()
  ) throws(SpoolError) {
    let secret = try place.password?.text(environment)
    var settings = settings
    settings.certificates = place.certificates
    settings.bytesPerSecond = bytesPerSecond
    settings.user = place.user
    settings.password = place.user == nil ? nil : secret
    connection = try HTTPConnection(settings)
    address = place.address
    publicAddress = place.publicAddress
    token = place.user == nil ? secret : nil
  }

  package mutating func find(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    try checkFolder()
    return try look(path)
  }

  package mutating func send(
    _ file: borrowing OutgoingFile, to path: RemotePath, from state: UploadState?,
    note: (UploadState) throws(SpoolError) -> Void, mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> RemoteFile {
    if try find(path) != nil { throw SpoolError(occupied: path) }
    let isContinued = state != nil
    var state = state ?? UploadState()
    let part = path.part(state.token)
    // An earlier attempt may have been stopped after the last byte.
    let left = isContinued ? try look(part)?.byteCount : nil
    if left != file.byteCount {
      state.byteCount = 0
      try note(state)
      try makeFolders(of: path)
      try put(file, at: part, mayGoOn)
    }
    state.byteCount = file.byteCount
    try note(state)
    var progress = UploadProgress()
    progress.sentByteCount = file.byteCount
    try confirm(
      part: part, of: file, &progress, place: url(part), keeper: "the server", mayGoOn)
    return try finish(part, as: path, byteCount: file.byteCount)
  }

  package mutating func read(
    _ path: RemotePath, limit: Int, mayGoOn: () -> Bool,
    to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    var count = 0
    let response = try withoutActuallyEscaping(consume) { (consume) throws(SpoolError) in
      // What a proxy remembers would be no proof.
      try request("GET", url(path), [("Cache-Control", "no-cache")]) { _ in
        mayGoOn()
      } to: { (bytes) throws(SpoolError) in
        count += bytes.byteCount
        if count > limit { throw SpoolError(otherBytes: path, "it has more than \(limit) bytes") }
        try consume(bytes)
      }
    }
    if response.status == 404 { throw SpoolError(noFile: url(path)) }
    guard response.status == 200 else { throw refusal(response, "read", path) }
  }

  package mutating func list(
    mayGoOn: () -> Bool, to consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try checkFolder()
    var walk = FolderWalk()
    while let folder = walk.next() {
      guard mayGoOn() else { throw .cancelled }
      try list(folder, &walk, mayGoOn, consume)
    }
  }

  package mutating func discard(_ state: UploadState, of path: RemotePath) throws(SpoolError) {
    try remove(path.part(state.token))
  }

  package mutating func removeProbe(_ path: RemotePath) throws(SpoolError) {
    precondition(path.isProbe)
    try remove(path)
  }

  package mutating func freeByteCount() throws(SpoolError) -> Int? {
    let url = address.origin + folderPath([])
    let response = try propfind(url)
    // A server without PROPFIND does not say it.
    if [405, 501].contains(response.status) { return nil }
    let properties = try properties(response, of: url)
    // A negative number says that there is no limit, or that it is not known.
    return properties?["quota-available-bytes"].flatMap { Int($0.text) }.flatMap {
      $0 < 0 ? nil : $0
    }
  }
}

extension WebDAVTransport {
  package mutating func link(
    to path: RemotePath, forSeconds seconds: Int
  ) throws(SpoolError) -> String? {
    publicAddress.map { address in
      let place = address.appending(path.names)
      return place.origin + place.path
    }
  }

  private func url(_ path: RemotePath) -> String {
    let place = address.appending(path.names)
    return place.origin + place.path
  }

  private func folderPath(_ names: [String]) -> String {
    let path = address.appending(names).path
    return path.hasSuffix("/") ? path : path + "/"
  }

  private mutating func request(
    _ method: String, _ url: String, _ headers: [(name: String, value: String)] = [],
    body: HTTPRequest.Body = .none, mayGoOn: (Int) -> Bool = { _ in true },
    to consume: ((RawSpan) throws(SpoolError) -> Void)? = nil
  ) throws(SpoolError) -> HTTPResponse {
    var headers = headers
    if let token { headers.append(("Authorization", "Bearer \(token)")) }
    requestedPause = nil
    let response = try connection.send(
      HTTPRequest(method, url, headers: headers, body: body), mayGoOn: mayGoOn, to: consume)
    if !response.isSuccess { requestedPause = response.retryAfter }
    return response
  }

  private func refusal(
    _ response: HTTPResponse, _ action: String, _ path: RemotePath
  ) -> SpoolError {
    SpoolError(
      refusal: response, action, url(path),
      detail: XMLElement(response.body)?["message"]?.text)
  }

  /// Asks for a few properties of one resource, or also of those in a folder.
  /// - Parameter depth: `0` or `1`.
  private mutating func propfind(
    _ url: String, depth: String = "0", mayGoOn: (Int) -> Bool = { _ in true },
    to consume: ((RawSpan) throws(SpoolError) -> Void)? = nil
  ) throws(SpoolError) -> HTTPResponse {
    let question = """
      <?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/>\
      <getcontentlength/><getlastmodified/><getetag/><quota-available-bytes/></prop></propfind>
      """
    return try request(
      "PROPFIND", url, [("Depth", depth), ("Content-Type", "application/xml; charset=utf-8")],
      body: .bytes(Array(question.utf8)), mayGoOn: mayGoOn, to: consume)
  }

  /// What the server answered about a resource; nil if there is none.
  private func properties(
    _ response: HTTPResponse, of url: String
  ) throws(SpoolError) -> XMLElement? {
    if [404, 410].contains(response.status) { return nil }
    guard response.status == 207 else { throw SpoolError(refusal: response, "look at", url) }
    guard let found = XMLElement(response.body)?["response"]?.foundProperties else {
      throw oddAnswer(url)
    }
    return found
  }

  private func oddAnswer(_ url: String) -> SpoolError {
    SpoolError(
      "look at", url, reason: "the server does not answer as WebDAV servers do",
      advice: "check the address", cause: .blocked)
  }

  private mutating func list(
    _ folder: [String], _ walk: inout FolderWalk, _ mayGoOn: () -> Bool,
    _ consume: (ListedFile) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let url = address.origin + folderPath(folder)
    let place = address.appending(folder)
    let odd = oddAnswer(url)
    var (inner, children) = (walk, XMLChildren())
    let response = try withoutActuallyEscaping(consume) { (consume) throws(SpoolError) in
      try propfind(url, depth: "1") { _ in
        mayGoOn()
      } to: { (bytes) throws(SpoolError) in
        guard let found = children.take(bytes) else { throw odd }
        for child in found where child.name == "response" {
          let file = try Self.listed(child, in: folder, at: place, &inner)
          if let file { try consume(file) }
        }
      }
    }
    walk = inner
    if [404, 410].contains(response.status), !folder.isEmpty { return }
    if [405, 501].contains(response.status) {
      throw SpoolError(
        "list", url, reason: "the server cannot list its folders, with PROPFIND",
        advice: "have its administrator allow that", cause: .blocked)
    }
    guard response.status == 207 else { throw SpoolError(refusal: response, "list", url) }
    guard children.isComplete else { throw odd }
  }

  /// What is to be said of a name in a folder, which a server may have made up.
  private static func listed(
    _ response: XMLElement, in folder: [String], at place: WebAddress, _ walk: inout FolderWalk
  ) throws(SpoolError) -> ListedFile? {
    guard let reference = response["href"]?.text else { return nil }
    let url = reference.hasPrefix("/") ? place.origin + reference : reference
    let names: [String]
    do throws(SpoolError) {
      names = try WebAddress(url, schemes: ["https", "http"]).names
    } catch {
      return .unusable(
        PlainText.line(reference), reason: PlainText.line(error.reason ?? error.message))
    }
    if names == place.names { return nil }
    guard names.count == place.names.count + 1, names.starts(with: place.names),
      let name = names.last
    else {
      return .unusable(PlainText.line(reference), reason: "it lies in another folder")
    }
    guard let properties = response.foundProperties else { return nil }
    return try walk.take(
      name, in: folder, isFolder: properties["resourcetype"]?["collection"] != nil,
      byteCount: properties["getcontentlength"].flatMap { Int($0.text) })
  }

  /// The folder of a disk that is not mounted is missing, and must not be made on the disk below it.
  private mutating func checkFolder() throws(SpoolError) {
    if let lastSeen, Clock.sinceBoot() - lastSeen < Self.memory { return }
    let url = address.origin + folderPath([])
    let response = try propfind(url)
    var isThere: Bool
    if [405, 501].contains(response.status) {
      // A server without PROPFIND forbids to list a folder that it has.
      let response = try request("HEAD", url)
      isThere = response.isSuccess || response.status == 403
      guard isThere || [404, 410].contains(response.status) else {
        throw SpoolError(refusal: response, "look at", url)
      }
    } else {
      isThere = try properties(response, of: url)?["resourcetype"]?["collection"] != nil
    }
    guard isThere else {
      folders = []
      throw SpoolError(
        "deliver to the folder", address.description, reason: "the server has no such folder",
        advice: "mount its disk at the server, or make the folder", kind: .missing)
    }
    lastSeen = Clock.sinceBoot()
  }

  private mutating func look(_ path: RemotePath) throws(SpoolError) -> RemoteFile? {
    let response = try request("HEAD", url(path))
    switch response.status {
    case 404, 410: return nil
    case 200:
      if let byteCount = response.contentLength {
        return RemoteFile(
          byteCount: byteCount, identifier: response["etag"], modified: response.lastModified)
      }
    case 301, 302, 307, 308:
      // Servers send who asks for a folder to the name with a slash.
      guard response["location"]?.hasSuffix(address.appending(path.names).path + "/") == true else {
        throw refusal(response, "look at", path)
      }
      throw SpoolError(occupied: path)
    case 403, 405, 501: break
    default: throw refusal(response, "look at", path)
    }
    guard let properties = try properties(propfind(url(path)), of: url(path)) else { return nil }
    guard let length = properties["getcontentlength"].flatMap({ Int($0.text) }) else {
      throw SpoolError(occupied: path)
    }
    return RemoteFile(
      byteCount: length, identifier: properties["getetag"]?.text,
      modified: properties["getlastmodified"].flatMap { HTTPDate.seconds(of: $0.text) })
  }

  private mutating func makeFolders(of path: RemotePath) throws(SpoolError) {
    for count in path.names.indices.dropFirst() {
      let names = Array(path.names.prefix(count))
      if folders.contains(names) { continue }
      let url = address.origin + folderPath(names)
      let response = try request("MKCOL", url)
      // 405: it is there.
      if !response.isSuccess, response.status != 405 {
        let found = try properties(propfind(url), of: url)
        guard found?["resourcetype"]?["collection"] != nil else {
          throw SpoolError(refusal: response, "make the folder", url)
        }
      }
      folders.insert(names)
    }
  }

  private mutating func put(
    _ file: borrowing OutgoingFile, at part: RemotePath, _ mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) {
    var progress = UploadProgress()
    let body = HTTPRequest.Body.file(
      file.file.descriptor, offset: 0, byteCount: file.byteCount)
    let limit = file.byteCount
    let response = try request(
      "PUT", url(part), [("Content-Type", file.contentType)], body: body
    ) { sent in
      progress.sentByteCount = min(sent, limit)
      return mayGoOn(progress)
    }
    if response.isSuccess { return }
    if [404, 409].contains(response.status) {
      // A folder on the way is gone, or the destination's own.
      (folders, lastSeen) = ([], nil)
      throw SpoolError(
        "send", url(part), reason: "the server answers with the status \(response.status)",
        cause: .transient)
    }
    throw refusal(response, "send", part)
  }

  /// Gives a confirmed part its name.
  private mutating func finish(
    _ part: RemotePath, as path: RemotePath, byteCount: Int
  ) throws(SpoolError) -> RemoteFile {
    let response = try request(
      "MOVE", url(part), [("Destination", url(path)), ("Overwrite", "F")])
    guard [200, 201, 204].contains(response.status) else {
      if response.status == 412 { throw SpoolError(occupied: path) }
      if try look(path) != nil { throw SpoolError(occupied: path) }
      throw refusal(response, "name", path)
    }
    guard let found = try look(path), found.byteCount == byteCount else {
      throw SpoolError(
        "confirm", url(path), reason: "the server said that it has the file, and has not",
        advice: "check the server's log", cause: .transient, kind: .broken)
    }
    return found
  }

  private mutating func remove(_ path: RemotePath) throws(SpoolError) {
    let response = try request("DELETE", url(path))
    guard response.isSuccess || [404, 410].contains(response.status) else {
      throw refusal(response, "remove", path)
    }
  }
}

extension XMLElement {
  /// Of a `response`, the properties that its resource has.
  fileprivate var foundProperties: XMLElement? {
    children.lazy
      .filter { $0.name == "propstat" && $0["status"]?.text.contains(" 200") == true }
      .compactMap { $0["prop"] }.first
  }
}
