public import ArgumentParser
public import Tally

extension Series.Unit: ExpressibleByArgument {}
