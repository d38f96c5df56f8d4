/// A placeholder replaced by the command line.
