import Platform

extension S3Transport {
  /// Parts of an upload; the limit of S3.
  private static let partLimit = 10_000

  private func headers(of file: borrowing OutgoingFile) -> [(name: String, value: String)] {
    var headers = [(name: "Content-Type", value: file.contentType)]
    for (name, value) in file.metadata.sorted(by: { $0.key < $1.key }) {
      headers.append(("x-amz-meta-\(name.lowercased())", value))
    }
    if let storageClass = place.storageClass {
      headers.append(("x-amz-storage-class", storageClass))
    }
    return headers
  }

  /// What the server is to store of an object or a part.
  private func checksum(_ digest: Digest) -> [(name: String, value: String)] {
    place.isChecksumTrusted
      ? [("x-amz-sdk-checksum-algorithm", "SHA256"), ("x-amz-checksum-sha256", digest.base64)] : []
  }

  private var condition: [(name: String, value: String)] {
    hasConditions ? [("If-None-Match", "*")] : []
  }

  /// Makes a request that completes an object, which must not replace another.
  private mutating func complete(
    _ path: RemotePath,
    _ ask: (inout S3Transport, [(name: String, value: String)]) throws(SpoolError) -> HTTPResponse
  ) throws(SpoolError) -> HTTPResponse {
    var response = try ask(&self, condition)
    if response.status == 501, hasConditions {
      // The server does not know the condition: that nothing was found must do.
      hasConditions = false
      response = try ask(&self, condition)
    }
    if response.status == 412 { throw SpoolError(occupied: path) }
    return response
  }

  /// Sends a small file at once.
  mutating func put(
    _ file: borrowing OutgoingFile, at path: RemotePath, _ mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) {
    let limit = file.byteCount
    let body = HTTPRequest.Body.file(file.file.descriptor, offset: 0, byteCount: limit)
    let (headers, digest) = (headers(of: file) + checksum(file.digest), file.digest)
    let response = try complete(path) { (transport, condition) throws(SpoolError) in
      try transport.request(
        "PUT", path, headers + condition, body: body, payload: digest
      ) { sent in
        var progress = UploadProgress()
        progress.sentByteCount = min(sent, limit)
        return mayGoOn(progress)
      }
    }
    guard response.isSuccess else { throw refusal(response, "send", path) }
  }

  /// Sends a file in parts, but for those that the server has.
  /// - Returns: the checksum that the server is to have of the object: that of its parts' digests.
  mutating func sendParts(
    of file: borrowing OutgoingFile, to path: RemotePath, _ state: inout UploadState,
    _ note: (UploadState) throws(SpoolError) -> Void, _ mayGoOn: (UploadProgress) -> Bool
  ) throws(SpoolError) -> String {
    var held: [Int: Part] = [:]
    if let upload = state.upload {
      if let parts = try listParts(of: upload, path) { held = parts } else { state.upload = nil }
    }
    let upload: String
    let size: Int
    if let begun = state.upload, let partByteCount = state.partByteCount {
      (upload, size) = (begun, partByteCount)
    } else {
      size = Self.partByteCount(for: file.byteCount)
      upload = try beginUpload(of: file, path)
      (state.upload, state.partByteCount, state.byteCount) = (upload, size, 0)
      try note(state)
    }
    var parts: [SentPart] = []
    // Nothing is read back: so the file itself is looked at.
    var whole = SHA256()
    var piece: [UInt8] = []
    var offset = 0
    while offset < file.byteCount {
      let (number, count) = (parts.count + 1, min(size, file.byteCount - offset))
      let known = held[number].flatMap { $0.byteCount == count ? $0.tag : nil }
      if let known, !place.isChecksumTrusted {
        parts.append(SentPart(tag: known, digest: nil))
      } else {
        if piece.count != count { piece = [UInt8](repeating: 0, count: count) }
        try file.fill(&piece, count, at: offset)
        let digest = SHA256.digest(of: piece)
        if place.isChecksumTrusted { whole.update(piece) }
        let tag: String
        if let known {
          tag = known
        } else {
          tag = try sendPart(number, piece, digest, of: upload, path) { [offset] sent in
            var progress = UploadProgress()
            progress.sentByteCount = offset + min(sent, count)
            return mayGoOn(progress)
          }
        }
        parts.append(SentPart(tag: tag, digest: digest))
      }
      offset += count
      state.byteCount = offset
      try note(state)
    }
    if place.isChecksumTrusted, whole.finalize() != file.digest {
      throw SpoolError(
        "send", file.file.path, reason: "it was changed since it was queued",
        advice: "run its pipeline again, which queues what that gives", cause: .input,
        kind: .changed)
    }
    try finish(upload, parts, path)
    return "\(SHA256.digest(of: parts.flatMap { $0.digest?.bytes ?? [] }).base64)-\(parts.count)"
  }

  /// The size of parts: as small as may be, and no more parts than there may be.
  static func partByteCount(for byteCount: Int) -> Int {
    let least = (byteCount + partLimit - 1) / partLimit
    let step = 1 << 20
    return max(UploadState.step, (least + step - 1) / step * step)
  }

  private struct Part {
    let byteCount: Int
    let tag: String
  }

  private struct SentPart {
    let tag: String
    /// Nil if the server's checksums are not asked for, and it had the part.
    let digest: Digest?
  }

  private mutating func beginUpload(
    of file: borrowing OutgoingFile, _ path: RemotePath
  ) throws(SpoolError) -> String {
    let algorithm =
      place.isChecksumTrusted ? [(name: "x-amz-checksum-algorithm", value: "SHA256")] : []
    let response = try request(
      "POST", path, query: [("uploads", "")], headers(of: file) + algorithm, body: .bytes([]))
    guard response.isSuccess else { throw refusal(response, "send", path) }
    guard let upload = XMLElement(response.body)?["UploadId"]?.text, !upload.isEmpty,
      upload.utf8.count <= 1024
    else { throw oddAnswer(path) }
    return upload
  }

  private mutating func sendPart(
    _ number: Int, _ bytes: [UInt8], _ digest: Digest, of upload: String, _ path: RemotePath,
    mayGoOn: (Int) -> Bool
  ) throws(SpoolError) -> String {
    let response = try request(
      "PUT", path, query: [("partNumber", String(number)), ("uploadId", upload)],
      checksum(digest), body: .bytes(bytes), payload: digest, mayGoOn: mayGoOn)
    guard response.isSuccess else { throw refusal(response, "send", path) }
    guard let tag = response["etag"] else { throw oddAnswer(path) }
    return tag
  }

  /// The parts that the server has of an upload; nil if it does not know the upload.
  private mutating func listParts(
    of upload: String, _ path: RemotePath
  ) throws(SpoolError) -> [Int: Part]? {
    var parts: [Int: Part] = [:]
    var marker = 0
    // A page has up to a thousand parts.
    for _ in 0..<Self.partLimit {
      var query = [("uploadId", upload)]
      if marker > 0 { query.append(("part-number-marker", String(marker))) }
      let response = try request("GET", path, query: query, limit: 4 << 20)
      if response.status == 404 { return nil }
      guard response.isSuccess else { throw refusal(response, "continue", path) }
      guard let answer = XMLElement(response.body), answer["UploadId"]?.text == upload else {
        throw oddAnswer(path)
      }
      for part in answer.children where part.name == "Part" {
        guard let number = part["PartNumber"].flatMap({ Int($0.text) }),
          let size = part["Size"].flatMap({ Int($0.text) }), let tag = part["ETag"]?.text
        else { throw oddAnswer(path) }
        parts[number] = Part(byteCount: size, tag: tag)
      }
      guard answer["IsTruncated"]?.text == "true" else { return parts }
      guard let next = answer["NextPartNumberMarker"].flatMap({ Int($0.text) }), next > marker
      else {
        throw oddAnswer(path)
      }
      marker = next
    }
    return parts
  }

  private mutating func finish(
    _ upload: String, _ sent: [SentPart], _ path: RemotePath
  ) throws(SpoolError) {
    let parts = sent.enumerated().map { index, part in
      let tag = part.tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      let checksum =
        if place.isChecksumTrusted, let digest = part.digest {
          "<ChecksumSHA256>\(digest.base64)</ChecksumSHA256>"
        } else {
          ""
        }
      return "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag)</ETag>\(checksum)</Part>"
    }
    let text =
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      + parts.joined() + "</CompleteMultipartUpload>"
    let bytes = Array(text.utf8)
    let response = try complete(path) { (transport, condition) throws(SpoolError) in
      try transport.request(
        "POST", path, query: [("uploadId", upload)],
        [("Content-Type", "application/xml")] + condition, body: .bytes(bytes),
        payload: SHA256.digest(of: bytes))
    }
    // A failure may come with the status of a success.
    guard response.isSuccess, XMLElement(response.body)?["ETag"] != nil
    else { throw refusal(response, "complete", path) }
  }

  private func oddAnswer(_ path: RemotePath) -> SpoolError {
    SpoolError(
      "send", url(path), reason: "the server does not answer as S3 does",
      advice: "check the endpoint", cause: .transient)
  }
}
