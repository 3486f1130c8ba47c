// StagesTests
