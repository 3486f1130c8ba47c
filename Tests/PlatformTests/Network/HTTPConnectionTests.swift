import Foundation
@testable import Platform
import TestSupport
import Testing

@Suite("A question to a web server ends in an answer or a reason, in time")
struct HTTPConnectionTests {
  private let server: TimeAuthority

  init() throws { server = try TimeAuthority() }

  private func post(_ way: TimeAuthority.Way) -> HTTPRequest {
    HTTPRequest(
      "POST", server.url(way), headers: [("Content-Type", "application/timestamp-query")],
      body: .bytes(Array("question".utf8)))
  }

  private func send(
    _ request: HTTPRequest, patience: Double = 10, mayGoOn: (Int) -> Bool = { _ in true }
  ) throws -> HTTPResponse {
    var settings = HTTPConnection.Settings()
    settings.patience = patience
    var connection = try HTTPConnection(settings)
    return try connection.send(request, mayGoOn: mayGoOn)
  }

  @Test("what is answered comes whole, with its status and its header")
  func answer() throws {
    let answer = try send(post(.garbage))
    #expect(answer.status == 200)
    #expect(answer["CONTENT-type"] == "application/timestamp-reply")
    #expect(String(decoding: answer.body, as: UTF8.self) == "<html>it works</html>")
    #expect(try send(post(.busy)).status == 503)
    let other = HTTPRequest(
      "POST", server.url(.garbage), headers: [("Content-Type", "text/plain")], body: .bytes([]))
    #expect(try send(other).status == 415, "the kind of the body is told")
  }

  @Test("one connection serves many requests, and a body can be taken as it comes")
  func many() throws {
    var connection = try HTTPConnection()
    var count = 0
    for _ in 0..<3 {
      let answer = try connection.send(post(.huge)) { _ in
        true
      } to: { (bytes) throws(SpoolError) in
        count += bytes.byteCount
      }
      #expect(answer.body == [])
    }
    #expect(count == 150_000_000)
    let error = #expect(throws: SpoolError.self) {
      _ = try connection.send(post(.huge)) { _ in
        true
      } to: { (_) throws(SpoolError) in
        throw SpoolError("enough")
      }
    }
    #expect(error?.message == "enough")
    let refusal = try connection.send(post(.busy)) { _ in
      true
    } to: { (_) throws(SpoolError) in
      Issue.record("only the body of a success is taken")
    }
    #expect(refusal.body == Array("come again".utf8))
  }

  @Test("a redirect is not followed")
  func redirect() throws {
    let answer = try send(post(.redirect))
    #expect(answer.status == 302)
    #expect(answer["location"]?.hasPrefix("file://") == true)
    #expect(answer.body == [])
  }

  @Test("an answer that is too long is left off, and one that just fits is not")
  func limit() throws {
    var post = post(.huge)
    let error = #expect(throws: SpoolError.self) { try send(post) }
    #expect(error?.reason == "the answer has more than 262144 bytes")
    post.limit = 50_000_000
    #expect(try send(post).body.count == 50_000_000)
  }

  @Test("nobody is waited for longer than was said, and whoever is asked to stop stops")
  func patience() throws {
    let start = ContinuousClock.now
    #expect(throws: SpoolError.self) { try send(post(.silent), patience: 0.3) }
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(throws: SpoolError.cancelled) { try send(post(.silent), patience: 50) { _ in false } }
    var settings = HTTPConnection.Settings()
    settings.stallPatience = 1
    var connection = try HTTPConnection(settings)
    let error = #expect(throws: SpoolError.self) { try connection.send(post(.silent)) }
    #expect(error?.cause == .transient)
    #expect(ContinuousClock.now - start < .seconds(50))
  }

  @Test("what is no web server says why", arguments: ["file:///etc/hostname", "ftp://127.0.0.1/x"])
  func scheme(url: String) {
    let error = #expect(throws: SpoolError.self) {
      try send(HTTPRequest("POST", url, body: .bytes([1])))
    }
    #expect(error?.reason?.contains("not supported") == true, "\(error?.reason ?? "")")
  }

  @Test("where nobody listens any more, the reason says so")
  func down() throws {
    let post = post(.good)
    server.end()
    let error = #expect(throws: SpoolError.self) { try send(post) }
    #expect(error?.reason?.contains("127.0.0.1") == true, "\(error?.reason ?? "")")
  }
}
