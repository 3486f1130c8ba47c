import Foundation
@testable import Platform
import TestSupport
import Testing

@Suite("A question to a web server ends in an answer or a reason, in time")
struct HTTPPostTests {
  private let server: TimeAuthority

  init() throws { server = try TimeAuthority() }

  private func post(_ way: TimeAuthority.Way) -> HTTPPost {
    HTTPPost(Array("question".utf8), of: "application/timestamp-query", to: server.url(way))
  }

  @Test("what is answered comes whole, with its status")
  func answer() throws {
    let answer = try post(.garbage).send()
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self) == "<html>it works</html>")
    #expect(try post(.busy).send().status == 503)
    let other = HTTPPost([], of: "text/plain", to: server.url(.garbage))
    #expect(try other.send().status == 415, "the kind of the body is told")
  }

  @Test("a redirect is not followed")
  func redirect() throws {
    let answer = try post(.redirect).send()
    #expect(answer.status == 302)
    #expect(answer.body == [])
  }

  @Test("an answer that is too long is left off, and one that just fits is not")
  func limit() throws {
    var post = post(.huge)
    let error = #expect(throws: SpoolError.self) { try post.send() }
    #expect(error?.reason == "the answer has more than 262144 bytes")
    post.limit = 50_000_000
    #expect(try post.send().body.count == 50_000_000)
  }

  @Test("nobody is waited for longer than was said, and whoever is asked to stop stops")
  func patience() throws {
    var post = post(.silent)
    post.patience = 0.3
    let start = ContinuousClock.now
    #expect(throws: SpoolError.self) { try post.send() }
    #expect(ContinuousClock.now - start < .seconds(20))
    post.patience = 50
    #expect(throws: SpoolError.self) { try post.send { false } }
    #expect(ContinuousClock.now - start < .seconds(40))
  }

  @Test("what is no web server says why", arguments: ["file:///etc/hostname", "ftp://127.0.0.1/x"])
  func scheme(url: String) {
    let error = #expect(throws: SpoolError.self) {
      try HTTPPost([1], of: "text/plain", to: url).send()
    }
    #expect(error?.reason?.contains("not supported") == true, "\(error?.reason ?? "")")
  }

  @Test("where nobody listens any more, the reason says so")
  func down() throws {
    let post = post(.good)
    server.end()
    let error = #expect(throws: SpoolError.self) { try post.send() }
    #expect(error?.reason?.contains("127.0.0.1") == true, "\(error?.reason ?? "")")
  }
}
