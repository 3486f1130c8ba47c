// ThreadingTests
