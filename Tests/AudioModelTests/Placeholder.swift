// AudioModelTests
