// Threading
