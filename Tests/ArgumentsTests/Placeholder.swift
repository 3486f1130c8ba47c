// ArgumentsTests
