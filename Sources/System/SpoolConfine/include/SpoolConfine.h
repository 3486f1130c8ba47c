// The program offers nothing to other targets. CConfinement.h describes its command line.
