import TestSupport

extension LocalServer {
  /// A server that breaks its promises: each way has an address of its own.
  static func hostile(_ folder: ScratchFolder) throws -> LocalServer {
    let port = try freePort()
    try folder.write(hostileProgram, to: "hostile.py")
    return try LocalServer(
      path(of: "python3") ?? "", in: folder, port: port, ["hostile.py", "\(port)"])
  }

  private static let hostileProgram = #"""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from sys import argv
    from threading import Lock

    port = int(argv[1])
    lock, files = Lock(), {}
    folder = (b'<?xml version="1.0"?><multistatus xmlns="DAV:"><response><href>/</href><propstat>'
              b'<prop><resourcetype><collection/></resourcetype></prop>'
              b'<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>')
    bomb = (b'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaaaaaaaa">' +
            b''.join(b'<!ENTITY %c "&%c;&%c;&%c;&%c;">' % (c + 1, c, c, c, c)
                     for c in range(97, 121)) +
            b']><multistatus xmlns="DAV:"><response><href>&z;</href></response></multistatus>')

    class Server(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def parse_request(self):
            if not super().parse_request():
                return False
            with lock, open("requests", "a") as log:
                log.write(f"{self.command} {self.path} {self.headers.get('Authorization')}\n")
            self.way = self.path.split("/")[1]
            return True

        def handle_expect_100(self):
            return True if "/large/" in self.path else super().handle_expect_100()

        def answer(self, status, body=b"", **headers):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def body(self):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def entry(self, href, kind=b""):
            return (b'<d:response><d:href>' + href + b'</d:href><d:propstat><d:prop>'
                    b'<d:resourcetype>' + kind + b'</d:resourcetype><d:getcontentlength>5'
                    b'</d:getcontentlength></d:prop><d:status>HTTP/1.1 200 OK</d:status>'
                    b'</d:propstat></d:response>')

        def list(self):
            begin, end = b'<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">', b'</d:multistatus>'
            here = self.path.encode().rstrip(b"/") + b"/"
            if self.way == "names":
                hrefs = [b"good.wav", b"../up.wav", b"%2e%2e", b"a/b.wav", b"/etc/passwd",
                         b"a%2Fb.wav", b"nul%00.wav", b"x" * 1000, b"bad%ff\x1b[31m.wav"]
                hrefs = [h if h[:1] == b"/" else here + h for h in hrefs]
                return self.answer(207, begin + b"".join(map(self.entry, hrefs)) + end)
            if self.way == "long":
                return self.answer(207, begin + self.entry(b"x" * 1000000) + end)
            if self.way == "half":
                return self.answer(207, begin + self.entry(here + b"a"))
            if self.way == "loop":
                folder = self.entry(here + b"loop", b"<d:collection/>")
                return self.answer(207, begin + folder + self.entry(here + b"a.wav") + end)
            if self.way == "endless":
                self.send_response(207)
                self.end_headers()
                try:
                    self.wfile.write(begin)
                    while True:
                        self.wfile.write(self.entry(here + b"a.wav"))
                except OSError:
                    self.close_connection = True
                return
            self.answer(207, folder)

        def do_PROPFIND(self):
            self.body()
            if self.headers.get("Depth") == "1" and self.way not in ("bomb", "deep"):
                return self.list()
            if self.way == "bomb":
                return self.answer(207, bomb)
            if self.way == "deep":
                return self.answer(207, b"<a>" * 50000)
            if self.way == "denied":
                return self.answer(401, b"s3cret", WWW_Authenticate='Basic realm="x"')
            if self.way == "away":
                return self.answer(302, b"", Location=f"http://localhost:{port}/good/?t=s3cret")
            if self.way == "headers":
                self.send_response(207)
                self.flush_headers()
                try:
                    while True:
                        self.wfile.write(b"X-A: " + b"a" * 5000 + b"\r\n")
                except OSError:
                    return
            self.answer(207, folder)

        def do_POST(self):
            self.body()
            if "uploads" in self.path:
                return self.answer(200, b"<R><UploadId>u&amp;1</UploadId></R>")
            self.answer(200, b"<Error><Code>InternalError</Code><Message>later</Message></Error>")

        def do_HEAD(self):
            if self.path == "/region":
                return self.answer(301, x_amz_bucket_region="eu-west-7")
            if self.path == "/" + self.way:
                return self.answer(200)
            if self.way == "denied":
                return self.answer(401)
            if self.way == "away":
                return self.answer(302, b"", Location=f"http://localhost:{port}/good/")
            if self.path not in files:
                return self.answer(404)
            self.answer(200, files[self.path])

        def do_GET(self):
            if self.way == "oddlist":
                return self.answer(200, bomb)
            if self.path not in files:
                return self.answer(404)
            body = files[self.path]
            if self.way == "endless":
                self.send_response(200)
                self.end_headers()
                try:
                    while True:
                        self.wfile.write(body)
                except OSError:
                    self.close_connection = True
                return
            if self.way == "cut":
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[:-1])
                self.close_connection = True
                return
            self.answer(200, body)

        def do_PUT(self):
            if self.way == "large":
                self.close_connection = True
                return self.answer(413, b"too large")
            body = self.body()
            if self.way == "full":
                return self.answer(507)
            if self.way == "busy":
                return self.answer(503, b"", Retry_After="7")
            if self.way == "slowdown":
                return self.answer(503, b"<Error><Code>SlowDown</Code></Error>", Retry_After="3")
            if self.way == "expired":
                return self.answer(400, b"<Error><Code>ExpiredToken</Code></Error>")
            if "partNumber" in self.path:
                return self.answer(200, ETag='"<&1"')
            if self.way == "name":
                return self.answer(400, b'<d:error xmlns:d="DAV:" xmlns:s="x"><s:message>bad\x1b[31m'
                                        b' name</s:message></d:error>')
            if self.way == "other":
                body = body[:1] + bytes([body[1] ^ 1]) + body[2:]
            if self.way == "short":
                body = body[:-1]
            if self.way != "forget":
                files[self.path] = body
            self.answer(201)

        def do_MKCOL(self):
            self.answer(201)

        def do_MOVE(self):
            target = "/" + self.headers["Destination"].split("/", 3)[3]
            if self.way != "stay":
                files[target] = files.pop(self.path)
            self.answer(201)

        def do_DELETE(self):
            self.answer(204 if files.pop(self.path, None) is not None else 404)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Server)
    server.daemon_threads = True
    server.serve_forever()
    """#
}
